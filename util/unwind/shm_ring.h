/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_UNWIND_SHM_RING_H
#define DENET_UNWIND_SHM_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A ring in memory shared by a process and its child: the parent puts entries, the child handles
 * them in order and writes its answers into them, the parent takes them out. The contents outlive
 * the child, so that another one can go on. The parent checks everything in the ring, since the
 * child may be broken.
 */
struct shm_ring;

enum shm_ring_kind {
	SHM_RING_SKIP = 0, /* the rest of the ring's end */
	SHM_RING_EVENT,
	SHM_RING_FORGET,
	SHM_RING_SAMPLE,
};

/* In front of each entry, whose data follow in one piece. */
struct shm_ring_entry {
	uint32_t size; /* of the whole entry, a multiple of 16 */
	uint32_t kind; /* enum shm_ring_kind */
	uint64_t data[];
};

/* bytes: its capacity, a multiple of 4096. NULL: no memory. */
struct shm_ring *shm_ring__new(size_t bytes);

/* Unmaps it in the calling process. Accepts NULL. */
void shm_ring__delete(struct shm_ring *shm_ring);

/*
 * The parent: room for an entry of that many bytes of data, zeroed but for its kind and size;
 * shm_ring__push() then makes it visible. NULL: fewer than that and reserve bytes are free.
 */
struct shm_ring_entry *shm_ring__room(struct shm_ring *shm_ring, uint32_t kind, size_t bytes,
				      size_t reserve);
void shm_ring__push(struct shm_ring *shm_ring);

/*
 * The parent: the oldest entry, and whether the child is done with it; NULL: the ring is empty.
 * shm_ring__pop() removes it; if it is not done, the child must be dead.
 */
struct shm_ring_entry *shm_ring__oldest(struct shm_ring *shm_ring, bool *done);
void shm_ring__pop(struct shm_ring *shm_ring);

/* The parent, when there is no child: removes all entries. */
void shm_ring__empty(struct shm_ring *shm_ring);

/* The parent: positions of the oldest and of the newest entry; they only rise. */
uint64_t shm_ring__oldest_position(const struct shm_ring *shm_ring);
uint64_t shm_ring__newest_position(const struct shm_ring *shm_ring);

/* The parent: bytes of the oldest entry's data, NULL: they are not all in the ring. */
const void *shm_ring__data(const struct shm_ring *shm_ring, size_t offset, size_t bytes);

/* The parent: number of entries ever done; it shows that the child makes progress. */
uint64_t shm_ring__nr_done(const struct shm_ring *shm_ring);

/*
 * The child: the next entry; NULL: none. *fresh: it was put after the child was forked, so that the
 * child's state does not include it. shm_ring__done() gives it back.
 */
struct shm_ring_entry *shm_ring__next(struct shm_ring *shm_ring, bool *fresh);
void shm_ring__done(struct shm_ring *shm_ring);

/* The parent, right before it forks a child: the child will know all entries in the ring. */
void shm_ring__before_child(struct shm_ring *shm_ring);

/* Both sides: whether the child sleeps, and whether the parent must be woken. */
bool shm_ring__child_sleeps(struct shm_ring *shm_ring);
void shm_ring__set_child_sleeps(struct shm_ring *shm_ring, bool sleeps);
bool shm_ring__ring_bell(struct shm_ring *shm_ring); /* true: not rung since the last reset */
void shm_ring__reset_bell(struct shm_ring *shm_ring);

/* A word that the child writes and the parent reads: the id of the file it is reading. */
volatile uint64_t *shm_ring__place(struct shm_ring *shm_ring);

#endif /* DENET_UNWIND_SHM_RING_H */
