/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/throttle.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"

void throttle__init(struct throttle *throttle, const struct throttle_options *options,
		    const struct throttle_link *link)
{
	*throttle = (struct throttle){ .options = *options, .link = *link };
	sampling__init(&throttle->sampling, options->period_ns, options->threshold_ns,
		       options->max_rate, clock__now_ns());
	throttle->asked = sampling__level(&throttle->sampling);
	sampling__expect(&throttle->sampling, options->threads);
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
	rate = sampling__due(&throttle->sampling, throttle->link.counts, clock__now_ns());
	rate = rate < quick ? rate : quick;
	return overhead < rate ? overhead : rate;
}

/* Puts into force what was found, and reports it. change: the fields that say why. */
static int change_sampling(struct throttle *throttle, struct sampling_level old,
			   struct throttle_change *change)
{
	struct sampling_level new = sampling__level(&throttle->sampling);
	char period[32], threshold[32];

	capture__set_sampling(throttle->capture, new.period_ns, new.threshold_ns);
	pr_verbose("sampling: one for each %s of blocks below %s",
		   units__format_time(new.period_ns, period, sizeof(period)),
		   units__format_time(new.threshold_ns, threshold, sizeof(threshold)));
	change->old = old;
	change->new = new;
	return throttle->link.changed(throttle->link.ctx, change);
}

int throttle__begin(struct throttle *throttle)
{
	struct throttle_change change = { .max_rate = throttle->sampling.max_rate };
	struct capture_stats stats;
	int err;

	if (!change.max_rate)
		return 0;
	err = capture__stats(throttle->capture, &stats);
	if (err)
		return err;
	sampling__begin(&throttle->sampling, stats.start_ns);
	return throttle->sampling.changes ? change_sampling(throttle, throttle->asked, &change) : 0;
}

static int watch_overhead(struct throttle *throttle, uint64_t now, bool window_ended)
{
	struct sampling_level old = sampling__level(&throttle->sampling);
	struct throttle_change change = { .limit_ppm = throttle->options.max_overhead_ppm };
	struct overhead_report report;
	int ret;

	if (now < overhead__due(&throttle->overhead) ||
	    !(window_ended || throttle->options.between_windows))
		return 0;
	ret = overhead__look(&throttle->overhead, now, old.period_ns, &report);
	if (ret <= 0)
		return ret;
	sampling__raise(&throttle->sampling, report.period_ns);
	change.bpf_ppm = report.bpf_ppm;
	change.own_ppm = report.own_ppm;
	return change_sampling(throttle, old, &change);
}

/* --off-cpu-max-rate. */
static int watch_rate(struct throttle *throttle, uint64_t now)
{
	struct sampling_level old = sampling__level(&throttle->sampling);
	struct throttle_change change = { .max_rate = throttle->sampling.max_rate };
	const struct sampling_counts *counts = throttle->link.counts;

	if (now < sampling__due(&throttle->sampling, counts, now) ||
	    !sampling__look(&throttle->sampling, now, counts))
		return 0;
	return change_sampling(throttle, old, &change);
}

int throttle__look(struct throttle *throttle, uint64_t now, bool window_ended)
{
	int err = watch_overhead(throttle, now, window_ended);

	return err ? err : watch_rate(throttle, now);
}
