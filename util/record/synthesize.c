/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/synthesize.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "capture/capture.h"
#include "output/perfdata/writer.h"
#include "record/cgroups.h"
#include "callchain/callchain.h"
#include "symbol/dso_table.h"
#include "machine/leader_exit.h"
#include "machine/snapshot.h"
#include "record/parse.h"
#include "machine/mount_ns.h"
#include "synth/synth.h"

static int write_kernel_map(void *ctx, uint64_t start, uint64_t len, uint64_t pgoff,
			    const char *name)
{
	const struct synthesize_options *options = ctx;
	int err;

	err = writer__kernel_mmap(options->writer, start, len, pgoff, name);
	if (!err && options->snapshot)
		err = snapshot__kernel_map(options->snapshot, start, len, pgoff, name);
	if (err || !options->dso_table)
		return err;
	return dso_table__kernel_map(options->dso_table, start, len, name);
}

static int write_kernel(const struct synthesize_options *options, struct capture *capture)
{
	struct kallsyms_bounds bounds;
	int err = capture__kernel_bounds(capture, &bounds);

	if (!err)
		return synth__kernel(&bounds, write_kernel_map, (void *)(uintptr_t)options);
	/* The capture has said what is missing and what helps. */
	pr_verbose("no map of the kernel: %s",
		   err == -EPERM ? "its addresses are hidden" : strerror(-err));
	return 0;
}

static int write_task(const struct synthesize_options *options, const struct capture_task *task)
{
	pid_t parent = task->pid == task->tid ? task->ppid : task->pid;
	int err = 0;

	/* At the FORK of a process, hotspot replaces its mappings by those of its parent. */
	if (task->pid != task->tid)
		err = writer__fork(options->writer, (uint32_t)task->pid, (uint32_t)parent,
				   (uint32_t)task->tid, (uint32_t)parent);
	if (!err)
		err = writer__comm(options->writer, (uint32_t)task->pid, (uint32_t)task->tid,
				   task->comm);
	if (!err)
		err = leader_exits__add(options->leader_exits, task->pid, task->tid);
	if (!err && options->snapshot)
		err = snapshot__fork(options->snapshot, task->pid, task->tid, task->pid, parent);
	if (!err && options->snapshot)
		err = snapshot__comm(options->snapshot, task->pid, task->tid, task->comm);
	return err;
}

static int write_comm(const struct synthesize_options *options, uint32_t pid, const char *comm)
{
	int err = writer__comm(options->writer, pid, pid, comm);

	if (!err && options->snapshot)
		err = snapshot__comm(options->snapshot, (pid_t)pid, (pid_t)pid, comm);
	return err;
}

/* Wakers that no record of the kernel or of /proc names; the capture's tasks are without us. */
static int write_strange_wakers(const struct synthesize_options *options)
{
	int err = write_comm(options, CAPTURE_PID_INTERRUPT, "[interrupt]");

	if (!err)
		err = write_comm(options, CAPTURE_PID_OUTSIDE, "[outside]");
	return err ? err : write_comm(options, (uint32_t)getpid(), "denet-record");
}

static int follow_map(struct callchain *callchain, const struct synth_map *map)
{
	struct address_space_map own = {
		.start = map->start,
		.len = map->len,
		.pgoff = map->pgoff,
		.maj = map->maj,
		.min = map->min,
		.ino = map->ino,
		.path = map->path,
	};

	return callchain__map(callchain, map->pid, &own);
}

static int write_map(void *ctx, const struct synth_map *map)
{
	const struct synthesize_options *options = ctx;
	struct writer_mmap out = {
		.pid = (uint32_t)map->pid,
		.tid = (uint32_t)map->pid,
		.start = map->start,
		.len = map->len,
		.pgoff = map->pgoff,
		.maj = map->maj,
		.min = map->min,
		.ino = map->ino,
		.prot = map->prot,
		.flags = map->flags,
		.path = map->path,
		.executable = map->prot & PROT_EXEC,
	};
	int err;

	err = writer__mmap2(options->writer, &out);
	if (!out.executable)
		return err;
	if (!err && options->callchain)
		err = follow_map(options->callchain, map);
	if (!err && options->snapshot)
		err = snapshot__map(options->snapshot, &out);
	if (err || !options->dso_table)
		return err;
	return dso_table__map(options->dso_table, map->pid, map->path, map->ino);
}

static void report_maps(const struct synth_result *result)
{
	if (result->missed)
		pr_warn("the memory maps of %" PRIu64 " processes did not come in time (the first "
			"is %d, it may be stuck): their frames will have no names",
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
		pr_warn("%" PRIu64 " memory mappings are described in a way that is not known: "
			"their frames will have no names",
			result->bad_lines);
	if (result->denied)
		pr_warn("the memory maps of %" PRIu64 " processes may not be read: their frames "
			"will have no names; CAP_SYS_PTRACE helps",
			result->denied);
	pr_verbose("existing processes: maps of %" PRIu64 " read, %" PRIu64 " had ended",
		   result->processes, result->gone);
}

static int write_maps(const struct synthesize_options *options, const struct id_list *pids)
{
	struct synth_result result = { 0 };
	int err;

	err = (options->data_maps ? synth__data_maps : synth__maps)(
		pids->ids, pids->nr, options->deadline_ms, write_map, (void *)(uintptr_t)options,
		&result);
	if (!err)
		report_maps(&result);
	return err;
}

int synthesize__write(const struct synthesize_options *options, struct capture *capture)
{
	struct id_list pids = { 0 };
	const struct capture_task *tasks;
	size_t nr = 0;
	int err;

	tasks = capture__tasks(capture, &nr);
	err = write_kernel(options, capture);
	if (!err && options->cgroups)
		err = cgroups__write(options->writer);
	if (!err && options->wakers)
		err = write_strange_wakers(options);
	for (size_t i = 0; i < nr && !err; i++) {
		if (!options->all && !tasks[i].target)
			continue;
		err = write_task(options, &tasks[i]);
		if (!err && !tasks[i].kthread && tasks[i].pid != options->unmapped)
			err = id_list__add(&pids, tasks[i].pid);
		/* Of the whole machine, those are asked that have samples. */
		if (!err && options->dso_table && !options->all && tasks[i].pid == tasks[i].tid)
			err = mount_ns__look(options->dso_table, tasks[i].pid);
	}
	if (!err)
		err = write_maps(options, &pids);
	id_list__free(&pids);
	return err;
}
