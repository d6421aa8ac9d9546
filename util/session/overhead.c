/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/overhead.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"

#define PPM 1000000ULL
/*
 * The steps of the period. The first is long enough for a storm of drawn blocks not to fill a
 * ring before it is read; with the last, next to nothing but the switches themselves costs.
 */
#define FIRST_PERIOD_NS (100 * NSEC_PER_USEC)
#define LAST_PERIOD_NS (100 * NSEC_PER_MSEC)
/* Seconds from one measurement to the next while all is well. */
#define PAUSE 7
/* A little less than a second, so that the end of a window of a second is late enough. */
#define PERIOD_NS (900 * NSEC_PER_MSEC)
/* What a block costs where it may not be measured, and besides if it is kept: what was
 * measured with some twenty frames on each side. */
#define GUESSED_SEEN_NS 400
#define GUESSED_KEPT_NS 3000

static uint64_t timeval_ns(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * NSEC_PER_SEC + (uint64_t)tv->tv_usec * NSEC_PER_USEC;
}

/* COMMAND is waited for after the last look, so children are helpers only. */
static uint64_t own_cpu_ns(void)
{
	static const int whose[] = { RUSAGE_SELF, RUSAGE_CHILDREN };
	struct rusage usage;
	uint64_t ns = 0;

	for (int i = 0; i < 2; i++) {
		if (!getrusage(whose[i], &usage))
			ns += timeval_ns(&usage.ru_utime) + timeval_ns(&usage.ru_stime);
	}
	return ns;
}

static void set_measuring(struct overhead *overhead, bool on)
{
	int err = overhead->may_measure ? capture__measure(overhead->capture, on) : 0;

	if (err && overhead->may_measure) {
		overhead->may_measure = false;
		pr_verbose("the run time of BPF programs may not be measured (%s): --max-overhead "
			   "takes %d ns for a block, and %d more for one that is kept",
			   strerror(-err), GUESSED_SEEN_NS, GUESSED_KEPT_NS);
	}
	overhead->measuring = on && overhead->may_measure;
}

void overhead__init(struct overhead *overhead, struct capture *capture, uint32_t limit_ppm)
{
	struct capture_cost cost;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	*overhead = (struct overhead){
		.capture = capture,
		.limit_ppm = limit_ppm,
		.block_ns = GUESSED_SEEN_NS + GUESSED_KEPT_NS,
		.nr_cpus = cpus > 0 ? (unsigned int)cpus : 1,
		.may_measure = true,
	};
	if (!limit_ppm)
		return;
	set_measuring(overhead, true);
	/* The start itself, with its walk over all processes, is no part of the account. */
	capture__cost(capture, &cost);
	overhead->own_ns = own_cpu_ns();
	overhead->previous = clock__now_ns();
	overhead->next = overhead->previous + PERIOD_NS;
}

uint64_t overhead__due(const struct overhead *overhead)
{
	return overhead->limit_ppm ? overhead->next : UINT64_MAX;
}

uint64_t overhead__next_period(uint64_t period_ns, uint64_t cost_ppm, uint64_t limit_ppm)
{
	uint64_t next = cost_ppm > 2 * limit_ppm ? 4 * period_ns : 2 * period_ns;

	if (period_ns >= LAST_PERIOD_NS)
		return period_ns;
	if (next < FIRST_PERIOD_NS)
		return FIRST_PERIOD_NS;
	return next < LAST_PERIOD_NS ? next : LAST_PERIOD_NS;
}

/* Nanoseconds of run time on the busiest CPU; the kernel tells them for all CPUs at once. */
static uint64_t busiest_ns(struct overhead *overhead, const struct capture_cost *cost,
			   uint64_t elapsed)
{
	uint64_t rate = (uint64_t)((unsigned __int128)cost->seen * NSEC_PER_SEC / elapsed);

	if (overhead->measuring && cost->seen) {
		overhead->block_ns = cost->run_ns / cost->seen;
		overhead->rate = rate;
	}
	if (!overhead->may_measure && cost->seen)
		overhead->block_ns = GUESSED_SEEN_NS + GUESSED_KEPT_NS * cost->kept / cost->seen;
	/* Programs run for other tasks' switches, too: without blocks they are all there is. */
	if (overhead->measuring && !cost->seen)
		return cost->run_ns / overhead->nr_cpus;
	return overhead->block_ns * cost->seen_busiest;
}

static void plan_measurement(struct overhead *overhead, const struct capture_cost *cost,
			     uint64_t cost_ppm, uint64_t elapsed)
{
	uint64_t rate = (uint64_t)((unsigned __int128)cost->seen * NSEC_PER_SEC / elapsed);

	if (cost_ppm > overhead->limit_ppm / 2 || rate > 2 * overhead->rate)
		overhead->pause = 0;
	else if (overhead->measuring)
		overhead->pause = PAUSE;
	else
		overhead->pause--;
	set_measuring(overhead, !overhead->pause);
}

static bool is_trustworthy(const struct overhead *overhead)
{
	return overhead->measuring || !overhead->may_measure;
}

/* Says what is done about it. 1: report tells the period; 0: there is none left. */
static int raise_period(struct overhead *overhead, uint64_t period_ns,
			const struct overhead_report *report)
{
	double percent = (double)(report->bpf_ppm + report->own_ppm) / 1e4;
	char time[32];

	if (report->period_ns == period_ns) {
		if (!overhead->gave_up)
			pr_warn("the recording costs %.1f %% of a CPU, more than --max-overhead; "
				"it cannot sample more coarsely than it does",
				percent);
		overhead->gave_up = true;
		return 0;
	}
	pr_warn("the recording costs %.1f %% of a CPU, more than --max-overhead: from now on "
		"blocks are sampled, one for each %s",
		percent, units__format_time(report->period_ns, time, sizeof(time)));
	overhead->raised++;
	return 1;
}

static uint32_t share(uint64_t ns, uint64_t elapsed)
{
	uint64_t ppm = (uint64_t)((unsigned __int128)ns * PPM / elapsed);

	return ppm < UINT32_MAX ? (uint32_t)ppm : UINT32_MAX;
}

int overhead__look(struct overhead *overhead, uint64_t now, uint64_t period_ns,
		   struct overhead_report *report)
{
	uint64_t elapsed = now - overhead->previous, own;
	struct capture_cost cost;
	uint64_t total;
	bool trusted;
	int err;

	overhead->next = now + PERIOD_NS;
	err = capture__cost(overhead->capture, &cost);
	if (err)
		return err;
	own = own_cpu_ns();
	trusted = is_trustworthy(overhead);
	*report = (struct overhead_report){
		.bpf_ppm = share(busiest_ns(overhead, &cost, elapsed), elapsed),
		.own_ppm = share((own - overhead->own_ns) / overhead->nr_cpus, elapsed),
		.measured = overhead->measuring,
	};
	overhead->previous = now;
	overhead->own_ns = own;
	pr_debug("overhead: programs %u ppm%s, recorder %u ppm, %llu blocks", report->bpf_ppm,
		 report->measured ? "" : " (estimated)", report->own_ppm,
		 (unsigned long long)cost.seen);
	total = (uint64_t)report->bpf_ppm + report->own_ppm;
	plan_measurement(overhead, &cost, total, elapsed);
	if (total <= overhead->limit_ppm || !trusted)
		return 0;
	report->period_ns = overhead__next_period(period_ns, total, overhead->limit_ppm);
	return raise_period(overhead, period_ns, report);
}
