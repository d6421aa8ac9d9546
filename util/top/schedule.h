/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_SCHEDULE_H
#define DENET_TOP_SCHEDULE_H

#include <stdint.h>

/*
 * When threads are looked at: once in each period, at a moment that is drawn anew. Looks at even
 * distances would meet what happens in the same rhythm always or never.
 */
struct schedule {
	uint64_t period_ns;
	uint64_t slot; /* when the period of the next look begins */
	uint64_t due;  /* when the next look is */
	uint64_t weight_ns; /* that the last look stands for */
	uint64_t unseen_ns; /* that no look stands for, in all */
	unsigned short random[3];
};

#define SCHEDULE_MOST_NS 200000000ULL

/* The first look is due at once. */
void schedule__init(struct schedule *schedule, uint64_t period_ns, uint64_t now, uint64_t seed);

/* The looks from the next one on have this period. */
void schedule__set_period(struct schedule *schedule, uint64_t period_ns);

/*
 * A look takes place now, at due or later. Returns the time that it stands for: its period, and
 * those that went by without one, but at most SCHEDULE_MOST_NS, two periods or twice the time of
 * the look before, whichever is the longest: of a gap, as while the process is stopped, nothing is
 * known. Where each look takes longer than its period, weights follow within a few looks.
 */
uint64_t schedule__take(struct schedule *schedule, uint64_t now);

#endif /* DENET_TOP_SCHEDULE_H */
