/* SPDX-License-Identifier: GPL-2.0-only */
#include "machine/deferred_exit.h"

#include <errno.h>
#include <string.h>

#include "machine/record_layout.h"

/* One record as it is held. */
struct sample_queue {
	uint64_t number;
	struct layout_task task;
	struct layout_sample_id id;
};

int deferred_exit__hold(struct deferred_exit *deferred_exit, const void *event, size_t size)
{
	struct sample_queue held = { .number = deferred_exit->last + 1 };
	uint64_t *number;

	if (size != sizeof(held.task) + sizeof(held.id))
		return -EINVAL;
	memcpy(&held.task, event, sizeof(held.task));
	memcpy(&held.id, (const char *)event + sizeof(held.task), sizeof(held.id));
	number = idmap__get(&deferred_exit->held, held.task.tid);
	if (!number || buffer__append(&deferred_exit->fresh, &held, sizeof(held)))
		return -ENOMEM;
	*number = deferred_exit->last = held.number;
	return 0;
}

void deferred_exit__forked(struct deferred_exit *deferred_exit, uint32_t tid)
{
	idmap__remove(&deferred_exit->held, tid);
}

static int give(struct deferred_exit *deferred_exit, struct sample_queue *held, uint64_t time_ns,
		deferred_exit_fn fn, void *ctx)
{
	const uint64_t *number = idmap__find(&deferred_exit->held, held->task.tid);
	struct {
		struct layout_task task;
		struct layout_sample_id id;
	} record;

	if (!number || *number != held->number)
		return 0;
	idmap__remove(&deferred_exit->held, held->task.tid);
	/* Filled member by member, so that no byte in between is left to chance. */
	memset(&record, 0, sizeof(record));
	record.task = held->task;
	record.id = held->id;
	record.task.time = record.id.time = time_ns;
	return fn(ctx, &record, sizeof(record));
}

int deferred_exit__round(struct deferred_exit *deferred_exit, uint64_t time_ns, deferred_exit_fn fn,
			 void *ctx)
{
	struct sample_queue *held = (struct sample_queue *)(void *)deferred_exit->ripe.data;
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
	buffer__free(&deferred_exit->fresh);
	buffer__free(&deferred_exit->ripe);
	idmap__free(&deferred_exit->held);
}
