/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_MINMAX_H
#define DENET_MINMAX_H

#include <stdint.h>

/* The lesser and the greater of two. */
static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif /* DENET_MINMAX_H */
