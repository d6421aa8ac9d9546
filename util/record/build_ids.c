/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/build_ids.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/log.h"
#include "base/minmax.h"
#include "machine/machine.h"
#include "output/perfdata/writer.h"
#include "symbol/dso_table.h"
#include "symbol/mount_ns.h"
#include "symbol/build_id.h"
#include "symbol/cache.h"

/* Files to query, and the destination of the answers. */
struct build_ids {
	struct writer *writer;
	struct cache *cache; /* NULL: files are not copied */
	struct dso_table
		*dso_table; /* learn the answers, which are not written yet; NULL: they are */
	struct build_id_query *queries;
	struct next_try {
		struct known_dso *dso;
		uint64_t view; /* of the process in the query */
		pid_t root;    /* its ancestor that may live longer */
		bool first;    /* asked first: the time may be over later */
	} *next; /* of each query */
	size_t nr;
	size_t capacity;
	size_t timed_out;
	size_t denied;
	size_t not_asked;  /* the time was over */
	size_t no_process; /* no process could be made for them */
};

/* The kernel's name for a module: "[ext4]" and "/lib/…/ext4.ko.xz" are both "ext4". */
static void module_name(const char *path, char *name, size_t size)
{
	const char *slash = strrchr(path, '/');
	size_t len, n = 0;

	path = slash ? slash + 1 : path;
	path += *path == '[';
	len = strcspn(path, "].");
	for (; n < len && n + 1 < size; n++)
		name[n] = path[n];
	name[n] = '\0';
	/* A file may be called a-b.ko where the module is a_b. */
	for (size_t i = 0; i < n; i++) {
		if (name[i] == '-')
			name[i] = '_';
	}
}

static int keep(const struct build_ids *ids, enum cache_kind kind, pid_t pid, const char *path,
		const unsigned char *id, int len)
{
	bool kernel = kind == CACHE_KERNEL || kind == CACHE_MODULE;
	int err = writer__build_id(ids->writer, kernel, path, id, (size_t)len);

	return err || !ids->cache ? err : cache__want(ids->cache, kind, pid, path, id, (size_t)len);
}

static int write_kernel_hit(const struct build_ids *ids, const char *path)
{
	static const char kernel[] = "[kernel.kallsyms]";
	unsigned char id[BUILD_ID_MAX];
	char name[256];
	int len;

	/* The map is called "[kernel.kallsyms]_text", the file that perf looks up is not. */
	if (!strncmp(path, kernel, sizeof(kernel) - 1)) {
		path = kernel;
		len = build_id__of_kernel(id);
	} else {
		module_name(path, name, sizeof(name));
		len = build_id__of_module(name, id);
	}
	if (len <= 0) {
		pr_verbose("no build-id of %s: %s", path, strerror(-len));
		return 0;
	}
	return keep(ids, path == kernel ? CACHE_KERNEL : CACHE_MODULE, 0, path, id, len);
}

static int write_vdso(const struct build_ids *ids, const struct hit *hit)
{
	unsigned char id[BUILD_ID_MAX];
	int len = build_id__of_vdso(id);

	if (len <= 0) {
		pr_verbose("no build-id of the vDSO: %s", strerror(-len));
		return 0;
	}
	return keep(ids, CACHE_VDSO, hit->pid, hit->path, id, len);
}

static int grow(struct build_ids *ids)
{
	size_t capacity = ids->capacity ? 2 * ids->capacity : 64;
	struct build_id_query *queries;
	struct next_try *next;

	queries = reallocarray(ids->queries, capacity, sizeof(*queries));
	if (!queries)
		return -ENOMEM;
	ids->queries = queries;
	next = reallocarray(ids->next, capacity, sizeof(*next));
	if (!next)
		return -ENOMEM;
	ids->next = next;
	ids->capacity = capacity;
	return 0;
}

/*
 * Redirects the query for a file of a process that has ended: below the root of an ancestor with
 * the same view, if that still has it; below our own if the view was ours or is not known. False:
 * no more attempts.
 */
static bool try_elsewhere(const struct next_try *next, struct build_id_query *query)
{
	bool foreign = next->view != MACHINE_VIEW_OURS && next->view != MACHINE_VIEW_UNKNOWN;
	pid_t ended = query->pid;
	uint64_t view;

	if (query->elsewhere)
		return false;
	query->elsewhere = true;
	query->same_view = next->view != MACHINE_VIEW_UNKNOWN;
	query->pid = foreign ? next->root : 0;
	return !foreign ||
	       (query->pid != ended && !mount_ns__of(query->pid, &view) && view == next->view);
}

static int add_query(struct build_ids *ids, const struct hit *hit)
{
	struct build_id_query query = {
		.pid = hit->pid,
		.path = hit->path,
		.file = hit->file,
		.alive = hit->alive,
		.len = -ENOENT,
	};
	const struct next_try next = {
		.dso = hit->dso, .view = hit->view, .root = hit->root, .first = hit->first
	};

	if (hit->gone && !try_elsewhere(&next, &query))
		return 0;
	if (ids->nr == ids->capacity && grow(ids))
		return -ENOMEM;
	ids->next[ids->nr] = next;
	ids->queries[ids->nr++] = query;
	return 0;
}

static int collect(void *ctx, const struct hit *hit)
{
	struct build_ids *ids = ctx;

	if (hit->kernel)
		return write_kernel_hit(ids, hit->path);
	if (*hit->path == '[')
		return write_vdso(ids, hit);
	if (hit->id_len)
		return keep(ids, CACHE_FILE, hit->pid, hit->path, hit->id, hit->id_len);
	return add_query(ids, hit);
}

/* Moves programs and the C library to the front: the time may be over later. */
static void put_first(struct build_ids *ids)
{
	size_t nr = 0;

	for (size_t i = 0; i < ids->nr; i++) {
		const struct build_id_query query = ids->queries[i];
		const struct next_try next = ids->next[i];

		if (!next.first)
			continue;
		ids->queries[i] = ids->queries[nr];
		ids->next[i] = ids->next[nr];
		ids->queries[nr] = query;
		ids->next[nr++] = next;
	}
}

static int collect_early(void *ctx, const struct hit *hit)
{
	/* The vDSO is no file. */
	return *hit->path == '/' ? add_query(ctx, hit) : 0;
}

static int take_answer(struct build_ids *ids, const struct build_id_query *query,
		       const struct next_try *next)
{
	if (!ids->dso_table)
		return keep(ids, CACHE_FILE, query->pid, query->path, query->id, query->len);
	known_dso__learn(next->dso, query->id, query->len);
	return 0;
}

/* The file was not asked; of files that are read early, the next window tries again. */
static void leave_for_later(struct build_ids *ids, const struct build_id_query *query,
			    const struct next_try *next)
{
	if (query->len == -EAGAIN)
		ids->no_process++;
	else
		ids->not_asked++;
	if (ids->dso_table)
		dso_table__ask_again(ids->dso_table, next->dso);
}

/* Takes the answers. The queries left are those that can be tried elsewhere. */
static int take_answers(struct build_ids *ids)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < ids->nr && !err; i++) {
		struct build_id_query *query = &ids->queries[i];
		bool ended = query->pid && query->len == -ESRCH;

		if (query->len > 0)
			err = take_answer(ids, query, &ids->next[i]);
		else if (query->len == -ETIMEDOUT)
			ids->timed_out++;
		else if (query->len == -EACCES || query->len == -EPERM)
			ids->denied++;
		else if (query->len == -ECANCELED || query->len == -EAGAIN)
			leave_for_later(ids, query, &ids->next[i]);
		if (query->len <= 0 && !ended)
			pr_debug("no build-id of %s: %s", query->path, strerror(-query->len));
		if (ended && try_elsewhere(&ids->next[i], query)) {
			ids->next[kept] = ids->next[i];
			ids->queries[kept++] = *query;
		}
	}
	ids->nr = kept;
	return err;
}

/* At the end, each file extends the deadline by a two hundredth, up to ten times the deadline. */
static int deadline_for(size_t nr, int deadline_ms)
{
	return deadline_ms + (int)min_u64(nr * (uint64_t)deadline_ms / 200, 9ULL * deadline_ms);
}

static int ask_twice(struct build_ids *ids, int deadline_ms)
{
	int err;

	put_first(ids);
	err = build_id__query(ids->queries, ids->nr, deadline_ms);
	if (!err)
		err = take_answers(ids);
	if (!err && ids->nr)
		err = build_id__query(ids->queries, ids->nr, deadline_ms);
	return err ? err : take_answers(ids);
}

static void report_missing(const struct build_ids *ids)
{
	if (ids->timed_out)
		pr_warn("%zu files could not be read in time: they have no build-id in the file",
			ids->timed_out);
	if (ids->not_asked)
		pr_warn("%zu files were not read for their build-ids, since others took too long: "
			"they have none in the file",
			ids->not_asked);
	if (ids->no_process)
		pr_warn("%zu files have no build-id in the file, since no process could be made to "
			"read them; raise `ulimit -u` or the tasks limit of the cgroup",
			ids->no_process);
	if (ids->denied)
		pr_warn("%zu files of other users may not be read: they have no build-id in the "
			"file; CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH help",
			ids->denied);
}

static void free_queries(struct build_ids *ids)
{
	free(ids->queries);
	free(ids->next);
}

int build_ids__write(struct writer *writer, struct dso_table *dso_table, int deadline_ms,
		     struct cache *cache)
{
	struct build_ids ids = { .writer = writer, .cache = cache };
	int err;

	err = dso_table__each(dso_table, collect, &ids);
	if (!err && ids.nr)
		err = ask_twice(&ids, deadline_for(ids.nr, deadline_ms));
	report_missing(&ids);
	free_queries(&ids);
	return err;
}

int build_ids__read_early(struct dso_table *dso_table, int deadline_ms)
{
	struct build_ids ids = { .dso_table = dso_table };
	int err;

	err = dso_table__each_early(dso_table, collect_early, &ids);
	/* No extension for many files: the rings are not read meanwhile. */
	if (!err && ids.nr)
		err = ask_twice(&ids, deadline_ms);
	/* Missing ones are asked again at the end, and only then reported. */
	free_queries(&ids);
	return err;
}

void build_ids__fill_cache(struct cache *cache, int deadline_ms)
{
	int err = cache__fill(cache, deadline_ms);
	size_t missing = 0, first = 0;

	for (size_t i = 0; i < cache->nr; i++) {
		if (cache->items[i].err && !missing++)
			first = i;
	}
	if (err)
		pr_warn("perf's cache ~/.debug cannot be filled: %s", strerror(-err));
	else if (missing)
		pr_warn("%zu of %zu files could not be copied to perf's cache ~/.debug (the first: "
			"%s: %s): `perf archive` will lack them",
			missing, cache->nr, cache->items[first].path,
			strerror(-cache->items[first].err));
}
