/* SPDX-License-Identifier: GPL-2.0-only */
#include "machine/leader_exit.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "machine/record_layout.h"

/* An EXIT as the kernel sends it. */
struct leader_exit {
	struct layout_task task;
	struct layout_sample_id id;
};

int leader_exits__add(struct leader_exits *leader_exits, pid_t pid, pid_t tid)
{
	return process_threads__add(&leader_exits->threads, pid, tid);
}

/* Takes what is held of a process out; NULL: nothing. The caller frees it. */
static struct leader_exit *take(struct leader_exits *leader_exits, uint32_t pid)
{
	const uint64_t *value = idmap__find(&leader_exits->held, pid);
	struct leader_exit *held = value ? (struct leader_exit *)(uintptr_t)*value : NULL;

	idmap__remove(&leader_exits->held, pid);
	return held;
}

static int hold(struct leader_exits *leader_exits, const void *event)
{
	struct leader_exit *own = malloc(sizeof(*own));
	uint64_t *value;

	if (!own)
		return -ENOMEM;
	memcpy(own, event, sizeof(*own));
	free(take(leader_exits, own->task.pid));
	value = idmap__get(&leader_exits->held, own->task.pid);
	if (!value) {
		free(own);
		return -ENOMEM;
	}
	*value = (uintptr_t)own;
	return 0;
}

static int give_held(struct leader_exits *leader_exits, uint32_t pid, uint64_t time,
		     leader_exits_fn fn, void *ctx)
{
	struct leader_exit *held = take(leader_exits, pid);
	int err = 0;

	if (held) {
		held->task.time = held->id.time = time;
		err = fn(ctx, held, sizeof(*held), time);
	}
	free(held);
	return err;
}

static int follow_exit(struct leader_exits *leader_exits, const void *event, size_t size,
		       uint64_t time, leader_exits_fn fn, void *ctx)
{
	struct layout_task task;
	bool others;
	int err;

	memcpy(&task, event, sizeof(task));
	process_threads__remove(&leader_exits->threads, (pid_t)task.tid);
	others = process_threads__of(&leader_exits->threads, (pid_t)task.pid);
	if (others && task.pid == task.tid && size == sizeof(struct leader_exit))
		return hold(leader_exits, event);
	err = fn(ctx, event, size, time);
	return err || others ? err : give_held(leader_exits, task.pid, time, fn, ctx);
}

static int follow_fork(struct leader_exits *leader_exits, const void *event)
{
	struct layout_task task;

	memcpy(&task, event, sizeof(task));
	/* A new process: whoever had its id is gone, be it that the end was missed. */
	if (task.pid == task.tid) {
		process_threads__forget(&leader_exits->threads, (pid_t)task.pid);
		free(take(leader_exits, task.pid));
	}
	return process_threads__add(&leader_exits->threads, (pid_t)task.pid, (pid_t)task.tid);
}

static int follow_comm(struct leader_exits *leader_exits, const void *event)
{
	struct layout_comm comm;

	memcpy(&comm, event, sizeof(comm));
	if (!(comm.header.misc & PERF_RECORD_MISC_COMM_EXEC))
		return 0;
	free(take(leader_exits, comm.pid));
	return process_threads__exec(&leader_exits->threads, (pid_t)comm.pid);
}

int leader_exits__follow(struct leader_exits *leader_exits, const void *event, size_t size,
			 uint64_t time, leader_exits_fn fn, void *ctx)
{
	struct perf_event_header header;
	int err = 0;

	memcpy(&header, event, sizeof(header));
	if (header.type == PERF_RECORD_EXIT && size >= sizeof(struct layout_task))
		return follow_exit(leader_exits, event, size, time, fn, ctx);
	if (header.type == PERF_RECORD_FORK && size >= sizeof(struct layout_task))
		err = follow_fork(leader_exits, event);
	else if (header.type == PERF_RECORD_COMM && size >= sizeof(struct layout_comm))
		err = follow_comm(leader_exits, event);
	return err ? err : fn(ctx, event, size, time);
}

void leader_exits__free(struct leader_exits *leader_exits)
{
	for (size_t i = 0; i < leader_exits->held.capacity; i++) {
		if (leader_exits->held.slots[i].id != IDMAP_NONE)
			free((void *)(uintptr_t)leader_exits->held.slots[i].value);
	}
	idmap__free(&leader_exits->held);
	process_threads__free(&leader_exits->threads);
}
