/* SPDX-License-Identifier: GPL-2.0-only */
#include "input/record_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"

/* A block has three records at most. */
#define MORE_MAX (4u << 16)

static struct record_queue_entry *entries_of(const struct record_queue *queue, size_t *nr)
{
	*nr = queue->entries.len / sizeof(struct record_queue_entry);
	return (struct record_queue_entry *)(void *)queue->entries.data;
}

static size_t padded(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

static int append(struct record_queue *queue, const void *record, size_t size)
{
	char *room = buffer__reserve(&queue->bytes, padded(size));

	if (!room)
		return -ENOMEM;
	memcpy(room, record, size);
	memset(room + size, 0, padded(size) - size);
	queue->bytes.len += padded(size);
	return 0;
}

int record_queue__add(struct record_queue *queue, uint64_t time, const void *record, size_t size)
{
	const struct record_queue_entry entry = {
		.time = time,
		.at = queue->bytes.len,
		.size = (uint32_t)size,
	};
	int err = append(queue, record, size);

	if (!err)
		err = buffer__append(&queue->entries, &entry, sizeof(entry));
	queue->latest = max_u64(queue->latest, time);
	return err;
}

int record_queue__add_more(struct record_queue *queue, const void *record, size_t size)
{
	size_t nr;
	struct record_queue_entry *entries = entries_of(queue, &nr);
	int err;

	if (!nr || entries[nr - 1].more + size > MORE_MAX || size % 8)
		return -ENOENT;
	err = append(queue, record, size);
	if (!err)
		entries[nr - 1].more += (uint32_t)size;
	return err;
}

const void *record_queue__last(const struct record_queue *queue, size_t *size, size_t *more)
{
	size_t nr;
	const struct record_queue_entry *entries = entries_of(queue, &nr);

	if (!nr)
		return NULL;
	*size = entries[nr - 1].size;
	*more = entries[nr - 1].more;
	return queue->bytes.data + entries[nr - 1].at;
}

bool record_queue__is_full(const struct record_queue *queue)
{
	return queue->bytes.len >= RECORD_QUEUE_MAX_BYTES;
}

/* By time, and by the place, which is the order in which they came. */
static int compare(const void *a, const void *b)
{
	const struct record_queue_entry *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int by_place(const void *a, const void *b)
{
	const struct record_queue_entry *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static int hand_out(const struct record_queue *queue, const struct record_queue_entry *entry,
		    record_queue_fn fn, void *ctx)
{
	const char *record = queue->bytes.data + entry->at;

	return fn(ctx, entry->time, record, entry->size,
		  record + padded(entry->size), entry->more);
}

/* Keeps the entries from first on, in the order in which they came, and their bytes. */
static void keep(struct record_queue *queue, size_t first)
{
	size_t nr, to = 0;
	struct record_queue_entry *entries = entries_of(queue, &nr);

	if (!nr)
		return;
	nr -= first;
	memmove(entries, entries + first, nr * sizeof(*entries));
	queue->entries.len = nr * sizeof(*entries);
	if (nr)
		qsort(entries, nr, sizeof(*entries), by_place);
	for (size_t i = 0; i < nr; i++) {
		size_t size = padded(entries[i].size) + entries[i].more;

		memmove(queue->bytes.data + to, queue->bytes.data + entries[i].at, size);
		entries[i].at = to;
		to += size;
	}
	queue->bytes.len = to;
}

static int hand_out_to(struct record_queue *queue, uint64_t time, record_queue_fn fn, void *ctx)
{
	size_t nr, i;
	struct record_queue_entry *entries = entries_of(queue, &nr);
	int err = 0;

	if (nr)
		qsort(entries, nr, sizeof(*entries), compare);
	for (i = 0; i < nr && entries[i].time <= time && !err; i++)
		err = hand_out(queue, &entries[i], fn, ctx);
	keep(queue, i);
	return err;
}

int record_queue__round(struct record_queue *queue, record_queue_fn fn, void *ctx,
			uint64_t *settled)
{
	*settled = queue->settled;
	queue->settled = queue->latest;
	return hand_out_to(queue, *settled, fn, ctx);
}

int record_queue__flush(struct record_queue *queue, record_queue_fn fn, void *ctx)
{
	return hand_out_to(queue, UINT64_MAX, fn, ctx);
}

void record_queue__free(struct record_queue *queue)
{
	buffer__free(&queue->bytes);
	buffer__free(&queue->entries);
	*queue = (struct record_queue){ 0 };
}
