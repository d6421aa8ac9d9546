/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/sampling_event.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

_Static_assert(sizeof(struct writer_sampling) == 4 * 8 + 4 * 4 + 80,
	       "the fields lie one behind the other, as the format says");

void sampling_event__describe(struct writer_sampling *fields)
{
	if (fields->max_rate)
		snprintf(fields->text, sizeof(fields->text), "at most %" PRIu32 " samples a second",
			 fields->max_rate);
	else
		snprintf(fields->text, sizeof(fields->text),
			 "cost: programs %" PRIu32 " and recorder %" PRIu32 " of %" PRIu32
			 " ppm of a CPU",
			 fields->bpf_ppm, fields->own_ppm, fields->limit_ppm);
}

int sampling_event__write(struct writer *writer, const struct throttle_change *change)
{
	struct writer_sampling fields = {
		.old_period_ns = change->old.period_ns,
		.new_period_ns = change->new.period_ns,
		.old_threshold_ns = change->old.threshold_ns,
		.new_threshold_ns = change->new.threshold_ns,
		.max_rate = change->max_rate,
		.bpf_ppm = change->bpf_ppm,
		.own_ppm = change->own_ppm,
		.limit_ppm = change->limit_ppm,
	};
	uint32_t pid = (uint32_t)getpid();
	const struct writer_trace trace = {
		.time = clock__now_ns(),
		.pid = pid,
		.tid = pid,
		.fields = &fields,
		.size = sizeof(fields),
	};
	int err = writer__comm(writer, pid, pid, "denet-record");

	sampling_event__describe(&fields);
	return err ? err : writer__trace(writer, WRITER_SAMPLING, &trace);
}
