/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/sampling_event.h"

#include <inttypes.h>
#include <stdio.h>

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
