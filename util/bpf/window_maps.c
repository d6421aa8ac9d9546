/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/window_maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#include "bpf/map_batch.h"

/* Any update of a map of maps returns only after an RCU grace period. */
int generations__wait(const struct generations *generations)
{
	int inner = bpf_map__fd(generations->barrier_inner);
	__u32 zero = 0;

	return bpf_map_update_elem(bpf_map__fd(generations->barrier), &zero, &inner, BPF_ANY)
		       ? -errno
		       : 0;
}

int generations__swap(struct generations *generations)
{
	uint32_t old = *generations->current & 1;
	int err;

	*generations->current = old ^ 1;
	err = generations__wait(generations);
	return err ? err : (int)old;
}

bool generations__has_sums(const struct generations *generations)
{
	uint32_t gen = *generations->current & 1;

	for (int i = 0; i < GENERATIONS_ROOMS; i++) {
		if (generations->rooms[i].used[gen])
			return true;
	}
	return false;
}

uint32_t generations__sums(const struct generations *generations)
{
	return generations->rooms[GENERATIONS_SUMS].used[*generations->current & 1];
}

unsigned int generations__filled(const struct generations *generations)
{
	uint32_t gen = *generations->current & 1;
	uint64_t most = 0, percent;

	for (int i = 0; i < GENERATIONS_ROOMS; i++) {
		percent = 100ULL * generations->rooms[i].used[gen] /
			  bpf_map__max_entries(generations->rooms[i].maps[gen]);
		if (percent > most)
			most = percent;
	}
	return (unsigned int)most;
}

struct take_sums {
	generations_sum_fn fn;
	void *ctx;
};

static int take_batch(void *ctx, const struct batch *batch, uint32_t nr)
{
	const struct wire_entry_key *keys = batch->keys;
	const struct wire_entry *values = batch->values;
	struct take_sums *take = ctx;
	int err = 0;

	for (__u32 i = 0; i < nr && !err; i++)
		err = take->fn(take->ctx, &keys[i], &values[i]);
	return err;
}

int generations__take(struct generations *generations, unsigned int gen, generations_sum_fn fn,
		      void *ctx)
{
	struct take_sums take = { fn, ctx };
	int err = 0;

	for (int i = 0; i < GENERATIONS_ROOMS; i++) {
		if (!err && generations->rooms[i].used[gen])
			err = batch__take_all(generations->rooms[i].maps[gen],
					      i == GENERATIONS_SUMS ? take_batch : NULL, &take);
		generations->rooms[i].used[gen] = 0;
	}
	return err;
}
