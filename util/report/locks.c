/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/locks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"

static struct lock *at(const struct locks *locks, size_t i)
{
	return (struct lock *)locks->all.data + i;
}

/* The lock of a process at an address. NULL: no memory. */
static struct lock *get(struct locks *locks, uint32_t pid, uint64_t address)
{
	uint64_t key = (address ^ pid) * 0x9e3779b97f4a7c15ULL, *index;
	const struct lock lock = { .pid = pid, .address = address, .process = "", .object = "" };

	for (;; key++) {
		index = idmap__get(&locks->by_place, key == IDMAP_NONE ? key = 0 : key);
		if (!index)
			return NULL;
		if (!*index)
			break;
		if (at(locks, *index - 1)->pid == pid && at(locks, *index - 1)->address == address)
			return at(locks, *index - 1);
	}
	if (buffer__append(&locks->all, &lock, sizeof(lock)))
		return NULL;
	*index = locks__nr(locks);
	return at(locks, *index - 1);
}

static int add_name(struct locks *locks, struct idmap *names, const char *name, uint64_t period)
{
	const char *kept = strings__get(&locks->strings, name);
	uint64_t *ns = kept ? idmap__get(names, (uintptr_t)kept) : NULL;

	if (!ns)
		return -ENOMEM;
	*ns += period;
	return 0;
}

/* Both samples tell when the block began, to the ns. */
static uint64_t start_of(const struct sample *sample)
{
	return sample->time - sample->period;
}

int locks__add_wakeup(struct locks *locks, const struct sample *sample, const char *waker)
{
	uint64_t *name;

	if (sample->count != 1)
		return 0;
	waker = strings__get(&locks->strings, waker);
	name = waker ? idmap__get(&locks->wakers, start_of(sample)) : NULL;
	if (!name)
		return -ENOMEM;
	*name = (uintptr_t)waker;
	return 0;
}

static int add_releaser(struct locks *locks, struct lock *lock, const struct sample *sample)
{
	const uint64_t *name = idmap__find(&locks->wakers, start_of(sample));

	if (!name || sample->count != 1)
		return 0;
	return add_name(locks, &lock->releasers, (const char *)(uintptr_t)*name, sample->period);
}

int locks__add(struct locks *locks, const struct sample *sample, const char *process)
{
	const struct reason *reason = sample->reason;
	struct lock *lock;
	int err;

	if (sample->kind != SAMPLE_OFFCPU || !reason || !reason->futex)
		return 0;
	lock = get(locks, sample->pid, reason->args[0]);
	if (!lock || !idmap__get(&lock->waiters, sample->tid))
		return -ENOMEM;
	lock->process = strings__get(&locks->strings, process);
	if (*reason->futex_at)
		lock->object = strings__get(&locks->strings, reason->futex_at);
	if (!lock->process || !lock->object)
		return -ENOMEM;
	lock->ns += sample->period;
	lock->blocks += sample->count;
	if (sample->count == 1)
		lock->longest = max_u64(lock->longest, sample->period);
	else if (sample->count)
		lock->mean = max_u64(lock->mean, sample->period / sample->count);
	err = add_releaser(locks, lock, sample);
	if (!err && *reason->owner_comm)
		err = add_name(locks, &lock->owners, reason->owner_comm, sample->period);
	return err;
}

static int compare(const void *a, const void *b)
{
	const struct lock *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

void locks__sort(struct locks *locks)
{
	if (locks->all.len)
		qsort(locks->all.data, locks__nr(locks), sizeof(struct lock), compare);
}

size_t locks__nr(const struct locks *locks)
{
	return locks->all.len / sizeof(struct lock);
}

const struct lock *locks__at(const struct locks *locks, size_t i)
{
	return at(locks, i);
}

const char *lock__most_of(const struct idmap *names)
{
	const char *best = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < names->capacity; i++) {
		const struct idmap_slot *slot = &names->slots[i];
		const char *name = (const char *)(uintptr_t)slot->id;

		if (slot->id == IDMAP_NONE || slot->value < most)
			continue;
		if (!best || slot->value > most || strcmp(name, best) < 0)
			best = name;
		most = slot->value;
	}
	return best;
}

void locks__free(struct locks *locks)
{
	for (size_t i = 0; i < locks__nr(locks); i++) {
		idmap__free(&at(locks, i)->waiters);
		idmap__free(&at(locks, i)->owners);
		idmap__free(&at(locks, i)->releasers);
	}
	buffer__free(&locks->all);
	idmap__free(&locks->by_place);
	idmap__free(&locks->wakers);
	strings__free(&locks->strings);
}
