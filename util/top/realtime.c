/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/realtime.h"

#include <sched.h>

void realtime__enter(struct realtime *realtime)
{
	const struct sched_param lowest = { .sched_priority = 1 };
	struct sched_param param;

	if (realtime->on)
		return;
	realtime->policy = sched_getscheduler(0);
	if (realtime->policy < 0 || sched_getparam(0, &param))
		return;
	realtime->priority = param.sched_priority;
	/* Who is a real-time process already has chosen its own priority. */
	if (realtime->policy != SCHED_OTHER && realtime->policy != SCHED_BATCH)
		return;
	realtime->on = !sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest);
}

void realtime__leave(struct realtime *realtime)
{
	const struct sched_param param = { .sched_priority = realtime->priority };

	if (realtime->on)
		sched_setscheduler(0, realtime->policy, &param);
	realtime->on = false;
}
