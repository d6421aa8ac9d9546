/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/existing.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/id_list.h"
#include "base/log.h"
#include "capture/capture.h"
#include "synth/synth.h"

static int tell(const struct existing_options *options, const struct task_event *event)
{
	return options->event(options->ctx, event);
}

static int tell_kernel_map(void *ctx, uint64_t start, uint64_t len, uint64_t pgoff,
			   const char *name)
{
	const struct task_event event = {
		.kind = TASK_EVENT_KERNEL_MMAP,
		.pid = -1,
		.map = { .start = start, .len = len, .pgoff = pgoff, .path = name },
	};

	return tell(ctx, &event);
}

int existing__tell_kernel(const struct existing_options *options, struct capture *capture)
{
	struct kallsyms_bounds bounds;
	int err = capture__kernel_bounds(capture, &bounds);

	if (!err)
		return synth__kernel(&bounds, tell_kernel_map, (void *)(uintptr_t)options);
	/* The capture has logged the cause and the remedy. */
	pr_verbose("no map of the kernel: %s",
		   err == -EPERM ? "its addresses are hidden" : strerror(-err));
	return 0;
}

static int tell_task(const struct existing_options *options, const struct capture_task *task)
{
	pid_t parent = task->pid == task->tid ? task->ppid : task->pid;
	const struct task_event fork = { .kind = TASK_EVENT_FORK, .pid = task->pid,
					 .tid = task->tid, .ppid = parent, .ptid = parent };
	const struct task_event comm = { .kind = TASK_EVENT_COMM, .pid = task->pid,
					 .tid = task->tid, .comm = task->comm };
	int err = tell(options, &fork);

	if (!err && options->task)
		err = options->task(options->ctx, task);
	return err ? err : tell(options, &comm);
}

static int tell_map(void *ctx, const struct task_event *event)
{
	return tell(ctx, event);
}

static void report_maps(const struct synth_result *result)
{
	if (result->missed)
		pr_warn("the memory maps of %" PRIu64 " processes could not be read in time (the "
			"first is %d, it may be stuck): their frames will have no names",
			result->missed, result->first_missed);
	if (result->not_asked)
		pr_warn("the memory maps of %" PRIu64 " processes were not read, since others took "
			"too long: their frames will have no names",
			result->not_asked);
	if (result->no_process)
		pr_warn("the memory maps of %" PRIu64 " processes were not read, since no process "
			"could be made for that: their frames will have no names; raise "
			"`ulimit -u` or the tasks limit of the cgroup",
			result->no_process);
	if (result->failed)
		pr_warn("the memory maps of %" PRIu64 " processes could not be read: their frames "
			"will have no names",
			result->failed);
	if (result->bad_lines)
		pr_warn("%" PRIu64 " memory mappings have an unknown format: "
			"their frames will have no names",
			result->bad_lines);
	if (result->denied)
		pr_warn("the memory maps of %" PRIu64 " processes may not be read: their frames "
			"will have no names; CAP_SYS_PTRACE helps",
			result->denied);
	pr_verbose("existing processes: maps of %" PRIu64 " read, %" PRIu64 " had ended",
		   result->processes, result->gone);
}

static int tell_maps(const struct existing_options *options, const struct id_list *pids)
{
	struct synth_result result = { 0 };
	int err;

	err = (options->data_maps ? synth__data_maps : synth__maps)(
		pids->ids, pids->nr, options->deadline_ms, tell_map, (void *)(uintptr_t)options,
		&result);
	if (!err)
		report_maps(&result);
	return err;
}

int existing__tell_tasks(const struct existing_options *options, struct capture *capture)
{
	struct id_list pids = { 0 };
	const struct capture_task *tasks;
	size_t nr = 0;
	int err = 0;

	tasks = capture__tasks(capture, &nr);
	for (size_t i = 0; i < nr && !err; i++) {
		if (!options->all && !tasks[i].target)
			continue;
		err = tell_task(options, &tasks[i]);
		if (!err && !tasks[i].kthread && tasks[i].pid != options->unmapped)
			err = id_list__add(&pids, tasks[i].pid);
	}
	if (!err)
		err = tell_maps(options, &pids);
	id_list__free(&pids);
	return err;
}
