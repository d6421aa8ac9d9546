/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/sideband_filter.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"
#include "machine/machine.h"

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

/* A record that makes no sense costs itself, not the recording. */
static int leave_out(struct sideband_filter *filter, const void *record, size_t size)
{
	struct perf_event_header header = { 0 };

	memcpy(&header, record, size < sizeof(header) ? size : sizeof(header));
	if (!filter->nr_senseless++)
		pr_warn("the kernel sent a record that makes no sense (type %u, misc %#x, %zu "
			"bytes): it is left out, as are others like it",
			header.type, header.misc, size);
	return 0;
}

static bool lives(const struct sideband_filter *filter, pid_t pid)
{
	return process__lives(machine__process(filter->machine, pid));
}

/* Whether the machine is to know of it: what belongs to the recording, and what is left out. */
static bool is_followed(const struct sideband_filter *filter, const struct task_event *event)
{
	if (event->kind == TASK_EVENT_EXIT && event->tid == filter->own)
		return false;
	if (filter->all)
		return true;
	if (event->kind != TASK_EVENT_FORK)
		return lives(filter, event->pid);
	/* A child if its parent is; a thread has its process for a parent. */
	return lives(filter, event->ppid) &&
	       (!filter->no_inherit || event->pid == event->ppid);
}

/* More of a process's mappings and names than anyone could read. */
static bool is_flood(struct sideband_filter *filter, struct process *process,
		     const struct task_event *event)
{
	if (event->kind != TASK_EVENT_MMAP && event->kind != TASK_EVENT_COMM)
		return false;
	if (event->time - process->told_since >= NSEC_PER_SEC) {
		process->told_since = event->time;
		process->nr_told = 0;
	}
	process->nr_told += event->kind == TASK_EVENT_MMAP ? SIDEBAND_FILTER_NAMES_PER_MAP : 1;
	if (process->nr_told <= SIDEBAND_FILTER_MAX_RATE * SIDEBAND_FILTER_NAMES_PER_MAP)
		return false;
	if (!filter->nr_flooded++)
		pr_warn("pid %d changes its mappings or names more than %d times a second: the "
			"file has only so many of them, and frames in the others have no names",
			(int)event->pid, SIDEBAND_FILTER_MAX_RATE);
	return true;
}

int sideband_filter__take(struct sideband_filter *filter, const void *record, size_t size,
			  struct task_event *event)
{
	struct process *process;
	int ret;

	if (task_event__decode(record, size, event) || event->kind == TASK_EVENT_CGROUP)
		return leave_out(filter, record, size);
	/* Of another PID namespace than ours, or of an idle task. */
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
