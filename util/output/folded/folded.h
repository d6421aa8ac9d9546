/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_FOLDED_H
#define DENET_OUTPUT_FOLDED_H

#include <stdio.h>

#include "profile/profile.h"

/*
 * Folded stacks, which flame graph programs read, a line for each thread name and stack:
 *
 *	THREAD;OUTERMOST;...;LEAF NS
 *
 * sorted. Kernel functions end in "_[k]"; a blank in the name of a thread is "_", a semicolon in
 * one of a function is ":". If there are several events, lines begin with theirs. 0, -ENOMEM or
 * -EIO.
 */
int folded__write(const struct profile *profile, FILE *out);

#endif /* DENET_OUTPUT_FOLDED_H */
