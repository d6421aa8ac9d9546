/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SESSION_SAMPLING_H
#define DENET_SESSION_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

/* Samples so far: of blocks below the current threshold, and of the others. */
struct sampling_counts {
	uint64_t below;
	uint64_t above;
	/* Blocks, not samples, about: of those below, as long as the threshold to come back to. */
	uint64_t between;
	uint64_t below_ns; /* measured in the samples of single blocks below the threshold */
	uint64_t sideband; /* records of the side band, which are no samples */
};

/*
 * The amount of sampling: the period of the draw and the threshold from which on blocks are exact.
 * Three sources set them: the user's options (--off-cpu-period, --off-cpu-thresh), which are lower
 * bounds; the budget of --off-cpu-max-rate; and --max-overhead. The greatest period is in force.
 * Any of them may change while blocks end: the values in force at its end decide what a block
 * stands for, so sums stay unbiased.
 */
struct sampling {
	uint64_t user_period; /* ns, 0: all blocks count */
	uint64_t user_threshold;
	uint64_t rate_period; /* of the budget; 0: no budget */
	uint64_t rate_threshold;
	uint64_t cost_period; /* of --max-overhead; 0: none */
	uint32_t max_rate;    /* samples a second, 0: no budget */
	uint64_t looked;      /* when, CLOCK_MONOTONIC: the second that is looked at next */
	struct sampling_counts seen; /* until then */
	uint64_t changes;     /* of the level */
};

/* The current level. period 0: all blocks are recorded. */
struct sampling_level {
	uint64_t period_ns;
	uint64_t threshold_ns;
	uint64_t lower_ns; /* the next lower threshold to return to */
};

/* now: ns, CLOCK_MONOTONIC, when the recording begins. period 0 and max_rate 0: exact. */
void sampling__init(struct sampling *sampling, uint64_t period_ns, uint64_t threshold_ns,
		    uint32_t max_rate, uint64_t now);

struct sampling_level sampling__level(const struct sampling *sampling);

/* Blocks are recorded from now on. */
void sampling__begin(struct sampling *sampling, uint64_t now);

/* The period without --max-overhead; 0: all blocks are recorded. */
uint64_t sampling__base_period(const struct sampling *sampling);

/* The time of the budget's next sampling__look(). UINT64_MAX: no budget. */
uint64_t sampling__due(const struct sampling *sampling);

/*
 * Adopts a coarser draw that the programs have set (bpf_skel/sample_budget.h). True: it is new; the
 * current second begins again then.
 */
bool sampling__adopt(struct sampling *sampling, uint64_t period_ns, uint64_t threshold_ns,
		     uint64_t now, const struct sampling_counts *counts);

/*
 * Compares the rate since the last look with the budget. True: what is in force has changed.
 * The period follows the rate that it was seen to give, as if all blocks were shorter than
 * it; where they are not, the next looks mend it. Once blocks above the threshold take most
 * of the budget by themselves, the threshold goes up. It comes back by halves, once those that
 * it would have above it then leave most of the budget.
 */
bool sampling__look(struct sampling *sampling, uint64_t now, const struct sampling_counts *counts);

/*
 * Sets the period of --max-overhead, by which all shorter blocks are drawn; 0: none. True: the
 * level has changed.
 */
bool sampling__set_cost_period(struct sampling *sampling, uint64_t period_ns);

#endif /* DENET_SESSION_SAMPLING_H */
