/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_HOLDERS_H
#define DENET_STAT_HOLDERS_H

struct stat_programs;

/*
 * Tells the programs which threads hold the mutexes that others wait for already when the
 * measurement begins: the programs see memory of the current thread only. What cannot be read in
 * some 200 ms stays unknown. 0 or a negative errno.
 */
int holders__learn(struct stat_programs *programs);

#endif /* DENET_STAT_HOLDERS_H */
