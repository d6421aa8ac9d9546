/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/overhead.h"

#include <math.h>

#include "base/units.h"
#include "capture/capture.h"

/*
 * Assumed cost of one run of a program if it cannot be measured, and runs that a recorded block
 * costs: 100 ns and 1,200 ns were measured with some twenty frames on each side, in caches.
 */
#define GUESSED_RUN_NS 100.0
#define KEPT_RUNS 12.0
/* Runs for each block: at its switch-out and at its switch-in. */
#define RUNS_PER_BLOCK 2.0
/* User space's CPU time for a sample, at least; a record of the side band takes so much more. */
#define SAMPLE_NS 2000.0
#define SIDEBAND_WEIGHT 2.0
/* CPU time of this process without any events, in such records a second. */
#define IDLE_RECORDS 100.0
/* Fewer samples a second than that say nothing about costs. */
#define LEAST_SAMPLES 50.0
#define LEAST_PERIOD_NS (10.0 * NSEC_PER_USEC)
/* A step must save such a part of the cost, and leaves some room below the limit. */
#define LEAST_SAVING 0.2
#define ROOM 0.8
/* All blocks are recorded again once they would take so much of the limit, */
#define CALM 0.7
/* for so many seconds; for twice as many each time that it soon costs too much again. */
#define PATIENCE 3
#define MOST_PATIENCE 64
#define RELAPSE_NS (60 * NSEC_PER_SEC)
/* Between the two the period stays. */
#define FINER 0.5
#define COARSER 1.25

/* The cost in ns of CPU a second, and what a sample more or less changes. */
struct cost {
	double bpf, own;
	double fixed;
	double per_sample; /* that stands for one block */
	double per_block;  /* that is kept, in the kernel only */
	double per_record; /* in user space, for a sample or a sum */
	double kept;	   /* blocks a second */
	double exact;	   /* those that would be kept if all counted */
};

void overhead__init(struct overhead *overhead, uint32_t limit_ppm)
{
	*overhead = (struct overhead){
		.limit_ppm = limit_ppm,
		.run_ns = GUESSED_RUN_NS,
		.samples_per_block = 1,
		.patience = PATIENCE,
	};
}

/* Runs of the programs a second; unmeasured ones follow the number of blocks. */
static double runs_of(const struct overhead *overhead, double seen)
{
	if (overhead->seen > 0)
		return overhead->runs * seen / overhead->seen;
	return fmax(overhead->runs, RUNS_PER_BLOCK * seen);
}

static void learn(struct overhead *overhead, const struct overhead_look *look, double seconds)
{
	double kept = (double)look->kept;

	if (look->runs) {
		overhead->run_ns = (double)look->run_ns / ((double)look->runs + KEPT_RUNS * kept);
		overhead->runs = (double)look->runs / seconds;
		overhead->seen = (double)look->seen / seconds;
	}
	if (!look->period_ns && !look->base_period && look->kept)
		overhead->samples_per_block = fmin((double)look->samples / kept, 1);
}

static struct cost cost_of(const struct overhead *overhead, const struct overhead_look *look)
{
	double seconds = (double)look->elapsed_ns / NSEC_PER_SEC, cpus = look->nr_cpus;
	double seen = (double)look->seen / seconds, samples = (double)look->samples / seconds;
	double busiest = look->seen ? (double)look->seen_busiest / (double)look->seen : 1 / cpus;
	double own = (double)look->own_ns / seconds / cpus;
	double unwind = (double)look->unwind_ns / seconds / cpus, rest = fmax(own - unwind, 0);
	double others = SIDEBAND_WEIGHT * (double)look->sideband / seconds + IDLE_RECORDS;
	double for_samples = unwind + rest * samples / (samples + others);
	double runs = runs_of(overhead, seen) * overhead->run_ns * busiest;
	struct cost cost = { .own = own, .kept = (double)look->kept / seconds };

	cost.per_block = busiest * KEPT_RUNS * overhead->run_ns;
	cost.per_record = fmax(samples > 0 ? for_samples / samples : 0, SAMPLE_NS / cpus);
	cost.per_sample = cost.per_block + cost.per_record;
	cost.bpf = runs + cost.kept * cost.per_block;
	cost.fixed = runs + fmax(own - for_samples, 0);
	cost.exact = cost.kept + (double)look->not_drawn / seconds;
	return cost;
}

/* The cost if all blocks were recorded that would be without --max-overhead. */
static double cost_without(const struct overhead *overhead, const struct overhead_look *look,
			   const struct cost *cost, double short_ns)
{
	double base = (double)look->base_period;
	double kept = base > 0 ? fmin(cost->exact, short_ns / base) : cost->exact;
	double records = base > 0 ? kept : kept * overhead->samples_per_block;

	return cost->fixed + kept * cost->per_block + records * cost->per_record;
}

/* The period at which samples fit into the limit. 0: none would help enough. */
static double wanted_period(const struct cost *cost, double limit, double short_ns)
{
	double samples = fmax((ROOM * limit - cost->fixed) / cost->per_sample, LEAST_SAMPLES);
	double predicted = cost->fixed + samples * cost->per_sample;
	double period = fmax(short_ns / samples, LEAST_PERIOD_NS);

	if (predicted > (1 - LEAST_SAVING) * (cost->bpf + cost->own))
		return 0;
	return fmin(period, CAPTURE_MAX_PERIOD_NS);
}

static uint32_t ppm(double ns)
{
	return (uint32_t)fmin(ns / (NSEC_PER_SEC / 1000000), UINT32_MAX);
}

static void ask_for(struct overhead *overhead, struct overhead_verdict *verdict, uint64_t now,
		    double period)
{
	bool relapse = overhead->returned && now < overhead->returned + RELAPSE_NS;

	verdict->advice = OVERHEAD_SAMPLES;
	verdict->period_ns = (uint64_t)period;
	overhead->calm = 0;
	if (relapse && overhead->patience < MOST_PATIENCE)
		overhead->patience *= 2;
	else if (overhead->returned && !relapse)
		overhead->patience = PATIENCE;
	overhead->returned = 0;
}

/* Too expensive, by a measured second. */
static void judge_dear(struct overhead *overhead, const struct overhead_look *look,
		       const struct cost *cost, double limit, double short_ns,
		       struct overhead_verdict *verdict)
{
	double period = wanted_period(cost, limit, short_ns);
	double in_force = fmax((double)look->period_ns, (double)look->base_period);

	overhead->calm = 0;
	if (period > COARSER * in_force && period > 0)
		ask_for(overhead, verdict, look->now, period);
	else
		verdict->advice = OVERHEAD_HELPLESS;
}

static void judge_calm(struct overhead *overhead, const struct overhead_look *look,
		       const struct cost *cost, double limit, double short_ns,
		       struct overhead_verdict *verdict)
{
	double samples = fmax((ROOM * limit - cost->fixed) / cost->per_sample, LEAST_SAMPLES);
	double period = fmax(short_ns / samples, LEAST_PERIOD_NS);

	if (cost_without(overhead, look, cost, short_ns) < CALM * limit) {
		if (++overhead->calm < overhead->patience)
			return;
		verdict->advice = OVERHEAD_RETURNS;
		overhead->calm = 0;
		overhead->returned = look->now;
		return;
	}
	overhead->calm = 0;
	if (period < FINER * (double)look->period_ns && period > (double)look->base_period &&
	    cost->bpf + cost->own < FINER * limit) {
		verdict->advice = OVERHEAD_SAMPLES;
		verdict->period_ns = (uint64_t)period;
	}
}

void overhead__judge(struct overhead *overhead, const struct overhead_look *look,
		     struct overhead_verdict *verdict)
{
	double seconds = (double)look->elapsed_ns / NSEC_PER_SEC;
	double limit = (double)overhead->limit_ppm * (NSEC_PER_SEC / 1000000);
	double short_ns = (double)look->short_ns / seconds;
	struct cost cost;

	learn(overhead, look, seconds);
	cost = cost_of(overhead, look);
	*verdict = (struct overhead_verdict){
		.bpf_ppm = ppm(cost.bpf),
		.own_ppm = ppm(cost.own),
		.fixed_ppm = ppm(cost.fixed),
	};
	if (!overhead->limit_ppm)
		return;
	if (cost.bpf + cost.own > limit) {
		if (look->trusted)
			judge_dear(overhead, look, &cost, limit, short_ns, verdict);
		else
			overhead->calm = 0;
	} else if (look->period_ns) {
		judge_calm(overhead, look, &cost, limit, short_ns, verdict);
	}
}
