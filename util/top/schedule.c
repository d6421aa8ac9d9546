/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/schedule.h"

#include <stdlib.h>

#include "base/minmax.h"

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

/* So many periods a look may stand for. */
static uint64_t most_periods(const struct schedule *schedule)
{
	uint64_t most = max_u64(SCHEDULE_MOST_NS, 2 * schedule->weight_ns);

	return max_u64(most / schedule->period_ns, 2);
}

uint64_t schedule__take(struct schedule *schedule, uint64_t now)
{
	uint64_t period = schedule->period_ns, gone = (now - schedule->slot) / period + 1;
	uint64_t periods = min_u64(gone, most_periods(schedule));

	schedule->weight_ns = periods * period;
	schedule->unseen_ns += (gone - periods) * period;
	schedule->slot += gone * period;
	draw(schedule);
	return schedule->weight_ns;
}
