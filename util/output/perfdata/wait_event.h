/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_PERFDATA_WAIT_EVENT_H
#define DENET_OUTPUT_PERFDATA_WAIT_EVENT_H

#include "output/perfdata/writer.h"
#include "sample.h"

/* Maximum length of the event's text, so that a line of `perf script` stays readable. */
#define WAIT_EVENT_COLUMNS 100

/* Fills in the fields of denet:waits for a sample that has a reason. */
void wait_event__fill(struct writer_wait *wait, const struct sample *sample);

/* Writes the event of a sample that has a reason. 0 or a negative errno. */
int wait_event__write(struct writer *writer, const struct sample *sample);

#endif /* DENET_OUTPUT_PERFDATA_WAIT_EVENT_H */
