/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/overflow_ring.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

struct overflow_ring {
	struct ring_buffer *ring;
	overflow_ring_fn fn; /* of the current call of overflow_ring__read() */
	void *ctx;
};

static int pass_record(void *ctx, void *data, size_t size)
{
	const struct overflow_ring *overflow_ring = ctx;

	return overflow_ring->fn(overflow_ring->ctx, data, size);
}

struct overflow_ring *overflow_ring__new(int map_fd, int *err)
{
	struct overflow_ring *overflow_ring = calloc(1, sizeof(*overflow_ring));

	*err = -ENOMEM;
	if (!overflow_ring)
		return NULL;
	overflow_ring->ring = ring_buffer__new(map_fd, pass_record, overflow_ring, NULL);
	if (!overflow_ring->ring) {
		*err = errno ? -errno : -ENOMEM;
		free(overflow_ring);
		return NULL;
	}
	*err = 0;
	return overflow_ring;
}

void overflow_ring__delete(struct overflow_ring *overflow_ring)
{
	if (!overflow_ring)
		return;
	ring_buffer__free(overflow_ring->ring);
	free(overflow_ring);
}

int overflow_ring__read(struct overflow_ring *overflow_ring, overflow_ring_fn fn, void *ctx)
{
	overflow_ring->fn = fn;
	overflow_ring->ctx = ctx;
	return ring_buffer__consume(overflow_ring->ring);
}
