/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/kernel_chain.h"

#include <stdlib.h>

#include "base/minmax.h"

/* Greatest depth of __schedule under any hook. */
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
	 * The iterator's walk leaves these out, too: poll and epoll have the same leaf, whether the
	 * wait has ended or not.
	 */
	"schedule_hrtimeout",
	"schedule_hrtimeout_range",
	"schedule_hrtimeout_range_clock",
};

#define FAMILY_SIZE (sizeof(family) / sizeof(family[0]))

/*
 * Entry functions common to all system calls. perf report sorts by children by default: these
 * frames, with the whole call graph below each, would come first in every report.
 */
static const char *const entry[] = {
	"entry_SYSCALL_64",
	"entry_SYSCALL_64_after_hwframe",
	"do_syscall_64",
	"x64_sys_call",
	"entry_SYSENTER_compat_after_hwframe",
	"entry_SYSCALL_compat_after_hwframe",
	"asm_int80_emulation",
	"do_SYSENTER_32",
	"do_fast_syscall_32",
	"__do_fast_syscall_32",
	"do_int80_emulation",
	/* arm64 */
	"el0t_64_sync",
	"el0t_64_sync_handler",
	"el0_svc",
	"do_el0_svc",
	"el0_svc_common",
	"el0_svc_common.constprop.0",
	"invoke_syscall",
	"invoke_syscall.constprop.0",
};

#define ENTRY_SIZE (sizeof(entry) / sizeof(entry[0]))

struct range {
	uint64_t start;
	uint64_t end;
};

struct kernel_chain {
	struct range ranges[FAMILY_SIZE]; /* here and below sorted; neighbours are one */
	size_t nr;
	struct range entry[ENTRY_SIZE];
	size_t nr_entry;
	struct range waking; /* empty: not known */
};

static int compare_ranges(const void *a, const void *b)
{
	const struct range *l = a, *r = b;

	return l->start < r->start ? -1 : l->start > r->start;
}

/* Sorts ranges and joins neighbours: most of a family is adjacent. Returns their number. */
static size_t join_ranges(struct range *ranges, size_t nr_ranges)
{
	size_t nr = 0;

	qsort(ranges, nr_ranges, sizeof(*ranges), compare_ranges);
	for (size_t i = 0; i < nr_ranges; i++) {
		if (nr && ranges[i].start <= ranges[nr - 1].end)
			ranges[nr - 1].end = max_u64(ranges[nr - 1].end, ranges[i].end);
		else
			ranges[nr++] = ranges[i];
	}
	return nr;
}

/* Finds the ranges of those functions that this kernel has. */
static size_t find_ranges(const struct kallsyms *kallsyms, const char *const *names,
			  size_t nr_names, struct range *ranges)
{
	size_t nr = 0;

	for (size_t i = 0; i < nr_names; i++) {
		struct range *range = &ranges[nr];

		if (!kallsyms__range(kallsyms, names[i], &range->start, &range->end))
			nr++;
	}
	return join_ranges(ranges, nr);
}

struct kernel_chain *kernel_chain__new(const struct kallsyms *kallsyms)
{
	struct kernel_chain *kernel_chain = calloc(1, sizeof(*kernel_chain));

	if (!kernel_chain || !kallsyms || kallsyms__hidden(kallsyms))
		return kernel_chain;
	kernel_chain->nr = find_ranges(kallsyms, family, FAMILY_SIZE, kernel_chain->ranges);
	kernel_chain->nr_entry = find_ranges(kallsyms, entry, ENTRY_SIZE, kernel_chain->entry);
	if (kallsyms__range(kallsyms, "try_to_wake_up", &kernel_chain->waking.start,
			    &kernel_chain->waking.end))
		kernel_chain->waking = (struct range){ 0 };
	return kernel_chain;
}

void kernel_chain__delete(struct kernel_chain *kernel_chain)
{
	free(kernel_chain);
}

bool kernel_chain__works(const struct kernel_chain *kernel_chain)
{
	return kernel_chain && kernel_chain->nr;
}

static bool in_any(const struct range *ranges, size_t nr, uint64_t ip)
{
	for (size_t i = 0; i < nr; i++) {
		if (ip >= ranges[i].start && ip < ranges[i].end)
			return true;
	}
	return false;
}

/* Cuts the frames up to the first one in one of the ranges, and those in them that follow it. */
static void cut(const struct range *ranges, size_t nr_ranges, struct frames *kernel)
{
	uint32_t i = 0, limit = kernel->nr < SEARCH_DEPTH ? kernel->nr : SEARCH_DEPTH;

	while (i < limit && !in_any(ranges, nr_ranges, kernel->ips[i]))
		i++;
	if (i == limit)
		return;
	while (i < kernel->nr && in_any(ranges, nr_ranges, kernel->ips[i]))
		i++;
	/* The root is kept: a chain without frames would mean that nothing is known. */
	if (i == kernel->nr)
		i--;
	kernel->ips += i;
	kernel->nr -= i;
}

/* Cuts the entry of a system call from the root side. One frame is kept. */
static void cut_entry(const struct kernel_chain *kernel_chain, struct frames *kernel)
{
	/* A truncated chain has other frames at its root. */
	while (kernel->nr > 1 &&
	       in_any(kernel_chain->entry, kernel_chain->nr_entry, kernel->ips[kernel->nr - 1]))
		kernel->nr--;
}

void kernel_chain__cut(const struct kernel_chain *kernel_chain, enum sample_kind kind,
		       struct frames *kernel)
{
	if (!kernel_chain)
		return;
	switch (kind) {
	case SAMPLE_OFFCPU:
		cut(kernel_chain->ranges, kernel_chain->nr, kernel);
		break;
	case SAMPLE_WAKEUP:
		cut(&kernel_chain->waking, 1, kernel);
		break;
	case SAMPLE_ONCPU: /* it begins where the thread was interrupted */
	case SAMPLE_KINDS:
		break;
	}
	cut_entry(kernel_chain, kernel);
}
