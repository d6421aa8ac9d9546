/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/ordered_events.h"

#include <errno.h>
#include <stdlib.h>

struct queue_entry {
	uint64_t time;
	size_t at; /* in bytes; tells the order of records of one time */
	size_t size;
};

static struct queue_entry *queue__entries(const struct queue *queue, size_t *nr)
{
	*nr = queue->entries.len / sizeof(struct queue_entry);
	return (struct queue_entry *)(void *)queue->entries.data;
}

int queue__add(struct queue *queue, const void *event, size_t size, uint64_t time)
{
	struct queue_entry entry = { .time = time, .at = queue->bytes.len, .size = size };
	size_t padded = (size + 7) & ~(size_t)7;
	char *room = buffer__reserve(&queue->bytes, padded);
	int err;

	if (!room)
		return -ENOMEM;
	err = buffer__append(&queue->entries, &entry, sizeof(entry));
	if (err)
		return err;
	memcpy(room, event, size);
	queue->bytes.len += padded;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct queue_entry *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* Drops the first entries and moves what the others refer to to the front. */
static int queue__drop(struct queue *queue, size_t given)
{
	struct queue rest = { 0 };
	size_t nr;
	struct queue_entry *entries = queue__entries(queue, &nr);
	int err = 0;

	for (size_t i = given; i < nr && !err; i++)
		err = queue__add(&rest, queue->bytes.data + entries[i].at, entries[i].size,
				 entries[i].time);
	queue__free(queue);
	*queue = rest;
	return err;
}

int queue__give(struct queue *queue, uint64_t until, queue_fn fn, void *ctx)
{
	size_t nr, given = 0;
	struct queue_entry *entries = queue__entries(queue, &nr);
	int err = 0, dropped;

	if (!nr)
		return 0;
	qsort(entries, nr, sizeof(*entries), compare);
	while (given < nr && entries[given].time < until && !err) {
		err = fn(ctx, queue->bytes.data + entries[given].at, entries[given].size);
		given++;
	}
	dropped = given ? queue__drop(queue, given) : 0;
	return err ? err : dropped;
}

void queue__free(struct queue *queue)
{
	buffer__free(&queue->bytes);
	buffer__free(&queue->entries);
}
