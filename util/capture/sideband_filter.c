/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/sideband_filter.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/log.h"
#include "base/minmax.h"
#include "base/units.h"
#include "machine/machine.h"

/* Steps from the greatest rate to the least. */
#define MAX_FLOODS 4
/* After this time the total has decayed to 0. */
#define LONGEST (SIDEBAND_FILTER_BURST / SIDEBAND_FILTER_TOTAL_RATE * NSEC_PER_SEC)

int sideband_filter__init(struct sideband_filter *filter, struct machine *machine, pid_t own,
			  bool all)
{
	const struct task_event event = { .kind = TASK_EVENT_FORK, .pid = own, .tid = own };
	int err;

	*filter = (struct sideband_filter){ .machine = machine, .own = own, .all = all };
	if (!all)
		return 0;
	err = machine__handle(machine, &event);
	if (!err)
		machine__process(machine, own)->left_out = true;
	return err;
}

void sideband_filter__unmark(void *record)
{
	struct perf_event_header *header = record;

	header->misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
}

bool sideband_filter__decode(struct sideband_filter *filter, const void *record, size_t size,
			     struct task_event *event)
{
	struct perf_event_header header = { 0 };

	if (!task_event__decode(record, size, event) && event->kind != TASK_EVENT_CGROUP)
		return true;
	memcpy(&header, record, size < sizeof(header) ? size : sizeof(header));
	if (!filter->nr_senseless++)
		pr_warn("the kernel sent an invalid record (type %u, misc %#x, %zu bytes): it is "
			"ignored, and so are further ones",
			header.type, header.misc, size);
	return false;
}

static bool lives(const struct sideband_filter *filter, pid_t pid)
{
	return process__lives(machine__process(filter->machine, pid));
}

/* True if the machine follows the task: it belongs to the recording, or is marked as left out. */
static bool is_followed(const struct sideband_filter *filter, const struct task_event *event)
{
	if (event->kind == TASK_EVENT_EXIT && event->tid == filter->own)
		return false;
	if (filter->all)
		return true;
	if (event->kind != TASK_EVENT_FORK)
		return lives(filter, event->pid);
	/* A child if its parent is; for a thread, ppid is its process. */
	return lives(filter, event->ppid) &&
	       (!filter->no_inherit || event->pid == event->ppid);
}

/* Names a second. */
static uint64_t own_limit(const struct process *process)
{
	return max_u64(SIDEBAND_FILTER_MAX_RATE >> 2 * process->floods,
		       SIDEBAND_FILTER_LEAST_RATE) *
	       SIDEBAND_FILTER_NAMES_PER_MAP;
}

static uint64_t limit_of(const struct sideband_filter *filter, const struct process *process)
{
	if (filter->told > SIDEBAND_FILTER_BURST * SIDEBAND_FILTER_NAMES_PER_MAP)
		return SIDEBAND_FILTER_LEAST_RATE * SIDEBAND_FILTER_NAMES_PER_MAP;
	return own_limit(process);
}

/* Begins a new second of a process, the first one with its parent's level. */
static void judge_second(struct process *process, uint64_t time)
{
	uint64_t quiet = process->told_since ? (time - process->told_since) / NSEC_PER_SEC : 0;

	if (process->nr_told > own_limit(process)) {
		process->floods++;
		quiet--;
	}
	process->floods = (unsigned int)min_u64(process->floods, MAX_FLOODS);
	process->floods -= (unsigned int)min_u64(process->floods, quiet);
	process->told_since = time;
	process->nr_told = 0;
}

/* Decays the total of all processes at its permitted rate. */
static void forget_told(struct sideband_filter *filter, uint64_t time)
{
	const uint64_t rate = SIDEBAND_FILTER_TOTAL_RATE * SIDEBAND_FILTER_NAMES_PER_MAP;
	uint64_t passed = time > filter->told_until ? time - filter->told_until : 0, names;

	if (passed > LONGEST) {
		filter->told_until = time - LONGEST;
		passed = LONGEST;
	}
	names = passed * rate / NSEC_PER_SEC;
	filter->told -= min_u64(filter->told, names);
	filter->told_until += names * NSEC_PER_SEC / rate;
}

/* True if the mappings and names of a process, or of all, exceed their limit. */
static bool is_flood(struct sideband_filter *filter, struct process *process,
		     const struct task_event *event)
{
	unsigned int names = event->kind == TASK_EVENT_MMAP ? SIDEBAND_FILTER_NAMES_PER_MAP : 1;

	if (event->kind != TASK_EVENT_MMAP && event->kind != TASK_EVENT_COMM)
		return false;
	if (event->time >= process->told_since + NSEC_PER_SEC)
		judge_second(process, event->time);
	forget_told(filter, event->time);
	process->nr_told += names;
	if (process->nr_told <= limit_of(filter, process)) {
		filter->told += names;
		return false;
	}
	if (!filter->nr_flooded++)
		pr_warn("pid %d changes its mappings or names more than %" PRIu64 " times a "
			"second: only so many are recorded, and frames in the others have no names",
			(int)event->pid,
			limit_of(filter, process) / SIDEBAND_FILTER_NAMES_PER_MAP);
	return true;
}

int sideband_filter__take(struct sideband_filter *filter, const struct task_event *event)
{
	struct process *process;
	int ret;

	/* A task of another PID namespace than ours, or an idle task. */
	if (event->pid <= 0 || !is_followed(filter, event))
		return 0;
	ret = machine__handle(filter->machine, event);
	if (ret < 0)
		return ret;
	process = machine__process(filter->machine, event->pid);
	if (ret && !filter->keep_known)
		return 0;
	return !process || (!process->left_out && !is_flood(filter, process, event));
}
