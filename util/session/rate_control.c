/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/rate_control.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu_time.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/units.h"

/* A little less than a second, so that the end of a window of a second is late enough. */
#define LOOK_NS (900 * NSEC_PER_MSEC)
/* Seconds from one measurement of run time to the next while all is well. */
#define PAUSE 7

/*
 * CPU time of this process, of its helpers that have ended and of the process that unwinds, as it
 * is used: the kernel adds up children when they are reaped, all at once. COMMAND is reaped after
 * the last look.
 */
static uint64_t own_cpu_ns(const struct rate_control *control, uint64_t *unwind_ns)
{
	uint64_t ns = cpu_time__of(RUSAGE_SELF) + cpu_time__of(RUSAGE_CHILDREN), gone_ns = 0;

	*unwind_ns = 0;
	if (control->options.unwind_ns)
		*unwind_ns = control->options.unwind_ns(control->options.ctx, &gone_ns);
	return ns + *unwind_ns - min_u64(gone_ns, ns);
}

void rate_control__init(struct rate_control *control, const struct rate_control_options *options)
{
	*control = (struct rate_control){ .options = *options, .may_measure = true };
	sampling__init(&control->sampling, options->period_ns, options->threshold_ns,
		       options->max_rate, clock__now_ns());
	overhead__init(&control->overhead, options->max_overhead_ppm);
}

struct sampling_level rate_control__level(const struct rate_control *control)
{
	return sampling__level(&control->sampling);
}

static void set_measuring(struct rate_control *control, bool on)
{
	int err = control->may_measure ? capture__measure(control->capture, on) : 0;

	if (err) {
		control->may_measure = false;
		pr_verbose("the run time of BPF programs may not be measured (%s): --max-overhead "
			   "takes a guess at it",
			   strerror(-err));
	}
	control->measuring = on && control->may_measure;
}

void rate_control__start(struct rate_control *control, struct capture *capture)
{
	struct capture_cost cost;

	control->capture = capture;
	if (!control->options.max_overhead_ppm)
		return;
	set_measuring(control, true);
	/* The cost of the start, with its walk over all processes, is not counted. */
	capture__cost(capture, &cost);
	control->own_ns = own_cpu_ns(control, &control->unwind_ns);
	control->counts = *control->options.counts;
	control->looked = clock__now_ns();
}

uint64_t rate_control__due(const struct rate_control *control)
{
	uint64_t rate;

	/* The ends of windows are wake-ups enough, unless windows are long. */
	if (!control->options.between_windows)
		return UINT64_MAX;
	rate = sampling__due(&control->sampling);
	return control->options.max_overhead_ppm ? min_u64(rate, control->looked + LOOK_NS) : rate;
}

/* Sets the new level, and calls back. */
static int change(struct rate_control *control, struct rate_control_reason *reason)
{
	struct sampling_level new = sampling__level(&control->sampling);
	char period[32], threshold[32];

	capture__set_sampling(control->capture, new.period_ns, new.threshold_ns);
	pr_verbose("sampling: one for each %s of blocks below %s",
		   units__format_time(new.period_ns, period, sizeof(period)),
		   units__format_time(new.threshold_ns, threshold, sizeof(threshold)));
	return control->options.changed(control->options.ctx, &new, reason);
}

int rate_control__begin(struct rate_control *control)
{
	struct capture_stats stats;
	int err = capture__stats(control->capture, &stats);

	if (err)
		return err;
	control->began = stats.start_ns;
	sampling__begin(&control->sampling, stats.start_ns);
	return 0;
}

static struct rate_control_reason budget_reason(const struct rate_control *control)
{
	return (struct rate_control_reason){ .old = sampling__level(&control->sampling),
					     .max_rate = control->options.max_rate };
}

/* 1: the programs have made the draw coarser, and change() was called; 0, or a negative errno. */
static int follow_programs(struct rate_control *control, uint64_t now)
{
	struct rate_control_reason reason = budget_reason(control);
	uint64_t period_ns, threshold_ns;
	int err;

	capture__sampling(control->capture, &period_ns, &threshold_ns);
	if (!sampling__adopt(&control->sampling, period_ns, threshold_ns, now,
			     control->options.counts))
		return 0;
	err = change(control, &reason);
	return err ? err : 1;
}

/* --off-cpu-max-rate. */
static int watch_rate(struct rate_control *control, uint64_t now)
{
	struct rate_control_reason reason = budget_reason(control);
	int err = follow_programs(control, now);

	if (err)
		return err < 0 ? err : 0;
	if (now < sampling__due(&control->sampling) ||
	    !sampling__look(&control->sampling, now, control->options.counts))
		return 0;
	return change(control, &reason);
}

/* The statistics cost time, too: they are on in one second of eight, or near the limit. */
static void plan_measurement(struct rate_control *control, const struct overhead_look *look,
			     const struct overhead_verdict *verdict)
{
	uint64_t cost = (uint64_t)verdict->bpf_ppm + verdict->own_ppm;
	uint64_t blocks = look->seen * NSEC_PER_SEC / look->elapsed_ns;

	if (cost > control->options.max_overhead_ppm / 2 || blocks > 2 * control->blocks)
		control->pause = 0;
	else
		control->pause = control->measuring ? PAUSE : control->pause - 1;
	if (control->measuring)
		control->blocks = blocks;
	set_measuring(control, !control->pause);
}

/* Reads events and costs since the previous look. 0 or a negative errno. */
static int read_look(struct rate_control *control, uint64_t now, struct overhead_look *look)
{
	const struct sampling_counts *counts = control->options.counts;
	const struct sampling_counts *before = &control->counts;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t unwind_ns, own_ns = own_cpu_ns(control, &unwind_ns);
	struct capture_cost cost;
	int err = capture__cost(control->capture, &cost);

	if (err)
		return err;
	*look = (struct overhead_look){
		.now = now,
		.elapsed_ns = max_u64(now - control->looked, NSEC_PER_MSEC),
		.nr_cpus = cpus > 0 ? (unsigned int)cpus : 1,
		.period_ns = control->sampling.cost_period,
		.base_period = sampling__base_period(&control->sampling),
		.trusted = control->measuring || !control->may_measure,
		.runs = control->measuring ? cost.runs : 0,
		.run_ns = control->measuring ? cost.run_ns : 0,
		.seen = cost.seen,
		.seen_busiest = cost.seen_busiest,
		.kept = cost.kept,
		.not_drawn = cost.not_drawn,
		.short_ns = cost.short_ns + counts->below_ns - before->below_ns,
		.samples = counts->below + counts->above - before->below - before->above,
		.sideband = counts->sideband - before->sideband,
		.own_ns = own_ns - min_u64(control->own_ns, own_ns),
		.unwind_ns = unwind_ns - min_u64(control->unwind_ns, unwind_ns),
	};
	control->looked = now;
	control->counts = *counts;
	control->own_ns = own_ns;
	control->unwind_ns = unwind_ns;
	return 0;
}

/* change() reports a step to a finer period. */
static void tell_step(struct rate_control *control, const struct overhead_verdict *verdict,
		      uint64_t old_period)
{
	double percent = (double)(verdict->bpf_ppm + verdict->own_ppm) / 1e4;
	char time[32];

	if (verdict->period_ns <= old_period)
		return;
	/* One warning; all steps are in the file, and the share of the time on the last line. */
	log__print(control->told_cost ? LOG_VERBOSE : LOG_WARNING,
		   "the recording costs %.1f %% of a CPU, more than --max-overhead: from now on, "
		   "while that is so, blocks are sampled, one for each %s",
		   percent, units__format_time(verdict->period_ns, time, sizeof(time)));
	control->told_cost = true;
}

static void tell_helpless(struct rate_control *control, const struct overhead_verdict *verdict)
{
	if (!control->told_helpless)
		pr_warn("the recording costs %.1f %% of a CPU, more than --max-overhead; sampling "
			"more coarsely would not lower that: %.1f %% are for switches, for records "
			"of maps and names, and for helpers",
			(double)(verdict->bpf_ppm + verdict->own_ppm) / 1e4,
			(double)verdict->fixed_ppm / 1e4);
	control->told_helpless = true;
}

static void note_time(struct rate_control *control, uint64_t now)
{
	if (control->since)
		control->sampled_ns += now - control->since;
	control->since = control->sampling.cost_period ? now : 0;
}

static int follow(struct rate_control *control, uint64_t now,
		  const struct overhead_verdict *verdict)
{
	struct rate_control_reason reason = {
		.cause = verdict->advice == OVERHEAD_RETURNS ? RATE_CONTROL_RETURN
							     : RATE_CONTROL_COST,
		.old = sampling__level(&control->sampling),
		.bpf_ppm = verdict->bpf_ppm,
		.own_ppm = verdict->own_ppm,
		.limit_ppm = control->options.max_overhead_ppm,
	};
	uint64_t old_period = control->sampling.cost_period;
	bool changed = sampling__set_cost_period(&control->sampling, verdict->period_ns);

	note_time(control, now);
	if (verdict->advice == OVERHEAD_SAMPLES)
		tell_step(control, verdict, old_period);
	else
		pr_verbose("--max-overhead: the load has gone, nothing is sampled for it any more");
	return changed ? change(control, &reason) : 0;
}

/* --max-overhead. */
static int watch_cost(struct rate_control *control, uint64_t now)
{
	struct overhead_verdict verdict;
	struct overhead_look look;
	int err;

	if (!control->options.max_overhead_ppm || now < control->looked + LOOK_NS)
		return 0;
	err = read_look(control, now, &look);
	if (err)
		return err;
	overhead__judge(&control->overhead, &look, &verdict);
	pr_debug("overhead: programs %u ppm%s, recorder %u ppm, of both %u whatever is sampled; "
		 "%llu blocks, %llu samples, %llu records",
		 verdict.bpf_ppm, look.runs ? "" : " (estimated)", verdict.own_ppm,
		 verdict.fixed_ppm, (unsigned long long)look.seen, (unsigned long long)look.samples,
		 (unsigned long long)look.sideband);
	plan_measurement(control, &look, &verdict);
	if (verdict.advice == OVERHEAD_HELPLESS)
		tell_helpless(control, &verdict);
	if (verdict.advice == OVERHEAD_SAMPLES || verdict.advice == OVERHEAD_RETURNS)
		return follow(control, now, &verdict);
	return 0;
}

int rate_control__look(struct rate_control *control, uint64_t now, bool window_ended)
{
	int err = 0;

	if (window_ended || control->options.between_windows)
		err = watch_cost(control, now);
	return err ? err : watch_rate(control, now);
}

int rate_control__end(struct rate_control *control, uint64_t now)
{
	int err = follow_programs(control, now);

	return err < 0 ? err : 0;
}

double rate_control__sampled_share(const struct rate_control *control, uint64_t now)
{
	uint64_t sampled = control->sampled_ns + (control->since ? now - control->since : 0);

	if (!control->began || now <= control->began)
		return 0;
	return (double)min_u64(sampled, now - control->began) / (double)(now - control->began);
}
