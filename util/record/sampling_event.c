/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/sampling_event.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "output/perfdata/writer.h"

_Static_assert(sizeof(struct writer_sampling) == 4 * 8 + 4 * 4 + 80,
	       "the fields lie one behind the other, as the format says");

static void put_words(struct writer_sampling *fields, enum rate_control_cause cause)
{
	if (cause == RATE_CONTROL_BUDGET)
		snprintf(fields->text, sizeof(fields->text), "at most %" PRIu32 " samples a second",
			 fields->max_rate);
	else
		snprintf(fields->text, sizeof(fields->text),
			 "cost: programs %" PRIu32 " and recorder %" PRIu32 " of %" PRIu32
			 " ppm of a CPU%s",
			 fields->bpf_ppm, fields->own_ppm, fields->limit_ppm,
			 cause == RATE_CONTROL_RETURN ? ", the load is gone" : "");
}

void sampling_event__describe(struct writer_sampling *fields, const struct sampling_level *level,
			      const struct rate_control_reason *reason)
{
	*fields = (struct writer_sampling){
		.old_period_ns = reason->old.period_ns,
		.new_period_ns = level->period_ns,
		.old_threshold_ns = reason->old.threshold_ns,
		.new_threshold_ns = level->threshold_ns,
		.max_rate = reason->max_rate,
		.bpf_ppm = reason->bpf_ppm,
		.own_ppm = reason->own_ppm,
		.limit_ppm = reason->limit_ppm,
	};
	put_words(fields, reason->cause);
}

static int write_fields(struct writer *writer, const struct writer_sampling *fields)
{
	const pid_t pid = getpid();
	const struct task_event name = { .kind = TASK_EVENT_COMM, .pid = pid, .tid = pid,
					 .comm = log__program() };
	const struct writer_trace trace = {
		.time = clock__now_ns(),
		.pid = (uint32_t)pid,
		.tid = (uint32_t)pid,
		.fields = fields,
		.size = sizeof(*fields),
	};
	int err = writer__task_event(writer, &name);

	return err ? err : writer__trace(writer, WRITER_SAMPLING, &trace);
}

int sampling_event__write(struct writer *writer, const struct sampling_level *level,
			  const struct rate_control_reason *reason)
{
	struct writer_sampling fields;

	sampling_event__describe(&fields, level, reason);
	return write_fields(writer, &fields);
}

int sampling_event__write_share(struct writer *writer, const struct sampling_level *level,
				double share)
{
	struct writer_sampling fields = {
		.old_period_ns = level->period_ns,
		.new_period_ns = level->period_ns,
		.old_threshold_ns = level->threshold_ns,
		.new_threshold_ns = level->threshold_ns,
	};

	snprintf(fields.text, sizeof(fields.text), "--max-overhead sampled %.1f %% of the time",
		 100 * share);
	return write_fields(writer, &fields);
}
