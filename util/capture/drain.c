/* SPDX-License-Identifier: GPL-2.0-only */
/* The end of a window: generations swapped, rings and sums read. */
#include "capture/internal.h"

#include <errno.h>

#include "base/clock.h"
#include "base/log.h"
#include "capture/decode.h"

/* The share of its room at which a generation is drained before its window ends. */
#define DRAIN_AT_PERCENT 50

struct drain {
	struct capture *capture;
	const struct stacks *stacks;
	struct reason_store *reasons;
};

/* The frames of an id; an id without them is a loss, which is counted. */
static bool find_frames(const struct drain *drain, uint64_t id, struct frames *frames)
{
	return !id || stacks__find(drain->stacks, id, frames);
}

/* Delivers a sum; period: the time it stands for, if that is not in the entry. */
static int deliver(struct drain *drain, const struct wire_entry_key *key,
		   const struct wire_entry *entry, uint64_t period)
{
	struct capture *capture = drain->capture;
	struct sample sample;
	bool kernel, user;

	/* The period of a look is known once all looks of the window are. */
	if (key->flags & WIRE_BLOCK_ON_CPU && !period)
		return running__add_sum(&capture->running, key, entry);
	decode__entry(key, entry, &sample);
	if (period)
		sample.period = sample.measured = period;
	kernel = find_frames(drain, key->kernel_id, &sample.kernel);
	user = find_frames(drain, key->user_id, &sample.user);
	if (!kernel || !user) {
		capture->stats.lost_stack.count += sample.count;
		capture->stats.lost_stack.ns += sample.period;
	}
	if (key->reason_id &&
	    reason_store__find(drain->reasons, key->reason_id, &capture->reason))
		sample.reason = &capture->reason;
	return capture__deliver(capture, &sample, DELIVERY_SUM);
}

static int deliver_sum(void *ctx, const struct wire_entry_key *key, const struct wire_entry *entry)
{
	return deliver(ctx, key, entry, 0);
}

static int deliver_looks(void *ctx, const struct wire_entry_key *key,
			 const struct wire_entry *entry, uint64_t period)
{
	return deliver(ctx, key, entry, period);
}

static int deliver_not_sampled(void *ctx, const struct wire_run *run, uint64_t period)
{
	const struct drain *drain = ctx;
	struct sample sample;

	decode__not_sampled(run, period, &sample);
	return capture__deliver(drain->capture, &sample, DELIVERY_SUM);
}

bool capture__wants_drain(const struct capture *capture)
{
	return capture->started &&
	       window_maps__percent_used(&capture->maps->windows) >= DRAIN_AT_PERCENT;
}

uint64_t capture__pending_sums(const struct capture *capture)
{
	return capture->started ? window_maps__sums(&capture->maps->windows) : 0;
}

/* Delivers the sums of a generation that no program adds to any more. */
static int take_generation(struct capture *capture, unsigned int gen)
{
	struct drain drain = {
		.capture = capture,
		.stacks = capture->stacks[gen],
		.reasons = &capture->reasons[gen],
	};
	const struct running_sink sink = { &drain, deliver_looks, deliver_not_sampled };
	int err = window_maps__take(&capture->maps->windows, gen, deliver_sum, &drain);

	if (!err)
		err = running__end_window(&capture->running, &sink);
	stacks__clear(capture->stacks[gen]);
	reason_store__clear(&capture->reasons[gen]);
	return err;
}

/*
 * The order matters: once the generations are swapped, no program adds to the old one, so all
 * stacks that its sums refer to are in the rings; the rings are read before the sums. An empty
 * generation is not swapped, which would wait for a grace period.
 */
int capture__drain(struct capture *capture)
{
	struct window_maps *window_maps = &capture->maps->windows;
	uint64_t now = clock__now_ns();
	bool has_sums;
	int gen = 0, err;

	if (!capture->started)
		return 0;
	has_sums = window_maps__has_sums(window_maps) || capture->options.on_cpu.clock;
	if (has_sums)
		gen = window_maps__swap(window_maps);
	if (gen < 0) {
		pr_err("cannot end a window: %s", strerror(-gen));
		return gen;
	}
	err = capture__read_rings(capture);
	if (err < 0)
		return err;
	/* Hotplug events are not available to all users. */
	err = rings__wants_update(capture->rings) ? capture__update_rings(capture) : 0;
	if (!err && capture->options.on_cpu.clock && capture->begun && !capture->stopped)
		err = offcpu__report_runs(capture->offcpu, now, capture__take_runs, capture);
	if (err)
		return err;
	if (has_sums)
		err = take_generation(capture, (unsigned int)gen);
	capture->stats.windows++;
	if (!err && capture->sink.round)
		err = capture->sink.round(capture->sink.ctx);
	return err;
}
