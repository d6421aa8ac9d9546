/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbol/symbol_jobs.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bus_guard.h"
#include "base/confine.h"
#include "base/jobs.h"
#include "base/log.h"
#include "base/minmax.h"
#include "symbol/demangle.h"
#include "symbol/elf_symbols.h"
#include "symbol/inlines.h"
#include "symbol/perf_map.h"

/* The table of the largest programs, and what libelf unpacks for it. */
#define READ_MAX_BYTES (UINT64_C(1) << 30)

enum {
	TYPE_NAME = 1, /* of the following ranges */
	TYPE_RANGE,
	TYPE_INLINE, /* struct place, name with NUL, file with NUL; empty: not known */
	TYPE_ID,     /* the build-id of the file, at most BUILD_ID_MAX bytes */
};

/* The fixed part of TYPE_INLINE. */
struct place {
	uint64_t index;
	uint64_t line;
};

/* Addresses of a query that are one after the other, and in one function. */
struct range {
	uint64_t first, nr;
	uint64_t start;
};

/* A file that was read, for later queries with its build-id: the same file at another place. */
struct kept {
	const struct elf_build_id *id; /* of its query */
	struct elf_files files;
	struct elf_symbols symbols;
};

#define KEPT_MAX 16

struct run {
	struct symbol_query *queries;
	size_t nr;
	struct kept kept[KEPT_MAX]; /* in the child alone, until it ends */
	size_t nr_kept;
	const struct symbol_jobs_options *options;
	struct strings *strings;
	const char *name; /* that came last */
};

/* A failure, as on a kernel without seccomp, is only logged: files are read anyway. */
static int enter(void *ctx)
{
	int err = confine__process(CONFINE_READ, READ_MAX_BYTES);

	(void)ctx;
	if (err)
		pr_verbose("the process that reads symbols is not confined: %s", strerror(-err));
	return bus_guard__install();
}

static int put_name(struct child_out *out, const char *name, size_t len, bool demangle)
{
	char symbol[SYMBOL_NAME_MAX + 1], *plain = NULL;
	int err;

	if (demangle && len < sizeof(symbol)) {
		memcpy(symbol, name, len);
		symbol[len] = '\0';
		plain = demangle__symbol(symbol);
	}
	if (plain) {
		name = plain;
		len = strlen(plain);
	}
	err = child_out__put(out, TYPE_NAME, name, min_u64(len, SYMBOL_NAME_MAX));
	free(plain);
	return err;
}

static int put_range(struct child_out *out, const struct range *range)
{
	return child_out__put(out, TYPE_RANGE, range, sizeof(*range));
}

/* The function of an address of a query, and where it begins in the query's terms. */
static const struct elf_symbol *find(const struct elf_files *files,
				     const struct elf_symbols *symbols, uint64_t offset,
				     uint64_t *start)
{
	const struct elf_symbol *symbol;
	uint64_t address;

	if (elf_files__address(files, offset, &address))
		return NULL;
	symbol = elf_symbols__find(symbols, address);
	if (symbol)
		*start = offset - (address - symbol->start);
	return symbol;
}

static int put_symbols(const struct symbol_query *query, const struct elf_files *files,
		       const struct elf_symbols *symbols, bool demangle, struct child_out *out)
{
	const struct elf_symbol *last = NULL, *symbol;
	struct range range = { 0 };
	uint64_t start = 0;
	int err = 0;

	for (size_t i = 0; i <= query->nr && !err; i++) {
		symbol = i < query->nr ? find(files, symbols, query->addresses[i], &start) : NULL;
		if (symbol && symbol == last && start == range.start) {
			range.nr++;
			continue;
		}
		if (last)
			err = put_range(out, &range);
		last = symbol;
		range = (struct range){ .first = i, .nr = 1, .start = start };
		if (symbol && !err)
			err = put_name(out, symbol->name, strlen(symbol->name), demangle);
	}
	return err;
}

/* The debug information of all files of a query. */
struct debug {
	struct inlines *all[ELF_FILES_MAX];
	const struct symbol_jobs_options *options;
	struct child_out *out;
	uint64_t index; /* of the address */
	bool found;
};

static int put_inline(void *ctx, const char *symbol, const char *file, int line)
{
	struct debug *debug = ctx;
	const struct place place = { debug->index, line > 0 ? (uint64_t)line : 0 };
	char message[sizeof(place) + 2 * (SYMBOL_NAME_MAX + 1)], *at = message + sizeof(place);
	char *plain = NULL;

	debug->found = true;
	if (!debug->options->inlines && symbol)
		return 0;
	if (symbol && !debug->options->no_demangle)
		plain = demangle__symbol(symbol);
	memcpy(message, &place, sizeof(place));
	at += snprintf(at, SYMBOL_NAME_MAX, "%.1000s", plain ? plain : symbol ? symbol : "") + 1;
	at += snprintf(at, SYMBOL_NAME_MAX, "%.1000s", file && debug->options->lines ? file : "");
	free(plain);
	return child_out__put(debug->out, TYPE_INLINE, message, (size_t)(at + 1 - message));
}

static int put_inlines(const struct symbol_query *query, const struct elf_files *files,
		       struct debug *debug)
{
	uint64_t address;
	int err = 0;

	for (size_t i = 0; i < files->nr; i++)
		debug->all[i] = inlines__new(files->all[i]);
	for (size_t i = 0; i < query->nr && !err; i++) {
		debug->index = i;
		debug->found = false;
		if (elf_files__address(files, query->addresses[i], &address))
			continue;
		for (size_t j = 0; j < files->nr && !err && !debug->found; j++) {
			if (debug->all[j])
				err = inlines__each(debug->all[j], address, put_inline, debug);
		}
	}
	for (size_t i = 0; i < files->nr; i++)
		inlines__delete(debug->all[i]);
	return err;
}

/* Which file it was that the inode, and no build-id, led to. */
static int put_id(const struct symbol_query *query, const struct elf_files *files,
		  struct child_out *out)
{
	const void *id;
	ssize_t len = query->wanted.nr_ids ? 0 : dwelf_elf_gnu_build_id(files->all[0], &id);

	return len > 0 && len <= BUILD_ID_MAX ? child_out__put(out, TYPE_ID, id, (size_t)len) : 0;
}

/* The build-id that a file is wanted by, if it is one. */
static const struct elf_build_id *only_id(const struct symbol_query *query)
{
	return !query->is_memory && query->wanted.nr_ids == 1 ? &query->wanted.ids[0] : NULL;
}

static bool is_same(const struct elf_build_id *a, const struct elf_build_id *b)
{
	return a && b && a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

static struct kept *find_kept(struct run *run, const struct symbol_query *query)
{
	for (size_t i = 0; i < run->nr_kept; i++) {
		if (is_same(run->kept[i].id, only_id(query)))
			return &run->kept[i];
	}
	return NULL;
}

static bool is_wanted_later(const struct run *run, size_t index)
{
	for (size_t i = index + 1; i < run->nr; i++) {
		if (is_same(only_id(&run->queries[i]), only_id(&run->queries[index])))
			return true;
	}
	return false;
}

static int answer(const struct symbol_query *query, const struct symbol_jobs_options *options,
		  const struct elf_files *files, const struct elf_symbols *symbols,
		  struct child_out *out)
{
	struct debug debug = { .options = options, .out = out };
	int err = put_id(query, files, out);

	if (!err)
		err = put_symbols(query, files, symbols, !options->no_demangle, out);
	if (!err && (options->inlines || options->lines))
		err = put_inlines(query, files, &debug);
	return err;
}

/* Reads a file, and keeps it if it is going to be wanted again. */
static int answer_file(struct run *run, size_t index, struct child_out *out)
{
	const struct symbol_query *query = &run->queries[index];
	const struct kept *kept = find_kept(run, query);
	uint64_t faults = bus_guard__faults();
	struct kept file = { .id = only_id(query) };
	int err;

	if (kept)
		return answer(query, run->options, &kept->files, &kept->symbols, out);
	err = elf_files__open(&file.files, &query->wanted, &run->options->world);
	if (err)
		return err;
	for (size_t i = 0; i < file.files.nr && !err; i++)
		err = elf_symbols__add(&file.symbols, file.files.all[i]);
	elf_symbols__sort(&file.symbols);
	if (!err)
		err = answer(query, run->options, &file.files, &file.symbols, out);
	/* A file that was truncated meanwhile is worth nothing. */
	if (!err && bus_guard__faults() == faults && run->nr_kept < KEPT_MAX &&
	    is_wanted_later(run, index)) {
		run->kept[run->nr_kept++] = file;
		return 0;
	}
	elf_symbols__free(&file.symbols);
	elf_files__close(&file.files);
	return err;
}

struct memory_answer {
	const struct symbol_query *query;
	struct child_out *out;
	bool demangle;
};

/* The first address of a query that is not below. */
static size_t first_from(const struct symbol_query *query, uint64_t address)
{
	size_t low = 0, high = query->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (query->addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int put_memory(void *ctx, uint64_t start, uint64_t end, const char *name, size_t len)
{
	const struct memory_answer *answer = ctx;
	struct range range = { .first = first_from(answer->query, start), .start = start };
	int err;

	range.nr = first_from(answer->query, end) - range.first;
	if (!range.nr)
		return 0;
	err = put_name(answer->out, name, len, answer->demangle);
	return err ? err : put_range(answer->out, &range);
}

static int answer_memory(const struct symbol_query *query,
			 const struct symbol_jobs_options *options, struct child_out *out)
{
	struct memory_answer answer = { query, out, !options->no_demangle };
	const struct elf_mapping *mapping = &query->wanted.mappings[0];
	int fd, err;

	if (options->world.elsewhere)
		return -ENOENT;
	fd = perf_map__open(mapping->pid, mapping->alive, query->born);
	if (fd < 0)
		return fd;
	err = perf_map__each(fd, put_memory, &answer);
	close(fd);
	return err;
}

static int run_one(void *ctx, size_t index, struct child_out *out)
{
	struct run *run = ctx;
	const struct symbol_query *query = &run->queries[index];
	uint64_t faults = bus_guard__faults();
	int err;

	if (query->is_memory)
		err = answer_memory(query, run->options, out);
	else
		err = answer_file(run, index, out);
	/* It was truncated meanwhile: what was read are zeros. */
	if (!err && bus_guard__faults() != faults)
		err = -ESTALE;
	/* jobs.h: these two have a meaning of their own. */
	return err == -EAGAIN || err == -ECANCELED ? -EIO : err;
}

/* Names reach terminals, pages and lines of text: what controls those is shown as "?". */
static const char *take_name(struct strings *strings, const char *name, size_t len)
{
	char plain[SYMBOL_NAME_MAX];

	len = min_u64(len, sizeof(plain));
	for (size_t i = 0; i < len; i++)
		plain[i] = (unsigned char)name[i] < 0x20 || name[i] == 0x7f ? '?' : name[i];
	return strings__get_part(strings, plain, len);
}

/* A text with its NUL; NULL in *text if it is empty. 0, -EPROTO or -ENOMEM. */
static int take_text(struct run *run, const char **at, const char *end, const char **text)
{
	size_t len = strnlen(*at, (size_t)(end - *at));

	*text = NULL;
	if (*at + len == end)
		return -EPROTO;
	if (len)
		*text = take_name(run->strings, *at, len);
	if (len && !*text)
		return -ENOMEM;
	*at += len + 1;
	return 0;
}

/* Invalid answers are dropped, as in take_answer(). */
static int take_inline(struct run *run, struct symbol_query *query,
		       const struct child_message *message)
{
	const struct symbol_inline *last = (const void *)(query->inlines.data + query->inlines.len);
	const char *at = (const char *)message->data, *end = at + message->size;
	struct symbol_inline found = { 0 };
	struct place place;
	int err;

	if (message->size < sizeof(place))
		return 0;
	memcpy(&place, at, sizeof(place));
	at += sizeof(place);
	if (place.index >= query->nr || (query->inlines.len && last[-1].index > place.index))
		return 0;
	found.index = place.index;
	found.line = (uint32_t)place.line;
	err = take_text(run, &at, end, &found.name);
	if (!err)
		err = take_text(run, &at, end, &found.file);
	if (err)
		return err == -ENOMEM ? err : 0;
	return buffer__append(&query->inlines, &found, sizeof(found));
}

static void take_id(struct symbol_query *query, const struct child_message *message)
{
	if (message->size > sizeof(query->found_id.bytes))
		return;
	memcpy(query->found_id.bytes, message->data, message->size);
	query->found_id.len = message->size;
}

/* In the parent; what makes no sense is the fault of the file, and is left out. */
static int take_answer(void *ctx, size_t index, const struct child_message *message)
{
	struct run *run = ctx;
	struct symbol_query *query = &run->queries[index];
	struct range range;

	if (message->type == TYPE_NAME) {
		run->name = take_name(run->strings, message->data, message->size);
		return run->name ? 0 : -ENOMEM;
	}
	if (message->type == TYPE_INLINE)
		return take_inline(run, query, message);
	if (message->type == TYPE_ID)
		take_id(query, message);
	if (message->type != TYPE_RANGE || message->size != sizeof(range) || !run->name)
		return 0;
	memcpy(&range, message->data, sizeof(range));
	if (range.first > query->nr || range.nr > query->nr - range.first)
		return 0;
	for (uint64_t i = range.first; i < range.first + range.nr; i++)
		query->answers[i] = (struct symbol_answer){ run->name, range.start };
	return 0;
}

/* A file that turned out to be worth nothing has given no names. */
static void finish(void *ctx, size_t index, int status)
{
	struct run *run = ctx;
	struct symbol_query *query = &run->queries[index];

	query->err = status;
	run->name = NULL;
	if (status)
		query->inlines.len = 0;
	if (status)
		memset(query->answers, 0, query->nr * sizeof(*query->answers));
}

int symbol_jobs__run(struct symbol_query *queries, size_t nr,
		     const struct symbol_jobs_options *options, struct strings *strings,
		     int deadline_ms)
{
	struct run run = {
		.queries = queries, .nr = nr, .options = options, .strings = strings
	};
	const struct jobs jobs = {
		.nr = nr,
		.ctx = &run,
		.enter = enter,
		.run = run_one,
		.answer = take_answer,
		.done = finish,
	};

	return jobs__run(&jobs, deadline_ms);
}
