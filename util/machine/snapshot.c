/* SPDX-License-Identifier: GPL-2.0-only */
#include "machine/snapshot.h"

#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "machine/record_layout.h"

/* A mapping; its path belongs to it. */
struct map {
	struct writer_mmap mmap;
	char *path;
};

/* The mappings of an address space, oldest first: shared by fork until one of both maps. */
struct maps {
	unsigned int refs;
	size_t nr;
	size_t capacity;
	struct map *list;
};

struct task {
	pid_t tid;
	pid_t pid;
	char comm[16];
	struct maps *maps; /* of a process, kept with its first thread; NULL: none */
	struct task *next_left;
	unsigned int left_round;
	bool left;   /* it has ended */
	bool listed; /* in past.left; also where its TID has been used again since */
};

struct snapshot {
	void *tasks; /* tsearch(3)'s, by TID */
	struct map *kernel;
	size_t nr_kernel;
	struct task *left;
	unsigned int round;
	uint64_t bytes; /* of maps */
	bool full;
};

static int task__compare(const void *a, const void *b)
{
	pid_t x = ((const struct task *)a)->tid, y = ((const struct task *)b)->tid;

	return (x > y) - (x < y);
}

static uint64_t map__bytes(const struct map *map)
{
	return sizeof(*map) + strlen(map->path) + 1;
}

static void maps__put(struct snapshot *snapshot, struct maps *maps)
{
	if (!maps || --maps->refs)
		return;
	for (size_t i = 0; i < maps->nr; i++) {
		snapshot->bytes -= map__bytes(&maps->list[i]);
		free(maps->list[i].path);
	}
	free(maps->list);
	free(maps);
}

static int maps__add(struct snapshot *snapshot, struct maps *maps, const struct writer_mmap *mmap)
{
	struct map *list = maps->list, map = { .mmap = *mmap, .path = strdup(mmap->path) };
	size_t capacity = maps->capacity ? 2 * maps->capacity : 8;

	if (!map.path)
		return -ENOMEM;
	if (maps->nr == maps->capacity) {
		list = reallocarray(list, capacity, sizeof(*list));
		if (!list) {
			free(map.path);
			return -ENOMEM;
		}
		maps->list = list;
		maps->capacity = capacity;
	}
	snapshot->bytes += map__bytes(&map);
	list[maps->nr++] = map;
	return 0;
}

static struct maps *maps__copy(struct snapshot *snapshot, const struct maps *from)
{
	struct maps *maps = calloc(1, sizeof(*maps));
	struct writer_mmap mmap;
	int err = maps ? 0 : -ENOMEM;

	if (maps)
		maps->refs = 1;
	for (size_t i = 0; from && i < from->nr && !err; i++) {
		mmap = from->list[i].mmap;
		mmap.path = from->list[i].path;
		err = maps__add(snapshot, maps, &mmap);
	}
	if (!err)
		return maps;
	maps__put(snapshot, maps);
	return NULL;
}

/* What a new mapping covers as a whole is gone: so a program that maps without end at the
 * same places takes no more memory. */
static void maps__cover(struct snapshot *snapshot, struct maps *maps, uint64_t start, uint64_t end)
{
	size_t kept = 0;

	for (size_t i = 0; i < maps->nr; i++) {
		struct map *map = &maps->list[i];

		if (map->mmap.start >= start && map->mmap.start + map->mmap.len <= end) {
			snapshot->bytes -= map__bytes(map);
			free(map->path);
		} else {
			maps->list[kept++] = *map;
		}
	}
	maps->nr = kept;
}

static struct task *snapshot__find(struct snapshot *snapshot, pid_t tid)
{
	struct task key = { .tid = tid };
	struct task **node = tfind(&key, &snapshot->tasks, task__compare);

	return node ? *node : NULL;
}

static struct task *snapshot__task(struct snapshot *snapshot, pid_t pid, pid_t tid)
{
	struct task *task = snapshot__find(snapshot, tid);

	if (task) {
		task->pid = pid;
		return task;
	}
	task = calloc(1, sizeof(*task));
	if (!task)
		return NULL;
	task->tid = tid;
	task->pid = pid;
	if (!tsearch(task, &snapshot->tasks, task__compare)) {
		free(task);
		return NULL;
	}
	return task;
}

struct snapshot *snapshot__new(void)
{
	return calloc(1, sizeof(struct snapshot));
}

/* Takes a task out of the tree and frees it. */
static void snapshot__drop(struct snapshot *snapshot, struct task *task)
{
	tdelete(task, &snapshot->tasks, task__compare);
	maps__put(snapshot, task->maps);
	free(task);
}

void snapshot__delete(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	while (snapshot->tasks)
		snapshot__drop(snapshot, *(struct task **)snapshot->tasks);
	for (size_t i = 0; i < snapshot->nr_kernel; i++)
		free(snapshot->kernel[i].path);
	free(snapshot->kernel);
	free(snapshot);
}

int snapshot__kernel_map(struct snapshot *snapshot, uint64_t start, uint64_t len, uint64_t pgoff,
		     const char *name)
{
	struct map *kernel, map = { .mmap = { .start = start, .len = len, .pgoff = pgoff } };

	map.path = strdup(name);
	kernel = map.path ? reallocarray(snapshot->kernel, snapshot->nr_kernel + 1, sizeof(map))
			  : NULL;
	if (!kernel) {
		free(map.path);
		return -ENOMEM;
	}
	kernel[snapshot->nr_kernel++] = map;
	snapshot->kernel = kernel;
	return 0;
}

static bool snapshot__is_full(struct snapshot *snapshot)
{
	if (snapshot->bytes < SNAPSHOT_MAX_BYTES)
		return false;
	if (!snapshot->full)
		pr_warn("the maps of all processes take more than %llu MB: frames of what is "
			"mapped from now on may have no names in later files",
			SNAPSHOT_MAX_BYTES >> 20);
	snapshot->full = true;
	return true;
}

int snapshot__map(struct snapshot *snapshot, const struct writer_mmap *map)
{
	struct task *task = snapshot__task(snapshot, (pid_t)map->pid, (pid_t)map->pid);
	struct maps *own;

	if (!task)
		return -ENOMEM;
	if (snapshot__is_full(snapshot))
		return 0;
	if (!task->maps || task->maps->refs > 1) {
		own = maps__copy(snapshot, task->maps);
		if (!own)
			return -ENOMEM;
		maps__put(snapshot, task->maps);
		task->maps = own;
	}
	maps__cover(snapshot, task->maps, map->start, map->start + map->len);
	return maps__add(snapshot, task->maps, map);
}

int snapshot__fork(struct snapshot *snapshot, pid_t pid, pid_t tid, pid_t ppid, pid_t ptid)
{
	struct task *task = snapshot__task(snapshot, pid, tid), *parent;

	if (!task)
		return -ENOMEM;
	task->left = false;
	maps__put(snapshot, task->maps);
	task->maps = NULL;
	parent = snapshot__find(snapshot, ptid);
	if (parent && parent != task)
		memcpy(task->comm, parent->comm, sizeof(task->comm));
	parent = snapshot__find(snapshot, ppid);
	if (pid == ppid || pid != tid || !parent || !parent->maps)
		return 0;
	task->maps = parent->maps;
	task->maps->refs++;
	return 0;
}

int snapshot__comm(struct snapshot *snapshot, pid_t pid, pid_t tid, const char *comm)
{
	struct task *task = snapshot__task(snapshot, pid, tid);

	if (!task)
		return -ENOMEM;
	snprintf(task->comm, sizeof(task->comm), "%s", comm);
	return 0;
}

void snapshot__exec(struct snapshot *snapshot, pid_t pid)
{
	struct task *task = snapshot__find(snapshot, pid);

	if (!task)
		return;
	maps__put(snapshot, task->maps);
	task->maps = NULL;
}

void snapshot__exit(struct snapshot *snapshot, pid_t tid)
{
	struct task *task = snapshot__find(snapshot, tid);

	if (!task)
		return;
	task->left = true;
	task->left_round = snapshot->round;
	if (task->listed)
		return;
	task->listed = true;
	task->next_left = snapshot->left;
	snapshot->left = task;
}

void snapshot__round(struct snapshot *snapshot)
{
	struct task **at = &snapshot->left, *task;

	while ((task = *at)) {
		if (task->left && task->left_round == snapshot->round) {
			at = &task->next_left;
			continue;
		}
		*at = task->next_left;
		task->listed = false;
		if (task->left)
			snapshot__drop(snapshot, task);
	}
	snapshot->round++;
}

static int take_mmap2(struct snapshot *snapshot, const void *event)
{
	struct layout_mmap2 map;
	struct writer_mmap out;

	memcpy(&map, event, sizeof(map));
	if (map.header.misc & PERF_RECORD_MISC_MMAP_DATA)
		return 0;
	out = (struct writer_mmap){
		.pid = map.pid,
		.tid = map.pid,
		.start = map.start,
		.len = map.len,
		.pgoff = map.pgoff,
		.prot = map.prot,
		.flags = map.flags,
		.executable = true,
		.path = (const char *)event + sizeof(map),
	};
	if (!(map.header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID)) {
		out.maj = map.maj;
		out.min = map.min;
		out.ino = map.ino;
		out.ino_generation = map.ino_generation;
	}
	return snapshot__map(snapshot, &out);
}

static int take_comm(struct snapshot *snapshot, const void *event)
{
	struct layout_comm comm;

	memcpy(&comm, event, sizeof(comm));
	if (comm.header.misc & PERF_RECORD_MISC_COMM_EXEC)
		snapshot__exec(snapshot, (pid_t)comm.pid);
	return snapshot__comm(snapshot, (pid_t)comm.pid, (pid_t)comm.tid,
			  (const char *)event + sizeof(comm));
}

static int take_task(struct snapshot *snapshot, const void *event)
{
	struct layout_task task;

	memcpy(&task, event, sizeof(task));
	if (task.header.type == PERF_RECORD_FORK)
		return snapshot__fork(snapshot, (pid_t)task.pid, (pid_t)task.tid, (pid_t)task.ppid,
				  (pid_t)task.ptid);
	snapshot__exit(snapshot, (pid_t)task.tid);
	return 0;
}

int snapshot__sideband(struct snapshot *snapshot, const void *event, size_t size)
{
	struct perf_event_header header;

	if (size < sizeof(header))
		return 0;
	memcpy(&header, event, sizeof(header));
	switch (header.type) {
	case PERF_RECORD_MMAP2:
		return take_mmap2(snapshot, event);
	case PERF_RECORD_COMM:
		return take_comm(snapshot, event);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return take_task(snapshot, event);
	default:
		return 0;
	}
}

struct writing {
	struct writer *writer;
	bool maps; /* the second pass: names come first */
	int err;
};

static int write_names(struct writer *writer, const struct task *task)
{
	uint32_t tid = (uint32_t)task->tid, pid = (uint32_t)task->pid;
	int err = 0;

	/* At the FORK of a process, hotspot replaces its mappings by those of its parent. */
	if (tid != pid)
		err = writer__fork(writer, pid, pid, tid, pid);
	if (!err && task->comm[0])
		err = writer__comm(writer, pid, tid, task->comm);
	return err;
}

static int write_maps(struct writer *writer, const struct task *task)
{
	struct writer_mmap mmap;
	int err = 0;

	for (size_t i = 0; task->maps && i < task->maps->nr && !err; i++) {
		mmap = task->maps->list[i].mmap;
		mmap.pid = mmap.tid = (uint32_t)task->pid;
		mmap.path = task->maps->list[i].path;
		err = writer__mmap2(writer, &mmap);
	}
	return err;
}

static void write_task(const void *node, VISIT visit, void *ctx)
{
	const struct task *task = *(const struct task *const *)node;
	struct writing *writing = ctx;

	if (writing->err || (visit != postorder && visit != leaf))
		return;
	writing->err = writing->maps ? write_maps(writing->writer, task)
				     : write_names(writing->writer, task);
}

int snapshot__write(const struct snapshot *snapshot, struct writer *writer)
{
	struct writing writing = { .writer = writer };

	for (size_t i = 0; i < snapshot->nr_kernel && !writing.err; i++)
		writing.err = writer__kernel_mmap(
			writer, snapshot->kernel[i].mmap.start, snapshot->kernel[i].mmap.len,
			snapshot->kernel[i].mmap.pgoff, snapshot->kernel[i].path);
	twalk_r(snapshot->tasks, write_task, &writing);
	writing.maps = true;
	twalk_r(snapshot->tasks, write_task, &writing);
	return writing.err;
}
