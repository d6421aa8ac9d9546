/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_DECODE_TIMES_H
#define DENET_STAT_DECODE_TIMES_H

#include "stat/stat_data.h"
#include "stat_wire.h"

/* Times as the programs keep them, as plain values. */
void decode_times(struct stat_times *to, const struct stat_wire_times *times);

#endif /* DENET_STAT_DECODE_TIMES_H */
