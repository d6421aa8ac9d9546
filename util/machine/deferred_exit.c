/* SPDX-License-Identifier: GPL-2.0-only */
#include "machine/deferred_exit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine/record_layout.h"

/* An EXIT as the kernel sends it. */
struct exit_record {
	struct layout_task task;
	struct layout_sample_id id;
};
_Static_assert(sizeof(struct exit_record) == 64, "an EXIT has no gap");

struct held_exit {
	uint64_t number;
	struct exit_record record;
};

static int hold(struct deferred_exit *deferred_exit, const struct exit_record *record)
{
	struct held_exit held = { .number = deferred_exit->last + 1, .record = *record };
	uint64_t *number = idmap__get(&deferred_exit->held, record->task.tid);

	if (!number || buffer__append(&deferred_exit->fresh, &held, sizeof(held)))
		return -ENOMEM;
	*number = deferred_exit->last = held.number;
	return 0;
}

/* Removes and returns the EXIT of a process's first thread; NULL: none. The caller frees it. */
static struct exit_record *take_leader(struct deferred_exit *deferred_exit, pid_t pid)
{
	const uint64_t *value = idmap__find(&deferred_exit->leaders, (uint32_t)pid);
	struct exit_record *record = value ? (struct exit_record *)(uintptr_t)*value : NULL;

	idmap__remove(&deferred_exit->leaders, (uint32_t)pid);
	return record;
}

static int keep_leader(struct deferred_exit *deferred_exit, pid_t pid,
		       const struct exit_record *record)
{
	struct exit_record *own = malloc(sizeof(*own));
	uint64_t *value;

	free(take_leader(deferred_exit, pid));
	value = own ? idmap__get(&deferred_exit->leaders, (uint32_t)pid) : NULL;
	if (!value) {
		free(own);
		return -ENOMEM;
	}
	*own = *record;
	*value = (uintptr_t)own;
	return 0;
}

static int follow_exit(struct deferred_exit *deferred_exit, const struct task_event *event,
		       bool alive)
{
	struct exit_record record, *leader;
	int err;

	if (event->size != sizeof(record))
		return -EINVAL;
	memcpy(&record, event->record, sizeof(record));
	if (alive && event->pid == event->tid)
		return keep_leader(deferred_exit, event->pid, &record);
	err = hold(deferred_exit, &record);
	leader = err || alive ? NULL : take_leader(deferred_exit, event->pid);
	if (leader)
		err = hold(deferred_exit, leader);
	free(leader);
	return err;
}

int deferred_exit__follow(struct deferred_exit *deferred_exit, const struct task_event *event,
			  bool alive)
{
	if (event->kind == TASK_EVENT_EXIT)
		return follow_exit(deferred_exit, event, alive);
	if (event->kind == TASK_EVENT_FORK)
		idmap__remove(&deferred_exit->held, (uint32_t)event->tid);
	/* A new process or program has another first thread. */
	if (event->kind == TASK_EVENT_EXEC ||
	    (event->kind == TASK_EVENT_FORK && event->pid == event->tid))
		free(take_leader(deferred_exit, event->pid));
	return 0;
}

static int give(struct deferred_exit *deferred_exit, struct held_exit *held, uint64_t time_ns,
		deferred_exit_fn fn, void *ctx)
{
	const uint64_t *number = idmap__find(&deferred_exit->held, held->record.task.tid);

	if (!number || *number != held->number)
		return 0;
	idmap__remove(&deferred_exit->held, held->record.task.tid);
	held->record.task.time = held->record.id.time = time_ns;
	return fn(ctx, &held->record, sizeof(held->record));
}

int deferred_exit__round(struct deferred_exit *deferred_exit, uint64_t time_ns, deferred_exit_fn fn,
			 void *ctx)
{
	struct held_exit *held = (struct held_exit *)(void *)deferred_exit->ripe.data;
	size_t nr = deferred_exit->ripe.len / sizeof(*held);
	struct buffer emptied = deferred_exit->ripe;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = give(deferred_exit, &held[i], time_ns, fn, ctx);
	deferred_exit->ripe = deferred_exit->fresh;
	deferred_exit->fresh = emptied;
	deferred_exit->fresh.len = 0;
	return err;
}

void deferred_exit__free(struct deferred_exit *deferred_exit)
{
	for (size_t i = 0; i < deferred_exit->leaders.capacity; i++) {
		if (deferred_exit->leaders.slots[i].id != IDMAP_NONE)
			free((void *)(uintptr_t)deferred_exit->leaders.slots[i].value);
	}
	buffer__free(&deferred_exit->fresh);
	buffer__free(&deferred_exit->ripe);
	idmap__free(&deferred_exit->held);
	idmap__free(&deferred_exit->leaders);
}
