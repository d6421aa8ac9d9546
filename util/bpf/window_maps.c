/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/window_maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

/* Initial number of entries that one system call takes out of a map. */
#define BATCH 512

/* Keys and values of a hash map, side by side, from one system call. */
struct batch {
	void *keys;
	void *values;
	uint32_t capacity;
};

typedef int (*batch_fn)(void *ctx, const struct batch *batch, uint32_t nr);

static int resize_batch(struct batch *batch, const struct bpf_map *map, __u32 capacity)
{
	free(batch->keys);
	free(batch->values);
	batch->keys = calloc(capacity, bpf_map__key_size(map));
	batch->values = calloc(capacity, bpf_map__value_size(map));
	batch->capacity = capacity;
	return batch->keys && batch->values ? 0 : -ENOMEM;
}

/*
 * Takes everything out of a hash map and passes it to fn (NULL: drops it). A bucket with more
 * entries than a batch gives ENOSPC, and the batch is doubled.
 */
static int take_all(struct bpf_map *map, batch_fn fn, void *ctx)
{
	struct batch batch = { 0 };
	__u32 cookie = 0, next = 0, nr;
	bool first = true;
	int err, ret;

	err = resize_batch(&batch, map, BATCH);
	while (!err) {
		nr = batch.capacity;
		ret = bpf_map_lookup_and_delete_batch(bpf_map__fd(map), first ? NULL : &cookie,
						      &next, batch.keys, batch.values, &nr, NULL);
		if (ret && errno == ENOSPC) {
			err = resize_batch(&batch, map, batch.capacity * 2);
			continue;
		}
		if (ret && errno != ENOENT) {
			err = -errno;
			break;
		}
		err = fn ? fn(ctx, &batch, nr) : 0;
		if (ret)
			break;
		cookie = next;
		first = false;
	}
	free(batch.keys);
	free(batch.values);
	return err;
}

/* Any update of a map of maps returns only after an RCU grace period. */
int window_maps__wait(const struct window_maps *window_maps)
{
	int inner = bpf_map__fd(window_maps->barrier_inner);
	__u32 zero = 0;

	return bpf_map_update_elem(bpf_map__fd(window_maps->barrier), &zero, &inner, BPF_ANY)
		       ? -errno
		       : 0;
}

int window_maps__swap(struct window_maps *window_maps)
{
	uint32_t old = *window_maps->current & 1;
	int err;

	*window_maps->current = old ^ 1;
	err = window_maps__wait(window_maps);
	return err ? err : (int)old;
}

bool window_maps__has_sums(const struct window_maps *window_maps)
{
	uint32_t gen = *window_maps->current & 1;

	for (int i = 0; i < WINDOW_ROOMS; i++) {
		if (window_maps->rooms[i].used[gen])
			return true;
	}
	return false;
}

uint32_t window_maps__sums(const struct window_maps *window_maps)
{
	return window_maps->rooms[WINDOW_SUMS].used[*window_maps->current & 1];
}

unsigned int window_maps__percent_used(const struct window_maps *window_maps)
{
	uint32_t gen = *window_maps->current & 1;
	uint64_t most = 0, percent;

	for (int i = 0; i < WINDOW_ROOMS; i++) {
		percent = 100ULL * window_maps->rooms[i].used[gen] /
			  bpf_map__max_entries(window_maps->rooms[i].maps[gen]);
		if (percent > most)
			most = percent;
	}
	return (unsigned int)most;
}

struct take_sums {
	window_sum_fn fn;
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

int window_maps__take(struct window_maps *window_maps, unsigned int gen, window_sum_fn fn,
		      void *ctx)
{
	struct take_sums take = { fn, ctx };
	int err = 0;

	for (int i = 0; i < WINDOW_ROOMS; i++) {
		if (!err && window_maps->rooms[i].used[gen])
			err = take_all(window_maps->rooms[i].maps[gen],
					      i == WINDOW_SUMS ? take_batch : NULL, &take);
		window_maps->rooms[i].used[gen] = 0;
	}
	return err;
}
