/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_SAMPLING_EVENT_H
#define DENET_RECORD_SAMPLING_EVENT_H

#include "output/perfdata/records.h"
#include "session/rate_control.h"

struct writer;

/* Fills in the fields of a change: the new level, and the reason in numbers and words. */
void sampling_event__describe(struct writer_sampling *fields, const struct sampling_level *level,
			      const struct rate_control_reason *reason);

/* Writes a denet:rates event: the level from now on, and the reason. 0 or -errno. */
int sampling_event__write(struct writer *writer, const struct sampling_level *level,
			  const struct rate_control_reason *reason);

/* At the end: writes the share of the time, 0 to 1, in which --max-overhead sampled blocks. */
int sampling_event__write_share(struct writer *writer, const struct sampling_level *level,
				double share);

#endif /* DENET_RECORD_SAMPLING_EVENT_H */
