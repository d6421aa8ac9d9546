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
struct shm_ring;

enum shm_ring_kind {
	SHM_RING_SKIP = 0, /* the rest of the ring's end */
	SHM_RING_EVENT,
	SHM_RING_FORGET,
	SHM_RING_SAMPLE,
};

/* In front of each entry; the parts of it follow, in one piece. */
struct shm_ring_entry {
	uint32_t size; /* of all, a multiple of 16 */
	uint32_t kind; /* enum exchange_kind */
	uint64_t data[];
};

/* bytes: how much it holds, a multiple of 4096. NULL: no memory. */
struct shm_ring *shm_ring__new(size_t bytes);

/* In the process that calls. Accepts NULL. */
void shm_ring__delete(struct shm_ring *shm_ring);

/*
 * The parent: room for an entry of that many bytes of data, zeroed but for its kind and size;
 * shm_ring__push() then makes it visible. NULL: fewer than that and reserve bytes are free.
 */
struct shm_ring_entry *shm_ring__room(struct shm_ring *shm_ring, uint32_t kind, size_t bytes,
				      size_t reserve);
void shm_ring__push(struct shm_ring *shm_ring);

/*
 * The parent: the oldest entry, which the child is done with if *done is set; NULL: there is
 * none. shm_ring__pop() frees its place, also if the child, which must be dead then, was not
 * done with it.
 */
struct shm_ring_entry *shm_ring__oldest(struct shm_ring *shm_ring, bool *done);
void shm_ring__pop(struct shm_ring *shm_ring);

/* The parent, when there is no child: drops all that is in the ring. */
void shm_ring__empty(struct shm_ring *shm_ring);

/* The parent: where the oldest entry and the one that was put last are; positions only rise. */
uint64_t shm_ring__oldest_position(const struct shm_ring *shm_ring);
uint64_t shm_ring__newest_position(const struct shm_ring *shm_ring);

/* The parent: bytes of the oldest entry's data, NULL: they are not all in the ring. */
const void *shm_ring__data(const struct shm_ring *shm_ring, size_t offset, size_t bytes);

/* The parent: how many entries have been done since ever; it shows that the child gets on. */
uint64_t shm_ring__nr_done(const struct shm_ring *shm_ring);

/*
 * The child: the next entry to be done, NULL: there is none. *fresh: it was put after the child
 * was made, so that the child, a copy of its parent, does not know of it. shm_ring__done()
 * gives it back.
 */
struct shm_ring_entry *shm_ring__next(struct shm_ring *shm_ring, bool *fresh);
void shm_ring__done(struct shm_ring *shm_ring);

/* The parent, right before it makes a child: what is in the ring will be known to it. */
void shm_ring__before_child(struct shm_ring *shm_ring);

/* Of both: whether the child has gone to sleep, and whether the parent is to be woken. */
bool shm_ring__child_sleeps(struct shm_ring *shm_ring);
void shm_ring__set_child_sleeps(struct shm_ring *shm_ring, bool sleeps);
bool shm_ring__ring_bell(struct shm_ring *shm_ring); /* true: it has not been rung yet */
void shm_ring__reset_bell(struct shm_ring *shm_ring);

/* A word that the child writes and the parent reads: which file it is at. */
volatile uint64_t *shm_ring__place(struct shm_ring *shm_ring);

#endif /* DENET_UNWIND_SHM_RING_H */
