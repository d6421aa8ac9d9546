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

/* Sum and product, or the greatest number where that is less. */
static inline uint64_t add_saturated_u64(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t mul_saturated_u64(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

#endif /* DENET_MINMAX_H */
