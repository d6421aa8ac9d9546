/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/wait_place.h"

#include <stdint.h>
#include <string.h>

#include "capture/idle.h"

#define HASHES 4096

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

struct wait_function {
	uint64_t start, end;
	char name[IDLE_NAME_LEN]; /* without a compiler's suffix behind a dot */
	char call[IDLE_NAME_LEN]; /* that it is the entry of; "": none in a rule */
	size_t entry; /* offset of the call's name in name; 0: it is no entry */
	bool leaf, wrapper, lock, fault, for_any;
};

/* Prefixes of the entries of system calls, of all architectures. */
static const char *const entries[] = {
	"__x64_sys_", "__ia32_compat_sys_", "__ia32_sys_", "__arm64_sys_", "__do_sys_",
	"__se_sys_",  "__sys_",
};

/* Each chain of a page fault has one of these. */
static const char *const faults[] = {
	"asm_exc_page_fault", "exc_page_fault", "handle_mm_fault", "do_user_addr_fault",
	"do_page_fault",      "do_mem_abort",
};

/* Functions between a wait's own function and the scheduler. */
static const char *const wrappers[] = {
	"schedule_timeout", "schedule_timeout_interruptible", "schedule_hrtimeout",
	"schedule_hrtimeout_range", "schedule_hrtimeout_range_clock", "io_schedule",
	"io_schedule_timeout", "poll_schedule_timeout", "wait_woken",
};

/* Functions that wait for any of several descriptors. */
static const char *const for_any[] = {
	"ep_poll", "do_epoll_wait", "do_poll", "do_sys_poll", "do_select", "core_sys_select",
};

static bool is_one_of(const char *name, const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (*name == *names[i] && !strcmp(name, names[i]))
			return true;
	}
	return false;
}

/* The name of the call that a function of this name is the entry of; NULL: none. */
static const char *call_of(const char *name)
{
	if (name[0] != '_' || name[1] != '_')
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		if (name[2] == entries[i][2] && !strncmp(name, entries[i], strlen(entries[i])))
			return name + strlen(entries[i]);
	}
	return NULL;
}

/* Hash of a name without a compiler's suffix behind a dot; *len: its length. */
static uint32_t hash_of(const char *name, size_t *len)
{
	uint32_t hash = 2166136261U;

	for (*len = 0; name[*len] && name[*len] != '.'; ++*len)
		hash = (hash ^ (unsigned char)name[*len]) * 16777619;
	return hash % HASHES;
}

/* Context of the callback of kallsyms__each(). */
struct search {
	struct wait_places *places;
	const struct idle_table *table;
	/* Hashes of the names to compare with: a kernel has tens of thousands of others. */
	bool wanted[HASHES];
};

static void want(struct search *search, const char *name)
{
	size_t len;

	search->wanted[hash_of(name, &len)] = true;
}

static void init_search(struct search *search)
{
	const struct idle_rule *rules = (const void *)search->table->rules.data;

	for (size_t i = 0; i < search->table->rules.len / sizeof(*rules); i++)
		want(search, rules[i].leaf);
	for (size_t i = 0; i < ARRAY_SIZE(wrappers); i++)
		want(search, wrappers[i]);
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		want(search, faults[i]);
	for (size_t i = 0; i < ARRAY_SIZE(for_any); i++)
		want(search, for_any[i]);
}

/* Classifies a function. wanted: its hash is a listed name's. False: it is not needed. */
static bool classify(struct wait_function *function, const struct idle_table *table, bool wanted)
{
	const char *name = function->name, *call = call_of(name);

	function->entry = call ? (size_t)(call - name) : 0;
	if (call && idle_table__names_call(table, call))
		memcpy(function->call, call, strlen(call) + 1);
	if (wanted) {
		function->leaf = idle_table__names_leaf(table, name);
		function->wrapper = is_one_of(name, wrappers, ARRAY_SIZE(wrappers));
		function->fault = is_one_of(name, faults, ARRAY_SIZE(faults));
		function->for_any = is_one_of(name, for_any, ARRAY_SIZE(for_any));
	}
	function->lock = idle__is_lock(name);
	return function->entry || function->leaf || function->wrapper || function->fault ||
	       function->for_any || function->lock;
}

static int add_function(void *ctx, const char *name, uint64_t start, uint64_t end)
{
	const struct search *search = ctx;
	struct wait_function function;
	size_t len;
	bool wanted = search->wanted[hash_of(name, &len)];

	if (len >= sizeof(function.name))
		return 0;
	/* Skips most functions without a copy. */
	if (!wanted && name[0] != '_' && !idle__is_lock(name))
		return 0;
	function = (struct wait_function){ .start = start, .end = end };
	memcpy(function.name, name, len);
	if (!classify(&function, search->table, wanted))
		return 0;
	return buffer__append(&search->places->functions, &function, sizeof(function));
}

int wait_places__init(struct wait_places *places, const struct kallsyms *kallsyms,
		      const struct idle_table *table)
{
	struct search search = { .places = places, .table = table };

	places->functions.len = 0;
	memset(places->known, 0, sizeof(places->known));
	init_search(&search);
	return kallsyms ? kallsyms__each(kallsyms, add_function, &search) : 0;
}

void wait_places__free(struct wait_places *places)
{
	buffer__free(&places->functions);
}

static const struct wait_function *find(const struct wait_places *places, uint64_t ip)
{
	const struct wait_function *functions = (const void *)places->functions.data;
	size_t low = 0, high = places->functions.len / sizeof(*functions);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ip >= functions[middle].end)
			low = middle + 1;
		else if (ip < functions[middle].start)
			high = middle;
		else
			return &functions[middle];
	}
	return NULL;
}

/* Chains have few functions, mostly the same ones: a cache finds them. */
static const struct wait_function *find_cached(struct wait_places *places, uint64_t ip)
{
	struct wait_places_known *known =
		&places->known[(ip * 0x9e3779b97f4a7c15ULL) >> (64 - WAIT_PLACES_KNOWN_BITS)];

	if (known->ip != ip)
		*known = (struct wait_places_known){ ip, find(places, ip) };
	return known->function;
}

struct wait_place wait_places__find(struct wait_places *places, const struct frames *kernel)
{
	struct wait_place place = { 0 };
	bool at_leaf = true;

	for (uint32_t i = 0; i < kernel->nr; i++) {
		const struct wait_function *function = find_cached(places, kernel->ips[i]);

		if (at_leaf && !(function && function->wrapper)) {
			at_leaf = false;
			if (function && (function->leaf || function->lock))
				place.leaf = function->name;
		}
		if (!function)
			continue;
		place.fault |= function->fault;
		place.for_any |= function->for_any;
		if (*function->call)
			place.call = function->call;
		if (function->entry)
			place.entry = function->name + function->entry;
	}
	return place;
}
