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

static int add_owner(struct locks *locks, struct lock *lock, const struct sample *sample)
{
	const char *name = strings__get(&locks->strings, sample->reason->owner_comm);
	uint64_t *ns = name ? idmap__get(&lock->owners, (uintptr_t)name) : NULL;

	if (!ns)
		return -ENOMEM;
	*ns += sample->period;
	return 0;
}

int locks__add(struct locks *locks, const struct sample *sample, const char *process)
{
	const struct reason *reason = sample->reason;
	struct lock *lock;

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
	return *reason->owner_comm ? add_owner(locks, lock, sample) : 0;
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

const char *lock__owner(const struct lock *lock)
{
	const char *best = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < lock->owners.capacity; i++) {
		const struct idmap_slot *slot = &lock->owners.slots[i];
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
	}
	buffer__free(&locks->all);
	idmap__free(&locks->by_place);
	strings__free(&locks->strings);
}
