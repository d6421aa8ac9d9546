/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/throttle.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "output/perfdata/writer.h"
#include "record/sampling_event.h"
#include "record/sink.h"

void throttle__init(struct throttle *throttle, const struct throttle_options *options,
		    struct sink *sink)
{
	*throttle = (struct throttle){ .options = *options, .sink = sink };
	sampling__init(&throttle->sampling, options->period_ns, options->threshold_ns,
		       options->max_rate, clock__now_ns());
	throttle->asked = sampling__level(&throttle->sampling);
	sampling__expect(&throttle->sampling, options->threads);
	sink->level = sampling__level(&throttle->sampling);
}

void throttle__start(struct throttle *throttle, struct capture *capture)
{
	throttle->capture = capture;
	overhead__init(&throttle->overhead, capture, throttle->options.max_overhead_ppm);
}

uint64_t throttle__due(const struct throttle *throttle)
{
	uint64_t quick = sampling__timer(&throttle->sampling), overhead, rate;

	/* The end of a window is waking up enough, unless windows are long. */
	if (!throttle->options.between_windows)
		return quick;
	overhead = overhead__due(&throttle->overhead);
	rate = sampling__due(&throttle->sampling, &throttle->sink->counts, clock__now_ns());
	rate = rate < quick ? rate : quick;
	return overhead < rate ? overhead : rate;
}

/* The recorder's own word in the file: how coarse the samples are from now on, and why. */
static int tell_sampling(struct throttle *throttle, const struct writer_sampling *fields)
{
	uint32_t pid = (uint32_t)getpid();
	struct writer_trace trace = {
		.time = clock__now_ns(),
		.pid = pid,
		.tid = pid,
		.fields = fields,
		.size = sizeof(*fields),
	};
	int err;

	err = writer__comm(throttle->sink->writer, pid, pid, "denet-record");
	return err ? err : writer__trace(throttle->sink->writer, WRITER_SAMPLING, &trace);
}

/* Puts into force what was found, and has the file know. reason: the fields that say why. */
static int change_sampling(struct throttle *throttle, struct sampling_level old,
			   struct writer_sampling *reason)
{
	struct sampling_level new = sampling__level(&throttle->sampling);
	char period[32], threshold[32];

	capture__set_sampling(throttle->capture, new.period_ns, new.threshold_ns);
	throttle->sink->level = new;
	pr_verbose("sampling: one for each %s of blocks below %s",
		   units__format_time(new.period_ns, period, sizeof(period)),
		   units__format_time(new.threshold_ns, threshold, sizeof(threshold)));
	reason->old_period_ns = old.period_ns;
	reason->new_period_ns = new.period_ns;
	reason->old_threshold_ns = old.threshold_ns;
	reason->new_threshold_ns = new.threshold_ns;
	sampling_event__describe(reason);
	return tell_sampling(throttle, reason);
}

int throttle__begin(struct throttle *throttle)
{
	struct writer_sampling reason = { .max_rate = throttle->sampling.max_rate };
	struct capture_stats stats;
	int err;

	if (!reason.max_rate)
		return 0;
	err = capture__stats(throttle->capture, &stats);
	if (err)
		return err;
	sampling__begin(&throttle->sampling, stats.start_ns);
	return throttle->sampling.changes ? change_sampling(throttle, throttle->asked, &reason) : 0;
}

static int watch_overhead(struct throttle *throttle, uint64_t now, bool window_ended)
{
	struct sampling_level old = sampling__level(&throttle->sampling);
	struct writer_sampling reason = { .limit_ppm = throttle->options.max_overhead_ppm };
	struct overhead_report report;
	int ret;

	if (now < overhead__due(&throttle->overhead) ||
	    !(window_ended || throttle->options.between_windows))
		return 0;
	ret = overhead__look(&throttle->overhead, now, old.period_ns, &report);
	if (ret <= 0)
		return ret;
	sampling__raise(&throttle->sampling, report.period_ns);
	reason.bpf_ppm = report.bpf_ppm;
	reason.own_ppm = report.own_ppm;
	return change_sampling(throttle, old, &reason);
}

/* --off-cpu-max-rate. */
static int watch_rate(struct throttle *throttle, uint64_t now)
{
	struct sampling_level old = sampling__level(&throttle->sampling);
	struct writer_sampling reason = { .max_rate = throttle->sampling.max_rate };
	const struct sampling_counts *counts = &throttle->sink->counts;

	if (now < sampling__due(&throttle->sampling, counts, now) ||
	    !sampling__look(&throttle->sampling, now, counts))
		return 0;
	return change_sampling(throttle, old, &reason);
}

int throttle__look(struct throttle *throttle, uint64_t now, bool window_ended)
{
	int err = watch_overhead(throttle, now, window_ended);

	return err ? err : watch_rate(throttle, now);
}
