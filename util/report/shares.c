/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/shares.h"

#include <errno.h>
#include <stdlib.h>

#include "report/rows.h"
#include "report/shown_event.h"

/* The share that an event's time goes to; NULL: none. */
static struct share *share_of(struct shares *shares, enum profile_event event, char state)
{
	switch (event) {
	case PROFILE_ONCPU:
		return &shares->running;
	case PROFILE_QUEUED:
		return &shares->runnable;
	case PROFILE_IDLE:
		return &shares->idle;
	case PROFILE_OFFCPU:
		return state == 'R' ? &shares->runnable : &shares->blocked;
	default:
		return NULL;
	}
}

static int add_entry(struct shares *shares, const struct profile *profile,
		     const struct profile_entry *entry, uint32_t *labels)
{
	size_t nr = profile__labels(profile, entry->stack, labels, SIZE_MAX);
	struct share *share =
		share_of(shares, shown_event__of(profile, entry, labels, nr), entry->state);

	if (!share)
		return 0;
	if (share == &shares->running)
		shares->looks += entry->blocks;
	share->ns += entry->ns;
	if (row__is_whole(profile, entry))
		share->whole_ns += entry->ns;
	return idmap__get(&share->tids, entry->tid) ? 0 : -ENOMEM;
}

static int count_threads(struct shares *shares, bool with_idle)
{
	const struct share *const shown[] = { &shares->running, &shares->runnable,
					      &shares->blocked, &shares->idle };
	struct idmap tids = { 0 };
	int err = 0;

	for (int i = 0; i < 3 + with_idle && !err; i++) {
		for (size_t j = 0; j < shown[i]->tids.capacity && !err; j++) {
			uint64_t tid = shown[i]->tids.slots[j].id;

			if (tid != IDMAP_NONE && !idmap__get(&tids, tid))
				err = -ENOMEM;
		}
		shares->total += shown[i]->ns;
	}
	shares->threads = tids.used;
	idmap__free(&tids);
	return err;
}

int shares__make(struct shares *shares, const struct profile *profile, bool with_idle)
{
	uint32_t *labels = calloc(profile__depth(profile) + 1, sizeof(*labels));
	const struct profile_entry *entries;
	size_t nr;
	int err = labels ? 0 : -ENOMEM;

	entries = profile__entries(profile, &nr);
	for (size_t i = 0; i < nr && !err; i++)
		err = add_entry(shares, profile, &entries[i], labels);
	free(labels);
	return err ? err : count_threads(shares, with_idle);
}

void shares__free(struct shares *shares)
{
	idmap__free(&shares->running.tids);
	idmap__free(&shares->runnable.tids);
	idmap__free(&shares->blocked.tids);
	idmap__free(&shares->idle.tids);
}
