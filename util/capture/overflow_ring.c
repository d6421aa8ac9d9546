/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/overflow_ring.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

struct spare {
	struct ring_buffer *ring;
	spare_fn fn; /* of the call of spare__read() under way */
	void *ctx;
};

static int pass_record(void *ctx, void *data, size_t size)
{
	const struct spare *spare = ctx;

	return spare->fn(spare->ctx, data, size);
}

struct spare *spare__new(int map_fd, int *err)
{
	struct spare *spare = calloc(1, sizeof(*spare));

	*err = -ENOMEM;
	if (!spare)
		return NULL;
	spare->ring = ring_buffer__new(map_fd, pass_record, spare, NULL);
	if (!spare->ring) {
		*err = errno ? -errno : -ENOMEM;
		free(spare);
		return NULL;
	}
	*err = 0;
	return spare;
}

void spare__delete(struct spare *spare)
{
	if (!spare)
		return;
	ring_buffer__free(spare->ring);
	free(spare);
}

int spare__read(struct spare *spare, spare_fn fn, void *ctx)
{
	spare->fn = fn;
	spare->ctx = ctx;
	return ring_buffer__consume(spare->ring);
}
