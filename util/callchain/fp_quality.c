/* SPDX-License-Identifier: GPL-2.0-only */
#include "callchain/fp_quality.h"

/* Three fields of the word: blocks seen, those with broken chains, and the decision. */
#define BROKEN_ONE (1ULL << 16)
#define DECIDED (1ULL << 32)
/* Limit for one sample: a place that it waits in again and again is not the whole program. */
#define MOST_AT_ONCE 64

static unsigned int seen_of(uint64_t quality)
{
	return quality & 0xffff;
}

static unsigned int broken_of(uint64_t quality)
{
	return quality >> 16 & 0xffff;
}

bool fp_quality__is_cut(const struct frames *user, size_t kept)
{
	return kept < user->nr || user->nr <= 1;
}

bool fp_quality__add(uint64_t *quality, const struct frames *user, size_t kept, uint64_t blocks)
{
	bool broken = kept < user->nr || user->nr <= FP_QUALITY_SHORT;

	/* Old evidence counts half as much, and no count runs over. */
	if (seen_of(*quality) >= 1024)
		*quality = (*quality & DECIDED) | seen_of(*quality) / 2 |
			   broken_of(*quality) / 2 * BROKEN_ONE;
	if (blocks > MOST_AT_ONCE)
		blocks = MOST_AT_ONCE;
	*quality += blocks + (broken ? blocks * BROKEN_ONE : 0);
	if (*quality & DECIDED || seen_of(*quality) < FP_QUALITY_ENOUGH ||
	    2 * broken_of(*quality) < seen_of(*quality))
		return false;
	*quality |= DECIDED;
	return true;
}

bool fp_quality__is_bad(uint64_t quality)
{
	return quality & DECIDED;
}

uint64_t fp_quality__of_child(uint64_t quality)
{
	return quality & DECIDED;
}
