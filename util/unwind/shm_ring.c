/* SPDX-License-Identifier: GPL-2.0-only */
#include "unwind/shm_ring.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGN 16
/*
 * An empty ring begins anew once one part of so many has been used. Each time adds up to its size
 * to the positions, which at every entry would come around in months.
 */
#define PARTS 16

/*
 * Positions count all bytes ever put; modulo the size they are offsets in data. An entry never
 * wraps around the end.
 */
struct shared {
	uint64_t pushed;   /* written by the parent: entries below can be read */
	uint64_t done;	   /* written by the child: entries below are done */
	uint64_t nr_done;  /* entries */
	uint32_t sleeping; /* the child waits to be woken */
	uint32_t rung;	   /* the child has woken the parent since its last look */
	uint64_t place;
	char data[] __attribute__((aligned(ALIGN)));
};

struct shm_ring {
	struct shared *shared;
	size_t size;
	uint64_t head; /* the parent's end; entries beyond pushed are being written */
	uint64_t newest; /* where the last entry begins */
	uint64_t tail; /* the parent has removed the entries below */
	uint64_t known; /* entries below were put before the child was made */
};

struct shm_ring *shm_ring__new(size_t bytes)
{
	struct shm_ring *shm_ring = calloc(1, sizeof(*shm_ring));
	void *room;

	if (!shm_ring)
		return NULL;
	shm_ring->size = bytes;
	room = mmap(NULL, sizeof(struct shared) + bytes, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED) {
		free(shm_ring);
		return NULL;
	}
	shm_ring->shared = room;
	return shm_ring;
}

void shm_ring__delete(struct shm_ring *shm_ring)
{
	if (!shm_ring)
		return;
	munmap(shm_ring->shared, sizeof(struct shared) + shm_ring->size);
	free(shm_ring);
}

static struct shm_ring_entry *entry_at(const struct shm_ring *shm_ring, uint64_t position)
{
	return (struct shm_ring_entry *)(void *)&shm_ring->shared->data[position % shm_ring->size];
}

static size_t left_at_end(const struct shm_ring *shm_ring, uint64_t position)
{
	return shm_ring->size - position % shm_ring->size;
}

/*
 * An empty ring begins anew at its first byte: otherwise each of its pages would be written to in
 * time, and stay in memory. The child does not write its position meanwhile: it has done all
 * entries, and waits for the next one.
 */
static void rewind_empty(struct shm_ring *shm_ring)
{
	if (shm_ring->tail != shm_ring->head ||
	    shm_ring->head % shm_ring->size < shm_ring->size / PARTS)
		return;
	shm_ring->head += left_at_end(shm_ring, shm_ring->head);
	shm_ring->tail = shm_ring->head;
	__atomic_store_n(&shm_ring->shared->done, shm_ring->tail, __ATOMIC_RELEASE);
}

struct shm_ring_entry *shm_ring__room(struct shm_ring *shm_ring, uint32_t kind, size_t bytes,
				      size_t reserve)
{
	size_t size = (sizeof(struct shm_ring_entry) + bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	size_t end, skip;
	struct shm_ring_entry *entry;

	rewind_empty(shm_ring);
	end = left_at_end(shm_ring, shm_ring->head);
	skip = end < size ? end : 0;
	if (shm_ring->head + skip + size + reserve > shm_ring->tail + shm_ring->size)
		return NULL;
	if (skip) {
		entry = entry_at(shm_ring, shm_ring->head);
		*entry = (struct shm_ring_entry){ .size = (uint32_t)skip, .kind = SHM_RING_SKIP };
		shm_ring->head += skip;
	}
	shm_ring->newest = shm_ring->head;
	entry = entry_at(shm_ring, shm_ring->head);
	memset(entry, 0, size);
	entry->size = (uint32_t)size;
	entry->kind = kind;
	shm_ring->head += size;
	return entry;
}

void shm_ring__push(struct shm_ring *shm_ring)
{
	__atomic_store_n(&shm_ring->shared->pushed, shm_ring->head, __ATOMIC_SEQ_CST);
}

/* The position of the child; if a broken child wrote a wrong one, the tail: nothing is done. */
static uint64_t position_done(const struct shm_ring *shm_ring)
{
	uint64_t done = __atomic_load_n(&shm_ring->shared->done, __ATOMIC_ACQUIRE);

	return done >= shm_ring->tail && done <= shm_ring->head ? done : shm_ring->tail;
}

/* The same for a size: an invalid one skips, and loses, the rest of the ring. */
static uint32_t size_of(const struct shm_ring *shm_ring, const struct shm_ring_entry *entry)
{
	uint64_t left = shm_ring->head - shm_ring->tail;
	uint32_t size = entry->size;

	if (size < sizeof(*entry) || size % ALIGN || size > left ||
	    size > left_at_end(shm_ring, shm_ring->tail))
		return 0;
	return size;
}

struct shm_ring_entry *shm_ring__oldest(struct shm_ring *shm_ring, bool *done)
{
	struct shm_ring_entry *entry;

	*done = false;
	if (shm_ring->tail == shm_ring->head)
		return NULL;
	entry = entry_at(shm_ring, shm_ring->tail);
	*done = position_done(shm_ring) > shm_ring->tail;
	return entry;
}

uint64_t shm_ring__oldest_position(const struct shm_ring *shm_ring)
{
	return shm_ring->tail;
}

uint64_t shm_ring__newest_position(const struct shm_ring *shm_ring)
{
	return shm_ring->newest;
}

const void *shm_ring__data(const struct shm_ring *shm_ring, size_t offset, size_t bytes)
{
	const struct shm_ring_entry *entry = entry_at(shm_ring, shm_ring->tail);
	size_t left = left_at_end(shm_ring, shm_ring->tail) - sizeof(*entry);

	if (offset > left || bytes > left - offset)
		return NULL;
	return (const char *)entry->data + offset;
}

void shm_ring__pop(struct shm_ring *shm_ring)
{
	uint32_t size = size_of(shm_ring, entry_at(shm_ring, shm_ring->tail));

	shm_ring->tail = size ? shm_ring->tail + size : shm_ring->head;
	if (__atomic_load_n(&shm_ring->shared->done, __ATOMIC_ACQUIRE) < shm_ring->tail)
		__atomic_store_n(&shm_ring->shared->done, shm_ring->tail, __ATOMIC_RELEASE);
}

void shm_ring__empty(struct shm_ring *shm_ring)
{
	shm_ring->tail = shm_ring->head;
	__atomic_store_n(&shm_ring->shared->done, shm_ring->tail, __ATOMIC_RELEASE);
}

uint64_t shm_ring__nr_done(const struct shm_ring *shm_ring)
{
	return __atomic_load_n(&shm_ring->shared->nr_done, __ATOMIC_RELAXED);
}

struct shm_ring_entry *shm_ring__next(struct shm_ring *shm_ring, bool *fresh)
{
	uint64_t pushed = __atomic_load_n(&shm_ring->shared->pushed, __ATOMIC_SEQ_CST);
	uint64_t at = shm_ring->shared->done;

	*fresh = at >= shm_ring->known;
	return at < pushed ? entry_at(shm_ring, at) : NULL;
}

void shm_ring__done(struct shm_ring *shm_ring)
{
	uint64_t at = shm_ring->shared->done;

	__atomic_fetch_add(&shm_ring->shared->nr_done, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&shm_ring->shared->done, at + entry_at(shm_ring, at)->size,
			 __ATOMIC_RELEASE);
}

void shm_ring__before_child(struct shm_ring *shm_ring)
{
	shm_ring->known = shm_ring->head;
	/* The previous child may have written anything there. */
	__atomic_store_n(&shm_ring->shared->done, position_done(shm_ring), __ATOMIC_RELEASE);
	shm_ring->shared->sleeping = 0;
	shm_ring->shared->place = 0;
}

bool shm_ring__child_sleeps(struct shm_ring *shm_ring)
{
	return __atomic_load_n(&shm_ring->shared->sleeping, __ATOMIC_SEQ_CST);
}

void shm_ring__set_child_sleeps(struct shm_ring *shm_ring, bool sleeps)
{
	__atomic_store_n(&shm_ring->shared->sleeping, sleeps, __ATOMIC_SEQ_CST);
}

bool shm_ring__ring_bell(struct shm_ring *shm_ring)
{
	return !__atomic_exchange_n(&shm_ring->shared->rung, 1, __ATOMIC_SEQ_CST);
}

void shm_ring__reset_bell(struct shm_ring *shm_ring)
{
	__atomic_store_n(&shm_ring->shared->rung, 0, __ATOMIC_SEQ_CST);
}

volatile uint64_t *shm_ring__place(struct shm_ring *shm_ring)
{
	return &shm_ring->shared->place;
}
