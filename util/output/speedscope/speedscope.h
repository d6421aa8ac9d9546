/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_SPEEDSCOPE_H
#define DENET_OUTPUT_SPEEDSCOPE_H

#include <stdio.h>

#include "profile/profile.h"

/*
 * The JSON of speedscope.app: a profile for each thread and event, the one with the most time
 * first, whose samples are the thread's stacks and whose weights are ns. 0, -ENOMEM or -EIO.
 */
int speedscope__write(const struct profile *profile, FILE *out);

#endif /* DENET_OUTPUT_SPEEDSCOPE_H */
