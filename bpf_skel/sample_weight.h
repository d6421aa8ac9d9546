/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The draw: selects some of the short blocks, and the time that each of them stands for. Compiled
 * by clang -target bpf and by gcc, so that its statistics can be tested with a million blocks and a
 * fixed seed.
 */
#ifndef DENET_SAMPLE_WEIGHT_H
#define DENET_SAMPLE_WEIGHT_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* Greater periods would not fit into the multiplication. */
#define SAMPLE_WEIGHT_MAX_PERIOD_NS 4000000000ULL

/*
 * 32 random bits by xorshift64* (Marsaglia 2003, Vigna 2014): a few cycles, where the
 * kernel's own generator costs a call. The state must not be 0.
 */
static inline __u32 sample_weight__random(__u64 *state)
{
	__u64 x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return (__u32)((x * 0x2545f4914f6cdd1dULL) >> 32);
}

/* A state for each CPU out of one seed; never 0. */
static inline __u64 sample_weight__seed(__u64 seed, __u32 cpu)
{
	__u64 x = seed + (cpu + 1ULL) * 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ? x : 1;
}

/*
 * The ns that a block of ns stands for, 0: it is not drawn. A block of at least a period is always
 * kept, with its own length; a shorter one with the probability ns / period, and then stands for a
 * period. So the expectation is ns whatever the length, which makes every sum of samples unbiased;
 * no other way to keep as many blocks has less variance (threshold sampling: Duffield, Lund, Thorup
 * 2005). The variance of a block is ns * (period - ns), estimated by period * (period - ns) where
 * it was drawn.
 */
static inline __u64 sample_weight__of(__u64 *state, __u64 ns, __u64 period)
{
	if (ns >= period)
		return ns;
	return (sample_weight__random(state) * period) >> 32 < ns ? period : 0;
}

#endif /* DENET_SAMPLE_WEIGHT_H */
