/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_SAMPLING_EVENT_H
#define DENET_RECORD_SAMPLING_EVENT_H

#include "output/perfdata/writer.h"
#include "session/throttle.h"

/* Puts into words which of the two reasons the fields hold: the budget, or else the cost. */
void sampling_event__describe(struct writer_sampling *fields);

/* Writes denet:sampling: how coarse samples are from now on, and why. 0 or a negative errno. */
int sampling_event__write(struct writer *writer, const struct throttle_change *change);

#endif /* DENET_RECORD_SAMPLING_EVENT_H */
