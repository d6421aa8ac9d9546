/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/perfdata/sample_events.h"

#include "output/perfdata/wait_event.h"
#include "output/perfdata/writer.h"

/*
 * Sleeping daemons would drown the rest of a recording of the whole machine; where the user
 * named the targets, a thread that never ran may be the very deadlock that is looked for.
 */
static int write_block(struct sample_events *events, const struct sample *sample)
{
	bool idle = events->idle_apart && sample->never_ran;
	uint64_t waited = events->split ? sample->runqueue : 0;
	struct sample part = *sample;
	int err = 0;

	part.period = sample->period - waited;
	if (part.period || !waited)
		err = writer__sample(events->writer, idle ? WRITER_OFFCPU_IDLE : WRITER_OFFCPU_TIME,
				     &part);
	part.period = waited;
	if (waited && !err)
		err = writer__sample(events->writer, WRITER_RUNQUEUE_TIME, &part);
	if (!err && events->reasons && sample->reason && !idle)
		err = wait_event__write(events->writer, sample);
	if (err)
		return err;
	events->runqueue_ns += waited;
	if (idle) {
		events->idle.count++;
		events->idle.ns += sample->period - waited;
		events->ns += waited;
	} else {
		events->ns += sample->period;
		events->samples++;
		events->still_blocked += sample->still_blocked;
	}
	return 0;
}

static int write_wakeup(struct sample_events *events, const struct sample *sample)
{
	events->wakeups.count++;
	events->wakeups.ns += sample->period;
	return writer__sample(events->writer, WRITER_WAKEUP_TIME, sample);
}

int sample_events__write(void *ctx, const struct sample *sample)
{
	static int (*const write_kind[SAMPLE_KINDS])(struct sample_events *events,
						     const struct sample *sample) = {
		[SAMPLE_OFFCPU] = write_block,
		[SAMPLE_WAKEUP] = write_wakeup,
	};

	return write_kind[sample->kind](ctx, sample);
}
