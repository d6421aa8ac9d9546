/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_HOLDERS_H
#define DENET_STAT_HOLDERS_H

#include "base/units.h"

struct buffer;
struct stat_programs;

/* How long a wait is whose holder is looked at again. */
#define HOLDERS_CHECK_FROM_NS (100 * NSEC_PER_MSEC)

/*
 * Tells the programs which threads hold the mutexes that others wait for already when the
 * measurement begins: the programs see memory of the current thread only. What cannot be read in
 * some 200 ms stays unknown. 0 or a negative errno.
 */
int holders__learn(struct stat_programs *programs);

/*
 * Looks again at who holds the mutexes of waits (struct stat_wire_thread) that are long: the holder
 * of when a wait began may have handed its mutex on to another thread. 0 or -ENOMEM.
 */
int holders__check(struct buffer *waits);

#endif /* DENET_STAT_HOLDERS_H */
