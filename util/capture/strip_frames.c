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
	/*
	 * The walk from outside leaves them out, too: poll and epoll have the same leaf, whether
	 * the wait has ended or not.
	 */
	"schedule_hrtimeout",
	"schedule_hrtimeout_range",
	"schedule_hrtimeout_range_clock",
};

#define FAMILY_SIZE (sizeof(family) / sizeof(family[0]))

struct range {
	uint64_t start;
	uint64_t end;
};

struct strip_frames {
	struct range ranges[FAMILY_SIZE];
	size_t nr;
	struct range waking; /* empty: not known */
};

struct strip_frames *strip_frames__new(const struct kallsyms *kallsyms)
{
	struct strip_frames *strip_frames = calloc(1, sizeof(*strip_frames));

	if (!strip_frames || !kallsyms || kallsyms__hidden(kallsyms))
		return strip_frames;
	for (size_t i = 0; i < FAMILY_SIZE; i++) {
		struct range *range = &strip_frames->ranges[strip_frames->nr];

		if (!kallsyms__range(kallsyms, family[i], &range->start, &range->end))
			strip_frames->nr++;
	}
	if (kallsyms__range(kallsyms, "try_to_wake_up", &strip_frames->waking.start,
			    &strip_frames->waking.end))
		strip_frames->waking = (struct range){ 0 };
	return strip_frames;
}

void strip_frames__delete(struct strip_frames *strip_frames)
{
	free(strip_frames);
}

bool strip_frames__works(const struct strip_frames *strip_frames)
{
	return strip_frames && strip_frames->nr;
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

void strip_frames__cut(const struct strip_frames *strip_frames, enum sample_kind kind,
		       struct frames *kernel)
{
	if (!strip_frames)
		return;
	switch (kind) {
	case SAMPLE_OFFCPU:
		cut(strip_frames->ranges, strip_frames->nr, kernel);
		break;
	case SAMPLE_WAKEUP:
		cut(&strip_frames->waking, 1, kernel);
		break;
	case SAMPLE_KINDS:
		break;
	}
}
