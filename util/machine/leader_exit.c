/* SPDX-License-Identifier: GPL-2.0-only */
#include "machine/leader_exit.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "output/perfdata/layout.h"

/* An EXIT as the kernel sends it. */
struct leader_exit {
	struct layout_task task;
	struct layout_sample_id id;
};

int leaders__add(struct leaders *leaders, pid_t pid, pid_t tid)
{
	return threads__add(&leaders->threads, pid, tid);
}

/* Takes what is held of a process out; NULL: nothing. The caller frees it. */
static struct leader_exit *take(struct leaders *leaders, uint32_t pid)
{
	const uint64_t *value = idmap__find(&leaders->held, pid);
	struct leader_exit *held = value ? (struct leader_exit *)(uintptr_t)*value : NULL;

	idmap__remove(&leaders->held, pid);
	return held;
}

static int hold(struct leaders *leaders, const void *event)
{
	struct leader_exit *own = malloc(sizeof(*own));
	uint64_t *value;

	if (!own)
		return -ENOMEM;
	memcpy(own, event, sizeof(*own));
	free(take(leaders, own->task.pid));
	value = idmap__get(&leaders->held, own->task.pid);
	if (!value) {
		free(own);
		return -ENOMEM;
	}
	*value = (uintptr_t)own;
	return 0;
}

static int give_held(struct leaders *leaders, uint32_t pid, uint64_t time, leaders_fn fn, void *ctx)
{
	struct leader_exit *held = take(leaders, pid);
	int err = 0;

	if (held) {
		held->task.time = held->id.time = time;
		err = fn(ctx, held, sizeof(*held), time);
	}
	free(held);
	return err;
}

static int follow_exit(struct leaders *leaders, const void *event, size_t size, uint64_t time,
		       leaders_fn fn, void *ctx)
{
	struct layout_task task;
	bool others;
	int err;

	memcpy(&task, event, sizeof(task));
	threads__remove(&leaders->threads, (pid_t)task.tid);
	others = threads__of(&leaders->threads, (pid_t)task.pid);
	if (others && task.pid == task.tid && size == sizeof(struct leader_exit))
		return hold(leaders, event);
	err = fn(ctx, event, size, time);
	return err || others ? err : give_held(leaders, task.pid, time, fn, ctx);
}

static int follow_fork(struct leaders *leaders, const void *event)
{
	struct layout_task task;

	memcpy(&task, event, sizeof(task));
	/* A new process: whoever had its id is gone, be it that the end was missed. */
	if (task.pid == task.tid) {
		threads__forget(&leaders->threads, (pid_t)task.pid);
		free(take(leaders, task.pid));
	}
	return threads__add(&leaders->threads, (pid_t)task.pid, (pid_t)task.tid);
}

static int follow_comm(struct leaders *leaders, const void *event)
{
	struct layout_comm comm;

	memcpy(&comm, event, sizeof(comm));
	if (!(comm.header.misc & PERF_RECORD_MISC_COMM_EXEC))
		return 0;
	free(take(leaders, comm.pid));
	return threads__exec(&leaders->threads, (pid_t)comm.pid);
}

int leaders__follow(struct leaders *leaders, const void *event, size_t size, uint64_t time,
		    leaders_fn fn, void *ctx)
{
	struct perf_event_header header;
	int err = 0;

	memcpy(&header, event, sizeof(header));
	if (header.type == PERF_RECORD_EXIT && size >= sizeof(struct layout_task))
		return follow_exit(leaders, event, size, time, fn, ctx);
	if (header.type == PERF_RECORD_FORK && size >= sizeof(struct layout_task))
		err = follow_fork(leaders, event);
	else if (header.type == PERF_RECORD_COMM && size >= sizeof(struct layout_comm))
		err = follow_comm(leaders, event);
	return err ? err : fn(ctx, event, size, time);
}

void leaders__free(struct leaders *leaders)
{
	for (size_t i = 0; i < leaders->held.capacity; i++) {
		if (leaders->held.slots[i].id != IDMAP_NONE)
			free((void *)(uintptr_t)leaders->held.slots[i].value);
	}
	idmap__free(&leaders->held);
	threads__free(&leaders->threads);
}
