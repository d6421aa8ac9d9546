/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/running.h"

#include <errno.h>
#include <stdlib.h>

#include "base/minmax.h"

/*
 * A thread that ends while a window does may have looks in the next one, which must not count its
 * time again.
 */
#define WINDOWS_KEPT 2

struct running_thread {
	uint64_t incarnation; /* 0: the entry is free, and looks is the next free one */
	uint64_t run_ns;      /* of its life, as known so far */
	uint64_t told_ns;     /* of it, delivered in periods */
	uint64_t looks;	      /* of the window */
	uint64_t given;	      /* of these, those with a share so far */
	int windows_left; /* windows until an ended thread is forgotten; 0: alive */
	struct wire_run last; /* its latest record */
};

/* An entry of running__add_sum(). */
struct sum {
	struct wire_entry_key key;
	struct wire_entry entry;
};

static size_t take_place(struct running *running)
{
	size_t place = running->free_place, capacity = running->capacity ? running->capacity * 2
									 : 64;
	struct running_thread *pool;

	if (place) {
		running->free_place = running->pool[place - 1].looks;
		return place;
	}
	if (running->nr == running->capacity) {
		pool = realloc(running->pool, capacity * sizeof(*pool));
		if (!pool)
			return 0;
		running->pool = pool;
		running->capacity = capacity;
	}
	return ++running->nr;
}

/* The thread of an incarnation, made if it is new; NULL: no memory. */
static struct running_thread *find(struct running *running, uint64_t incarnation)
{
	uint64_t *place = idmap__get(&running->threads, incarnation);
	struct running_thread *thread;

	if (!place)
		return NULL;
	if (*place)
		return &running->pool[*place - 1];
	*place = take_place(running);
	if (!*place) {
		idmap__remove(&running->threads, incarnation);
		return NULL;
	}
	thread = &running->pool[*place - 1];
	*thread = (struct running_thread){ .incarnation = incarnation };
	return thread;
}

static void forget(struct running *running, struct running_thread *thread)
{
	idmap__remove(&running->threads, thread->incarnation);
	*thread = (struct running_thread){ .looks = running->free_place };
	running->free_place = (size_t)(thread - running->pool) + 1;
}

int running__add_sum(struct running *running, const struct wire_entry_key *key,
		     const struct wire_entry *entry)
{
	const struct sum sum = { *key, *entry };
	struct running_thread *thread = find(running, key->incarnation);

	if (!thread || buffer__append(&running->sums, &sum, sizeof(sum)))
		return -ENOMEM;
	thread->run_ns = max_u64(thread->run_ns, entry->ns);
	thread->looks += entry->count;
	return 0;
}

uint64_t running__tell(struct running *running, uint64_t incarnation, uint64_t run_ns)
{
	struct running_thread *thread = find(running, incarnation);
	uint64_t period;

	if (!thread)
		return 0;
	thread->run_ns = max_u64(thread->run_ns, run_ns);
	period = run_ns > thread->told_ns ? run_ns - thread->told_ns : 0;
	thread->told_ns += period;
	return period;
}

static void count_life(struct running *running, const struct wire_run *run)
{
	int64_t left = (int64_t)(run->life_ns - run->run_ns - run->rest_ns);

	running->lives++;
	running->life_ns += run->life_ns;
	running->run_ns += run->run_ns;
	running->rest_ns += run->rest_ns;
	running->uneven += left != 0;
	running->unaccounted_ns += (uint64_t)(left < 0 ? -left : left);
}

int running__take(struct running *running, const struct wire_run *run)
{
	struct running_thread *thread = find(running, run->incarnation);

	if (!thread)
		return -ENOMEM;
	thread->run_ns = max_u64(thread->run_ns, run->run_ns);
	thread->last = *run;
	if (run->life_ns) {
		thread->windows_left = WINDOWS_KEPT;
		count_life(running, run);
	}
	return 0;
}

/* The share of so many looks in the time of all of them. Rounded shares add up exactly. */
static uint64_t take_share(struct running_thread *thread, uint64_t looks)
{
	unsigned __int128 ns = thread->run_ns - thread->told_ns;
	uint64_t before = (uint64_t)(ns * thread->given / thread->looks);

	thread->given += looks;
	return (uint64_t)(ns * thread->given / thread->looks) - before;
}

static int give_sums(struct running *running, const struct running_sink *sink)
{
	const struct sum *sums = (const struct sum *)(const void *)running->sums.data;
	size_t nr = running->sums.len / sizeof(*sums);
	uint64_t period;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		struct running_thread *thread = find(running, sums[i].key.incarnation);

		if (!thread)
			return -ENOMEM;
		period = take_share(thread, sums[i].entry.count);
		if (period)
			err = sink->sum(sink->ctx, &sums[i].key, &sums[i].entry, period);
	}
	return err;
}

static int end_window_of(struct running *running, struct running_thread *thread,
			 const struct running_sink *sink)
{
	uint64_t left = thread->run_ns - thread->told_ns;
	bool sampled = thread->looks;
	int err = 0;

	thread->told_ns = thread->run_ns;
	thread->looks = thread->given = 0;
	if (left && !sampled)
		err = sink->not_sampled(sink->ctx, &thread->last, left);
	if (thread->windows_left && !--thread->windows_left)
		forget(running, thread);
	return err;
}

int running__end_window(struct running *running, const struct running_sink *sink)
{
	int err = give_sums(running, sink);

	running->sums.len = 0;
	for (size_t i = 0; i < running->nr && !err; i++) {
		if (running->pool[i].incarnation)
			err = end_window_of(running, &running->pool[i], sink);
	}
	return err;
}

void running__free(struct running *running)
{
	idmap__free(&running->threads);
	buffer__free(&running->sums);
	free(running->pool);
	*running = (struct running){ 0 };
}
