/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/perfdata/sample_events.h"

#include <stdio.h>

#include "output/perfdata/time_kind.h"
#include "output/perfdata/wait_event.h"
#include "output/perfdata/writer.h"

/* Keeps the longest waits of different threads, the longest first. */
static void keep_longest(struct sample_events_wait longest[SAMPLE_EVENTS_LONGEST],
			 const struct sample *sample)
{
	struct sample_events_wait wait = {
		.ns = sample->period, .pid = sample->pid, .tid = sample->tid,
	};
	size_t at;

	snprintf(wait.call, sizeof(wait.call), "%s", sample->idle);
	for (at = 0; at < SAMPLE_EVENTS_LONGEST; at++) {
		struct sample_events_wait other = longest[at];

		if (wait.ns > other.ns) {
			longest[at] = wait;
			wait = other;
		}
		/* The displaced entry may be an older one of the same thread. */
		if (longest[at].tid == sample->tid && other.tid == sample->tid)
			return;
	}
}

/*
 * Number of blocks that a sample stands for: a drawn block also stands for those of its length that
 * were not drawn.
 */
static uint64_t represented(const struct sample *sample)
{
	const uint64_t measured = sample->measured;

	if (!measured || sample->period <= measured)
		return sample->count;
	return sample->count * (sample->period / measured +
				(sample->period % measured >= (measured + 1) / 2));
}

/* Waits for work have an event of their own: they would outweigh all others. */
static int write_block(struct sample_events *events, const struct sample *sample)
{
	bool idle = events->idle_apart && sample->idle;
	uint64_t waited = events->split ? sample->runqueue : 0;
	struct sample part = *sample;
	int err = 0;

	part.count = represented(sample);
	part.period = sample->period - waited;
	if (part.period || !waited)
		err = writer__sample(events->writer, idle ? WRITER_OFFCPU_IDLE : WRITER_OFFCPU_TIME,
				     &part);
	if (events->one_event && part.period)
		part.count = 0;
	part.period = waited;
	if (waited && !err)
		err = writer__sample(events->writer, WRITER_RUNQUEUE_TIME, &part);
	if (!err && events->reasons && sample->reason)
		err = wait_event__write(events->writer, sample);
	if (err)
		return err;
	events->runqueue_ns += waited;
	if (idle) {
		keep_longest(events->longest, sample);
		events->idle.count++;
		events->idle.ns += sample->period - waited;
		events->ns += waited;
	} else {
		events->ns += sample->period;
		events->for_any_ns += sample->for_any ? sample->period - waited : 0;
		events->samples++;
		events->still_blocked += sample->still_blocked;
		events->never_ran.count += sample->never_ran;
		events->never_ran.ns += sample->never_ran ? sample->period : 0;
	}
	return 0;
}

static int write_wakeup(struct sample_events *events, const struct sample *sample)
{
	struct sample counted = *sample;

	counted.count = represented(sample);
	events->wakeups.count++;
	events->wakeups.ns += sample->period;
	return writer__sample(events->writer, WRITER_WAKEUP_TIME, &counted);
}

static int write_running(struct sample_events *events, const struct sample *sample)
{
	const uint64_t ip = time_kind__address(TIME_NOT_SAMPLED);
	struct sample part = *sample;

	part.state = 'R';
	if (sample->not_sampled)
		part.kernel = (struct frames){ .ips = &ip, .nr = 1 };
	events->running.count++;
	events->running.ns += sample->period;
	return writer__sample(events->writer, WRITER_ONCPU_TIME, &part);
}

int sample_events__write(void *ctx, const struct sample *sample)
{
	static int (*const write_kind[SAMPLE_KINDS])(struct sample_events *events,
						     const struct sample *sample) = {
		[SAMPLE_OFFCPU] = write_block,
		[SAMPLE_WAKEUP] = write_wakeup,
		[SAMPLE_ONCPU] = write_running,
	};

	return write_kind[sample->kind](ctx, sample);
}
