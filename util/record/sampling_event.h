/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_SAMPLING_EVENT_H
#define DENET_RECORD_SAMPLING_EVENT_H

#include "output/perfdata/writer.h"

/* Puts into words which of the two reasons the fields hold: the budget, or else the cost. */
void sampling_event__describe(struct writer_sampling *fields);

#endif /* DENET_RECORD_SAMPLING_EVENT_H */
