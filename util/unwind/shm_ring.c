/* SPDX-License-Identifier: GPL-2.0-only */
#include "unwind/shm_ring.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGN 16

/*
 * Positions count the bytes since ever; modulo the size they are places in data. An entry never
 * goes around the end.
 */
struct shared {
	uint64_t pushed;   /* the parent's: what is below it can be read */
	uint64_t done;	   /* the child's: what is below it has been done */
	uint64_t nr_done;  /* entries */
	uint32_t sleeping; /* the child waits to be woken */
	uint32_t rung;	   /* the parent has been told that something is done */
	uint64_t place;
	char data[] __attribute__((aligned(ALIGN)));
};

struct exchange {
	struct shared *shared;
	size_t size;
	uint64_t head; /* the parent's end; what is beyond pushed is being written */
	uint64_t newest; /* where the last entry begins */
	uint64_t tail; /* the parent has taken out what is below */
	uint64_t known; /* what is below was put before the child was made */
};

struct exchange *exchange__new(size_t bytes)
{
	struct exchange *exchange = calloc(1, sizeof(*exchange));
	void *room;

	if (!exchange)
		return NULL;
	exchange->size = bytes;
	room = mmap(NULL, sizeof(struct shared) + bytes, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED) {
		free(exchange);
		return NULL;
	}
	exchange->shared = room;
	return exchange;
}

void exchange__delete(struct exchange *exchange)
{
	if (!exchange)
		return;
	munmap(exchange->shared, sizeof(struct shared) + exchange->size);
	free(exchange);
}

static struct exchange_entry *entry_at(const struct exchange *exchange, uint64_t position)
{
	return (struct exchange_entry *)(void *)&exchange->shared->data[position % exchange->size];
}

static size_t left_at_end(const struct exchange *exchange, uint64_t position)
{
	return exchange->size - position % exchange->size;
}

struct exchange_entry *exchange__room(struct exchange *exchange, uint32_t kind, size_t bytes,
				      size_t reserve)
{
	size_t size = (sizeof(struct exchange_entry) + bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	size_t end = left_at_end(exchange, exchange->head), skip = end < size ? end : 0;
	struct exchange_entry *entry;

	if (exchange->head + skip + size + reserve > exchange->tail + exchange->size)
		return NULL;
	if (skip) {
		entry = entry_at(exchange, exchange->head);
		*entry = (struct exchange_entry){ .size = (uint32_t)skip, .kind = EXCHANGE_SKIP };
		exchange->head += skip;
	}
	exchange->newest = exchange->head;
	entry = entry_at(exchange, exchange->head);
	memset(entry, 0, size);
	entry->size = (uint32_t)size;
	entry->kind = kind;
	exchange->head += size;
	return entry;
}

void exchange__push(struct exchange *exchange)
{
	__atomic_store_n(&exchange->shared->pushed, exchange->head, __ATOMIC_SEQ_CST);
}

/* What a child that went mad has written is no position of ours; it is done with nothing then. */
static uint64_t position_done(const struct exchange *exchange)
{
	uint64_t done = __atomic_load_n(&exchange->shared->done, __ATOMIC_ACQUIRE);

	return done >= exchange->tail && done <= exchange->head ? done : exchange->tail;
}

/* The same for a size: the rest of the ring is skipped, which loses what is in it. */
static uint32_t size_of(const struct exchange *exchange, const struct exchange_entry *entry)
{
	uint64_t left = exchange->head - exchange->tail;
	uint32_t size = entry->size;

	if (size < sizeof(*entry) || size % ALIGN || size > left ||
	    size > left_at_end(exchange, exchange->tail))
		return 0;
	return size;
}

struct exchange_entry *exchange__oldest(struct exchange *exchange, bool *done)
{
	struct exchange_entry *entry;

	*done = false;
	if (exchange->tail == exchange->head)
		return NULL;
	entry = entry_at(exchange, exchange->tail);
	*done = position_done(exchange) > exchange->tail;
	return entry;
}

uint64_t exchange__oldest_position(const struct exchange *exchange)
{
	return exchange->tail;
}

uint64_t exchange__newest_position(const struct exchange *exchange)
{
	return exchange->newest;
}

const void *exchange__data(const struct exchange *exchange, size_t offset, size_t bytes)
{
	const struct exchange_entry *entry = entry_at(exchange, exchange->tail);
	size_t left = left_at_end(exchange, exchange->tail) - sizeof(*entry);

	if (offset > left || bytes > left - offset)
		return NULL;
	return (const char *)entry->data + offset;
}

void exchange__pop(struct exchange *exchange)
{
	uint32_t size = size_of(exchange, entry_at(exchange, exchange->tail));

	exchange->tail = size ? exchange->tail + size : exchange->head;
	if (__atomic_load_n(&exchange->shared->done, __ATOMIC_ACQUIRE) < exchange->tail)
		__atomic_store_n(&exchange->shared->done, exchange->tail, __ATOMIC_RELEASE);
}

void exchange__empty(struct exchange *exchange)
{
	exchange->tail = exchange->head;
	__atomic_store_n(&exchange->shared->done, exchange->tail, __ATOMIC_RELEASE);
}

uint64_t exchange__nr_done(const struct exchange *exchange)
{
	return __atomic_load_n(&exchange->shared->nr_done, __ATOMIC_RELAXED);
}

struct exchange_entry *exchange__next(struct exchange *exchange, bool *fresh)
{
	uint64_t pushed = __atomic_load_n(&exchange->shared->pushed, __ATOMIC_SEQ_CST);
	uint64_t at = exchange->shared->done;

	*fresh = at >= exchange->known;
	return at < pushed ? entry_at(exchange, at) : NULL;
}

void exchange__done(struct exchange *exchange)
{
	uint64_t at = exchange->shared->done;

	__atomic_fetch_add(&exchange->shared->nr_done, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&exchange->shared->done, at + entry_at(exchange, at)->size,
			 __ATOMIC_RELEASE);
}

void exchange__before_child(struct exchange *exchange)
{
	exchange->known = exchange->head;
	/* The one before may have written anything there. */
	__atomic_store_n(&exchange->shared->done, position_done(exchange), __ATOMIC_RELEASE);
	exchange->shared->sleeping = 0;
	exchange->shared->place = 0;
}

bool exchange__child_sleeps(struct exchange *exchange)
{
	return __atomic_load_n(&exchange->shared->sleeping, __ATOMIC_SEQ_CST);
}

void exchange__set_child_sleeps(struct exchange *exchange, bool sleeps)
{
	__atomic_store_n(&exchange->shared->sleeping, sleeps, __ATOMIC_SEQ_CST);
}

bool exchange__ring_bell(struct exchange *exchange)
{
	return !__atomic_exchange_n(&exchange->shared->rung, 1, __ATOMIC_SEQ_CST);
}

void exchange__reset_bell(struct exchange *exchange)
{
	__atomic_store_n(&exchange->shared->rung, 0, __ATOMIC_SEQ_CST);
}

volatile uint64_t *exchange__place(struct exchange *exchange)
{
	return &exchange->shared->place;
}
