/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_SAMPLING_EVENT_H
#define DENET_RECORD_SAMPLING_EVENT_H

#include "output/perfdata/records.h"
#include "session/rate_control.h"

struct writer;

/* The fields of a change of what is in force: the levels, and the reason in numbers and words. */
void sampling_event__describe(struct writer_sampling *fields, const struct sampling_level *level,
			      const struct rate_control_reason *reason);

/* The recorder's own word in the file: how coarse samples are from now on, and why. 0 or -errno. */
int sampling_event__write(struct writer *writer, const struct sampling_level *level,
			  const struct rate_control_reason *reason);

/* In the end: for which share of the time, 0 to 1, --max-overhead had blocks sampled. */
int sampling_event__write_share(struct writer *writer, const struct sampling_level *level,
				double share);

#endif /* DENET_RECORD_SAMPLING_EVENT_H */
