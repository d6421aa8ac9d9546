/* SPDX-License-Identifier: GPL-2.0-only */
#include "machine/deferred_exit.h"

#include <errno.h>
#include <string.h>

#include "output/perfdata/layout.h"

/* One record as it is held. */
struct held {
	uint64_t number;
	struct layout_task task;
	struct layout_sample_id id;
};

int exits__hold(struct exits *exits, const void *event, size_t size)
{
	struct held held = { .number = exits->last + 1 };
	uint64_t *number;

	if (size != sizeof(held.task) + sizeof(held.id))
		return -EINVAL;
	memcpy(&held.task, event, sizeof(held.task));
	memcpy(&held.id, (const char *)event + sizeof(held.task), sizeof(held.id));
	number = idmap__get(&exits->held, held.task.tid);
	if (!number || buffer__append(&exits->fresh, &held, sizeof(held)))
		return -ENOMEM;
	*number = exits->last = held.number;
	return 0;
}

void exits__forked(struct exits *exits, uint32_t tid)
{
	idmap__remove(&exits->held, tid);
}

static int give(struct exits *exits, struct held *held, uint64_t time_ns, exits_fn fn, void *ctx)
{
	const uint64_t *number = idmap__find(&exits->held, held->task.tid);
	struct {
		struct layout_task task;
		struct layout_sample_id id;
	} record;

	if (!number || *number != held->number)
		return 0;
	idmap__remove(&exits->held, held->task.tid);
	/* Filled member by member, so that no byte in between is left to chance. */
	memset(&record, 0, sizeof(record));
	record.task = held->task;
	record.id = held->id;
	record.task.time = record.id.time = time_ns;
	return fn(ctx, &record, sizeof(record));
}

int exits__round(struct exits *exits, uint64_t time_ns, exits_fn fn, void *ctx)
{
	struct held *held = (struct held *)(void *)exits->ripe.data;
	size_t nr = exits->ripe.len / sizeof(*held);
	struct buffer emptied = exits->ripe;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = give(exits, &held[i], time_ns, fn, ctx);
	exits->ripe = exits->fresh;
	exits->fresh = emptied;
	exits->fresh.len = 0;
	return err;
}

void exits__free(struct exits *exits)
{
	buffer__free(&exits->fresh);
	buffer__free(&exits->ripe);
	idmap__free(&exits->held);
}
