/* SPDX-License-Identifier: GPL-2.0-only */
#include "callchain/fp_quality.h"

#include <errno.h>

/* What an idmap has room for: both counts, and the decision. */
#define BROKEN_ONE (1ULL << 16)
#define DECIDED (1ULL << 32)
/* One place in which it waits over and over is not all of a program. */
#define MOST_AT_ONCE 64

static unsigned int seen_of(uint64_t value)
{
	return value & 0xffff;
}

static unsigned int broken_of(uint64_t value)
{
	return value >> 16 & 0xffff;
}

int fp_quality__add(struct fp_quality *fp_quality, pid_t pid, const struct frames *user,
		    size_t kept, uint64_t blocks)
{
	uint64_t *value = idmap__get(&fp_quality->by_pid, (uint64_t)pid);
	bool broken = kept < user->nr || user->nr <= FP_QUALITY_SHORT;

	if (!value)
		return -ENOMEM;
	/* Old evidence counts half as much, and no count runs over. */
	if (seen_of(*value) >= 1024)
		*value = (*value & DECIDED) | seen_of(*value) / 2 |
			 broken_of(*value) / 2 * BROKEN_ONE;
	if (blocks > MOST_AT_ONCE)
		blocks = MOST_AT_ONCE;
	*value += blocks + (broken ? blocks * BROKEN_ONE : 0);
	if (*value & DECIDED || seen_of(*value) < FP_QUALITY_ENOUGH ||
	    2 * broken_of(*value) < seen_of(*value))
		return 0;
	*value |= DECIDED;
	return 1;
}

bool fp_quality__decided(const struct fp_quality *fp_quality, pid_t pid)
{
	const uint64_t *value = idmap__find(&fp_quality->by_pid, (uint64_t)pid);

	return value && *value & DECIDED;
}

bool fp_quality__fork(struct fp_quality *fp_quality, pid_t pid, pid_t parent)
{
	uint64_t *value;

	if (!fp_quality__decided(fp_quality, parent))
		return false;
	value = idmap__get(&fp_quality->by_pid, (uint64_t)pid);
	if (!value)
		return false;
	*value = DECIDED;
	return true;
}

bool fp_quality__forget(struct fp_quality *fp_quality, pid_t pid)
{
	bool decided = fp_quality__decided(fp_quality, pid);

	idmap__remove(&fp_quality->by_pid, (uint64_t)pid);
	return decided;
}

void fp_quality__free(struct fp_quality *fp_quality)
{
	idmap__free(&fp_quality->by_pid);
}
