/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/ordered_events.h"

#include <errno.h>
#include <stdlib.h>

struct ordered_event {
	uint64_t time;
	size_t at; /* in bytes; orders records of the same time */
	size_t size;
};

static struct ordered_event *ordered_events__entries(const struct ordered_events *ordered_events,
						     size_t *nr)
{
	*nr = ordered_events->entries.len / sizeof(struct ordered_event);
	return (struct ordered_event *)(void *)ordered_events->entries.data;
}

int ordered_events__add(struct ordered_events *ordered_events, const void *event, size_t size,
			uint64_t time)
{
	struct ordered_event entry = { .time = time,
				       .at = ordered_events->bytes.len,
				       .size = size };
	size_t padded = (size + 7) & ~(size_t)7;
	char *room = buffer__reserve(&ordered_events->bytes, padded);
	int err;

	if (!room)
		return -ENOMEM;
	err = buffer__append(&ordered_events->entries, &entry, sizeof(entry));
	if (err)
		return err;
	memcpy(room, event, size);
	ordered_events->bytes.len += padded;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct ordered_event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* Drops the first entries and moves the bytes of the others to the front. */
static int ordered_events__drop(struct ordered_events *ordered_events, size_t given)
{
	struct ordered_events rest = { 0 };
	size_t nr;
	struct ordered_event *entries = ordered_events__entries(ordered_events, &nr);
	int err = 0;

	for (size_t i = given; i < nr && !err; i++)
		err = ordered_events__add(&rest, ordered_events->bytes.data + entries[i].at,
					  entries[i].size, entries[i].time);
	ordered_events__free(ordered_events);
	*ordered_events = rest;
	return err;
}

int ordered_events__give(struct ordered_events *ordered_events, uint64_t until, ordered_event_fn fn,
			 void *ctx)
{
	size_t nr, given = 0;
	struct ordered_event *entries = ordered_events__entries(ordered_events, &nr);
	int err = 0, dropped;

	if (!nr)
		return 0;
	qsort(entries, nr, sizeof(*entries), compare);
	while (given < nr && entries[given].time < until && !err) {
		err = fn(ctx, ordered_events->bytes.data + entries[given].at, entries[given].size);
		given++;
	}
	dropped = given ? ordered_events__drop(ordered_events, given) : 0;
	return err ? err : dropped;
}

void ordered_events__free(struct ordered_events *ordered_events)
{
	buffer__free(&ordered_events->bytes);
	buffer__free(&ordered_events->entries);
}
