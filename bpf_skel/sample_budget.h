/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The limit of --off-cpu-max-rate, enforced where samples are made, so that it holds however slow
 * the recorder is. The budget of a second is spent in parts; if a part is used up so quickly that
 * the second's budget would not suffice, the draw becomes coarser. It never becomes finer here: the
 * recorder does that once a second (util/session/sampling.c). Drawn blocks represent the others, as
 * always, and whether a block is drawn depends on earlier ones only, so sums stay unbiased.
 * Compiled by clang -target bpf and by gcc.
 */
#ifndef DENET_SAMPLE_BUDGET_H
#define DENET_SAMPLE_BUDGET_H

#include "sample_weight.h"

#define SAMPLE_BUDGET_SECOND_NS 1000000000ULL
#define SAMPLE_BUDGET_PARTS 4
/* Fewer samples, or a shorter time, do not determine a rate: they may be a burst. */
#define SAMPLE_BUDGET_LEAST_PART 16
#define SAMPLE_BUDGET_LEAST_NS 10000000ULL
/* Limits of the factor by which one part makes the draw coarser; less than the first is chance. */
#define SAMPLE_BUDGET_SLOWEST 2
#define SAMPLE_BUDGET_FASTEST 16
/* For thresholds, in ns. */
#define SAMPLE_BUDGET_LEAST_THRESHOLD 10000ULL
#define SAMPLE_BUDGET_MAX_THRESHOLD 3600000000000ULL

struct sample_budget {
	__u64 second; /* when the second began, ns */
	__u64 spent;  /* samples in it, in the parts before this one */
	__u64 since;  /* when this part began */
	__u64 nr;     /* its samples */
	__u64 above;  /* of these, of blocks of at least the threshold */
};

static inline __u64 sample_budget__at_most(__u64 value, __u64 most)
{
	return value < most ? value : most;
}

static inline __u64 sample_budget__part(__u64 max_rate)
{
	__u64 part = max_rate / SAMPLE_BUDGET_PARTS;

	return part < SAMPLE_BUDGET_LEAST_PART ? SAMPLE_BUDGET_LEAST_PART : part;
}

/* Factor by which the rate of nr samples in elapsed ns exceeds the rest of the second's budget. */
static inline __u64 sample_budget__excess(const struct sample_budget *budget, __u64 max_rate,
					  __u64 nr, __u64 elapsed, __u64 left)
{
	__u64 room = max_rate > budget->spent ? max_rate - budget->spent : 0;
	__u64 least = sample_budget__part(max_rate) / 2;

	if (room < least)
		room = least;
	if (elapsed < SAMPLE_BUDGET_LEAST_NS)
		elapsed = SAMPLE_BUDGET_LEAST_NS;
	return nr * left / elapsed / room;
}

/*
 * Raises the period; or, if crowded (most samples are of blocks above the threshold), the
 * threshold, and the period to at least that.
 */
static inline void sample_budget__coarsen(volatile __u64 *period, volatile __u64 *threshold,
					  __u64 factor, int is_crowded)
{
	__u64 new_period = *period, new_threshold = *threshold;

	if (is_crowded) {
		if (new_threshold < SAMPLE_BUDGET_LEAST_THRESHOLD)
			new_threshold = SAMPLE_BUDGET_LEAST_THRESHOLD;
		new_threshold = sample_budget__at_most(new_threshold * factor,
						       SAMPLE_BUDGET_MAX_THRESHOLD);
		*threshold = new_threshold;
		if (new_period < new_threshold)
			new_period = new_threshold;
	} else {
		new_period *= factor;
	}
	*period = sample_budget__at_most(new_period, SAMPLE_WEIGHT_MAX_PERIOD_NS);
}

/*
 * Counts a sample at now, above: of a block of at least the threshold. May be called on several
 * CPUs at once: only one of them ends a part. max_rate: samples a second, below 2^32, not 0.
 */
static inline void sample_budget__spend(struct sample_budget *budget, __u64 max_rate, __u64 now,
					int above, volatile __u64 *period,
					volatile __u64 *threshold)
{
	__u64 nr, nr_above, since, end, factor;

	if (above)
		__sync_fetch_and_add(&budget->above, 1);
	__sync_fetch_and_add(&budget->nr, 1);
	nr = *(volatile __u64 *)&budget->nr;
	end = *(volatile __u64 *)&budget->second + SAMPLE_BUDGET_SECOND_NS;
	if (nr < sample_budget__part(max_rate) && now < end)
		return;
	if (__sync_val_compare_and_swap(&budget->nr, nr, 0) != nr)
		return;
	nr_above = budget->above;
	since = budget->since;
	budget->above = 0;
	budget->since = now;
	if (now >= end) {
		budget->second = now;
		budget->spent = 0;
		return;
	}
	budget->spent += nr;
	factor = sample_budget__excess(budget, max_rate, nr, now > since ? now - since : 0,
				       end - now);
	if (factor >= SAMPLE_BUDGET_SLOWEST)
		sample_budget__coarsen(period, threshold,
				       sample_budget__at_most(factor, SAMPLE_BUDGET_FASTEST),
				       5 * nr_above > 4 * nr);
}

#endif /* DENET_SAMPLE_BUDGET_H */
