/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_UNWIND_SHM_RING_H
#define DENET_UNWIND_SHM_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A ring in memory that a process shares with its child: the parent puts entries, the child
 * works on them in turn and writes its answers into them, the parent takes them out. What is in
 * it outlives the child, so that another one can go on. The parent believes nothing in it: the
 * child may have gone mad.
 */
struct exchange;

enum exchange_kind {
	EXCHANGE_SKIP = 0, /* the rest of the ring's end */
	EXCHANGE_MAP,
	EXCHANGE_FORK,
	EXCHANGE_EXEC,
	EXCHANGE_EXIT,
	EXCHANGE_FORGET,
	EXCHANGE_SAMPLE,
};

/* In front of each entry; the parts of it follow, in one piece. */
struct exchange_entry {
	uint32_t size; /* of all, a multiple of 16 */
	uint32_t kind; /* enum exchange_kind */
	uint64_t data[];
};

/* bytes: how much it holds, a multiple of 4096. NULL: no memory. */
struct exchange *exchange__new(size_t bytes);

/* In the process that calls. Accepts NULL. */
void exchange__delete(struct exchange *exchange);

/*
 * The parent: room for an entry of that many bytes of data, zeroed but for its kind and size;
 * exchange__push() then makes it visible. NULL: fewer than that and reserve bytes are free.
 */
struct exchange_entry *exchange__room(struct exchange *exchange, uint32_t kind, size_t bytes,
				      size_t reserve);
void exchange__push(struct exchange *exchange);

/*
 * The parent: the oldest entry, which the child is done with if *done is set; NULL: there is
 * none. exchange__pop() frees its place, also if the child, which must be dead then, was not
 * done with it.
 */
struct exchange_entry *exchange__oldest(struct exchange *exchange, bool *done);
void exchange__pop(struct exchange *exchange);

/* The parent, when there is no child: drops all that is in the ring. */
void exchange__empty(struct exchange *exchange);

/* The parent: where the oldest entry and the one that was put last are; positions only rise. */
uint64_t exchange__oldest_position(const struct exchange *exchange);
uint64_t exchange__newest_position(const struct exchange *exchange);

/* The parent: bytes of the oldest entry's data, NULL: they are not all in the ring. */
const void *exchange__data(const struct exchange *exchange, size_t offset, size_t bytes);

/* The parent: how many entries have been done since ever; it shows that the child gets on. */
uint64_t exchange__nr_done(const struct exchange *exchange);

/*
 * The child: the next entry to be done, NULL: there is none. *fresh: it was put after the child
 * was made, so that the child, a copy of its parent, does not know of it. exchange__done()
 * gives it back.
 */
struct exchange_entry *exchange__next(struct exchange *exchange, bool *fresh);
void exchange__done(struct exchange *exchange);

/* The parent, right before it makes a child: what is in the ring will be known to it. */
void exchange__before_child(struct exchange *exchange);

/* Of both: whether the child has gone to sleep, and whether the parent is to be woken. */
bool exchange__child_sleeps(struct exchange *exchange);
void exchange__set_child_sleeps(struct exchange *exchange, bool sleeps);
bool exchange__ring_bell(struct exchange *exchange); /* true: it has not been rung yet */
void exchange__reset_bell(struct exchange *exchange);

/* A word that the child writes and the parent reads: which file it is at. */
volatile uint64_t *exchange__place(struct exchange *exchange);

#endif /* DENET_UNWIND_SHM_RING_H */
