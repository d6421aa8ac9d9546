/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/strip_frames.h"

#include <stdlib.h>

/* Deeper than this, no hook puts __schedule. */
#define SEARCH_DEPTH 16

static const char *const family[] = {
	"__schedule",
	"schedule",
	"schedule_idle",
	"schedule_user",
	"schedule_rtlock",
	"schedule_preempt_disabled",
	"__schedule_loop",
	"preempt_schedule",
	"preempt_schedule_common",
	"preempt_schedule_irq",
	"preempt_schedule_notrace",
	"preempt_schedule_thunk",
	"preempt_schedule_notrace_thunk",
};

#define FAMILY_SIZE (sizeof(family) / sizeof(family[0]))

struct range {
	uint64_t start;
	uint64_t end;
};

struct trim {
	struct range ranges[FAMILY_SIZE];
	size_t nr;
	struct range waking; /* empty: not known */
};

struct trim *trim__new(const struct kallsyms *kallsyms)
{
	struct trim *trim = calloc(1, sizeof(*trim));

	if (!trim || !kallsyms || kallsyms__hidden(kallsyms))
		return trim;
	for (size_t i = 0; i < FAMILY_SIZE; i++) {
		struct range *range = &trim->ranges[trim->nr];

		if (!kallsyms__range(kallsyms, family[i], &range->start, &range->end))
			trim->nr++;
	}
	if (kallsyms__range(kallsyms, "try_to_wake_up", &trim->waking.start, &trim->waking.end))
		trim->waking = (struct range){ 0 };
	return trim;
}

void trim__delete(struct trim *trim)
{
	free(trim);
}

bool trim__works(const struct trim *trim)
{
	return trim && trim->nr;
}

static bool in_any(const struct range *ranges, size_t nr, uint64_t ip)
{
	for (size_t i = 0; i < nr; i++) {
		if (ip >= ranges[i].start && ip < ranges[i].end)
			return true;
	}
	return false;
}

/* Cuts what lies before the first frame in one of the ranges, and those that follow it. */
static void cut(const struct range *ranges, size_t nr_ranges, struct frames *kernel)
{
	uint32_t i = 0, limit = kernel->nr < SEARCH_DEPTH ? kernel->nr : SEARCH_DEPTH;

	while (i < limit && !in_any(ranges, nr_ranges, kernel->ips[i]))
		i++;
	if (i == limit)
		return;
	while (i < kernel->nr && in_any(ranges, nr_ranges, kernel->ips[i]))
		i++;
	/* The root is kept: a chain without frames would say that nothing is known. */
	if (i == kernel->nr)
		i--;
	kernel->ips += i;
	kernel->nr -= i;
}

void trim__cut(const struct trim *trim, struct frames *kernel)
{
	if (trim__works(trim))
		cut(trim->ranges, trim->nr, kernel);
}

void trim__cut_wakeup(const struct trim *trim, struct frames *kernel)
{
	if (trim)
		cut(&trim->waking, 1, kernel);
}
