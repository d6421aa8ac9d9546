/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/column_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "base/strings.h"

/* More than these are forgotten, all at once. */
#define MAX_THREADS 65536
#define MAX_BYTES (16u << 20)

/* A thread as it was seen, as far as its texts depend on it. */
struct entry {
	uint64_t switches;
	uint64_t kernel_id, user_id;
	uint64_t cgroup;
	enum top_wire_state state;
	bool idle;
	bool whole; /* nothing is to be looked up again */
	uint32_t lock_owner;
	char comm[WIRE_COMM_LEN + 1];
	const char *texts[TOP_COLUMNS]; /* of strings */
};

struct column_cache {
	struct idmap entries; /* by thread -> struct entry * */
	struct strings strings;
	const char *texts[TOP_COLUMNS]; /* of a sample that is not kept */
	char room[TOP_COLUMNS][TOP_COLUMN_LEN];
};

struct column_cache *column_cache__new(void)
{
	return calloc(1, sizeof(struct column_cache));
}

static void clear(struct column_cache *cache)
{
	for (size_t i = 0; i < cache->entries.capacity; i++) {
		if (cache->entries.slots[i].id != IDMAP_NONE)
			free((void *)(uintptr_t)cache->entries.slots[i].value);
	}
	idmap__free(&cache->entries);
	strings__free(&cache->strings);
}

void column_cache__delete(struct column_cache *cache)
{
	if (!cache)
		return;
	clear(cache);
	free(cache);
}

/* Texts of a thread that runs, of sockets, of rings and of requests change without a switch. */
static bool may_be_kept(const struct thread_sample *sample)
{
	return sample->state != TOP_WIRE_RUN && sample->state != TOP_WIRE_RUNQ &&
	       !sample->has_socket && !sample->has_uring && !sample->aio &&
	       !sample->call_unknown && !sample->track.requests;
}

/* Of a text that is longer, a column has the beginning. */
static bool is_text(const char *kept, const char *text)
{
	return !strncmp(kept, text ? text : "", TOP_TEXT_LEN - 1);
}

static bool is_same(const struct entry *entry, const struct thread_sample *sample)
{
	return entry->whole && entry->switches == sample->switches &&
	       entry->state == sample->state && entry->kernel_id == sample->kernel_id &&
	       entry->user_id == sample->user_id &&
	       entry->cgroup == sample->cgroup && entry->idle == sample->idle &&
	       entry->lock_owner == sample->lock_owner &&
	       !strcmp(entry->texts[TOP_COLUMN_SYSC_TIME], top_column__sysc_time(sample)) &&
	       !strcmp(entry->comm, sample->comm) &&
	       is_text(entry->texts[TOP_COLUMN_CMDLINE], sample->cmdline);
}

static void make_texts(struct column_cache *cache, const struct thread_sample *sample,
		       struct top_names *names)
{
	for (int i = 0; i < TOP_COLUMNS; i++)
		cache->texts[i] = top_column__put((enum top_column)i, sample, names,
						  cache->room[i]);
}

static int fill(struct column_cache *cache, struct entry *entry, const struct thread_sample *sample,
		struct top_names *names)
{
	make_texts(cache, sample, names);
	for (int i = 0; i < TOP_COLUMNS; i++) {
		entry->texts[i] = strings__get(&cache->strings, cache->texts[i]);
		if (!entry->texts[i])
			return -1;
	}
	entry->switches = sample->switches;
	entry->kernel_id = sample->kernel_id;
	entry->user_id = sample->user_id;
	entry->cgroup = sample->cgroup;
	/* Names of new cgroups are looked up once a second. */
	entry->whole = !sample->cgroup || *entry->texts[TOP_COLUMN_CGROUP];
	entry->state = sample->state;
	entry->idle = sample->idle;
	entry->lock_owner = sample->lock_owner;
	memcpy(entry->comm, sample->comm, sizeof(entry->comm));
	return 0;
}

/* The entry of a thread, made if need be. NULL: no memory. */
static struct entry *get_entry(struct column_cache *cache, const struct thread_sample *sample)
{
	uint64_t key = idmap__mix(sample->tid, sample->start), *value;

	value = idmap__get(&cache->entries, key == IDMAP_NONE ? 0 : key);
	if (value && !*value)
		*value = (uint64_t)(uintptr_t)calloc(1, sizeof(struct entry));
	return value ? (struct entry *)(uintptr_t)*value : NULL;
}

const char *const *column_cache__texts(struct column_cache *cache,
				       const struct thread_sample *sample,
				       struct top_names *names)
{
	struct entry *entry;

	if (!may_be_kept(sample)) {
		make_texts(cache, sample, names);
		return cache->texts;
	}
	if (cache->entries.used >= MAX_THREADS || cache->strings.bytes >= MAX_BYTES)
		clear(cache);
	entry = get_entry(cache, sample);
	if (!entry)
		return NULL;
	if (entry->texts[0] && is_same(entry, sample))
		return entry->texts;
	entry->texts[0] = NULL;
	return fill(cache, entry, sample, names) ? NULL : entry->texts;
}
