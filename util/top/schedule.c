/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/schedule.h"

#include <stdlib.h>

void schedule__init(struct schedule *schedule, uint64_t period_ns, uint64_t now, uint64_t seed)
{
	*schedule = (struct schedule){ .period_ns = period_ns, .slot = now, .due = now };
	for (int i = 0; i < 3; i++)
		schedule->random[i] = (unsigned short)(seed >> 16 * i);
}

/* A moment in the period that begins at the slot. */
static void draw(struct schedule *schedule)
{
	schedule->due = schedule->slot +
			(uint64_t)(erand48(schedule->random) * (double)schedule->period_ns);
}

void schedule__set_period(struct schedule *schedule, uint64_t period_ns)
{
	schedule->period_ns = period_ns;
	draw(schedule);
}

uint64_t schedule__take(struct schedule *schedule, uint64_t now)
{
	uint64_t periods = (now - schedule->slot) / schedule->period_ns + 1;

	schedule->slot += periods * schedule->period_ns;
	draw(schedule);
	return periods * schedule->period_ns;
}
