/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/map_batch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define BATCH 512

static int map_batch__resize(struct batch *batch, const struct bpf_map *map, __u32 capacity)
{
	free(batch->keys);
	free(batch->values);
	batch->keys = calloc(capacity, bpf_map__key_size(map));
	batch->values = calloc(capacity, bpf_map__value_size(map));
	batch->capacity = capacity;
	return batch->keys && batch->values ? 0 : -ENOMEM;
}

/* A bucket that holds more than a batch is answered by ENOSPC, and the room is doubled. */
int map_batch__take_all(struct bpf_map *map, map_batch_fn fn, void *ctx)
{
	struct batch batch = { 0 };
	__u32 cookie = 0, next = 0, nr;
	bool first = true;
	int err, ret;

	err = map_batch__resize(&batch, map, BATCH);
	while (!err) {
		nr = batch.capacity;
		ret = bpf_map_lookup_and_delete_batch(bpf_map__fd(map), first ? NULL : &cookie,
						      &next, batch.keys, batch.values, &nr, NULL);
		if (ret && errno == ENOSPC) {
			err = map_batch__resize(&batch, map, batch.capacity * 2);
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
