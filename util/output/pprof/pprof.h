/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_PPROF_H
#define DENET_OUTPUT_PPROF_H

#include <stdio.h>

#include "profile/profile.h"

/*
 * pprof's profile.proto, compressed with gzip as its readers expect. A sample has as many values as
 * there are types: off_cpu, on_cpu, idle and wakeup, in nanoseconds, and samples, a count; and the
 * labels thread, process, state, event, wait, tid and pid. 0, -ENOMEM or -EIO.
 */
int pprof__write(const struct profile *profile, FILE *out);

#endif /* DENET_OUTPUT_PPROF_H */
