/* SPDX-License-Identifier: GPL-2.0-only */
#include "machine/task_event.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "machine/record_layout.h"

/* The part of a record between its header and its sample_id. */
struct shape {
	uint32_t type;
	size_t fixed;	 /* bytes before the name, header included */
	size_t name_max; /* room of the name with NUL and padding; 0: no name */
};

/* Types that every reader of perf.data since perf 5.10 knows. */
static const struct shape shapes[] = {
	{ PERF_RECORD_MMAP, sizeof(struct layout_mmap), PATH_MAX },
	{ PERF_RECORD_MMAP2, sizeof(struct layout_mmap2), PATH_MAX },
	{ PERF_RECORD_COMM, sizeof(struct layout_comm), 16 },
	{ PERF_RECORD_FORK, sizeof(struct layout_task), 0 },
	{ PERF_RECORD_EXIT, sizeof(struct layout_task), 0 },
	{ PERF_RECORD_CGROUP, sizeof(struct layout_cgroup), PATH_MAX },
};

static const struct shape *shape_of(uint32_t type)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (shapes[i].type == type)
			return &shapes[i];
	}
	return NULL;
}

/* True if the size field is size and the name ends within the record. */
static bool is_sound(const struct shape *shape, const char *record,
		     const struct perf_event_header *header, size_t size)
{
	size_t name;

	if (!shape || header->size != size || size % 8 ||
	    size < shape->fixed + sizeof(struct layout_sample_id))
		return false;
	name = size - shape->fixed - sizeof(struct layout_sample_id);
	return name <= shape->name_max &&
	       (!shape->name_max || memchr(record + shape->fixed, '\0', name));
}

static void decode_task(const char *record, struct task_event *event)
{
	struct layout_task task;

	memcpy(&task, record, sizeof(task));
	event->kind = task.header.type == PERF_RECORD_FORK ? TASK_EVENT_FORK : TASK_EVENT_EXIT;
	event->pid = (pid_t)task.pid;
	event->tid = (pid_t)task.tid;
	event->ppid = (pid_t)task.ppid;
	event->ptid = (pid_t)task.ptid;
}

static void decode_comm(const char *record, struct task_event *event)
{
	struct layout_comm comm;

	memcpy(&comm, record, sizeof(comm));
	event->kind = comm.header.misc & PERF_RECORD_MISC_COMM_EXEC ? TASK_EVENT_EXEC
								    : TASK_EVENT_COMM;
	event->pid = (pid_t)comm.pid;
	event->tid = (pid_t)comm.tid;
	event->comm = record + sizeof(comm);
}

static void decode_mmap(const char *record, struct task_event *event)
{
	struct layout_mmap map;

	memcpy(&map, record, sizeof(map));
	event->kind = TASK_EVENT_MMAP;
	event->pid = (pid_t)map.pid;
	event->tid = (pid_t)map.tid;
	event->map = (struct task_map){
		.start = map.start,
		.len = map.len,
		.pgoff = map.pgoff,
		.data = map.header.misc & PERF_RECORD_MISC_MMAP_DATA,
		.path = record + sizeof(map),
	};
}

/* A record may carry a build-id in place of the inode; readers copy build_id_size bytes of it. */
static int decode_mmap2(const char *record, struct task_event *event)
{
	struct layout_mmap2 map;

	decode_mmap(record, event);
	memcpy(&map, record, sizeof(map));
	event->map.prot = map.prot;
	event->map.flags = map.flags;
	event->map.path = record + sizeof(map);
	if (map.header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		return map.build_id_size <= sizeof(map.build_id) ? 0 : -EINVAL;
	event->map.maj = map.maj;
	event->map.min = map.min;
	event->map.ino = map.ino;
	event->map.generation = map.ino_generation;
	return 0;
}

static void decode_cgroup(const char *record, struct task_event *event)
{
	struct layout_cgroup cgroup;

	memcpy(&cgroup, record, sizeof(cgroup));
	event->kind = TASK_EVENT_CGROUP;
	event->cgroup.id = cgroup.id;
	event->cgroup.path = record + sizeof(cgroup);
}

int task_event__time(const void *record, size_t size, uint64_t *time)
{
	struct layout_sample_id id;

	if (size < sizeof(struct perf_event_header) + sizeof(id))
		return -EINVAL;
	memcpy(&id, (const char *)record + size - sizeof(id), sizeof(id));
	*time = id.time;
	return 0;
}

int task_event__decode(const void *record, size_t size, struct task_event *event)
{
	struct perf_event_header header;

	if (task_event__time(record, size, &event->time))
		return -EINVAL;
	memcpy(&header, record, sizeof(header));
	if (!is_sound(shape_of(header.type), record, &header, size))
		return -EINVAL;
	event->record = record;
	event->size = size;
	switch (header.type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		decode_task(record, event);
		return 0;
	case PERF_RECORD_COMM:
		decode_comm(record, event);
		return 0;
	case PERF_RECORD_MMAP:
		decode_mmap(record, event);
		return 0;
	case PERF_RECORD_MMAP2:
		return decode_mmap2(record, event);
	default:
		decode_cgroup(record, event);
		return 0;
	}
}
