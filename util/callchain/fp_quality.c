/* SPDX-License-Identifier: GPL-2.0-only */
#include "callchain/fp_quality.h"

#include <stdio.h>
#include <string.h>

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

static struct fp_program *get_program(struct fp_stats *stats, const char *comm)
{
	struct fp_program *program;

	for (size_t i = 0; i < stats->nr; i++) {
		if (!strcmp(stats->programs[i].comm, comm))
			return &stats->programs[i];
	}
	if (stats->nr == FP_STATS_NAMES)
		return NULL;
	program = &stats->programs[stats->nr++];
	snprintf(program->comm, sizeof(program->comm), "%s", comm);
	return program;
}

struct fp_program *fp_stats__add(struct fp_stats *stats, const char *comm, pid_t pid, bool broken,
				 uint64_t ns)
{
	struct fp_program *program = get_program(stats, comm);

	stats->ns += ns;
	if (!program)
		return NULL;
	program->ns += ns;
	if (!broken)
		return program;
	program->broken_ns += ns;
	program->others |= program->pid && program->pid != pid;
	program->pid = pid;
	return program;
}

const struct fp_program *fp_stats__worst(const struct fp_stats *stats)
{
	const struct fp_program *worst = NULL;

	for (size_t i = 0; i < stats->nr; i++) {
		const struct fp_program *program = &stats->programs[i];

		if (program->broken_ns && program->broken_ns >= program->ns / 2 &&
		    program->broken_ns >= stats->ns / 10 &&
		    (!worst || program->broken_ns > worst->broken_ns))
			worst = program;
	}
	return worst;
}
