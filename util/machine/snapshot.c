/* SPDX-License-Identifier: GPL-2.0-only */
#include "machine/snapshot.h"

struct telling {
	int (*fn)(void *ctx, const struct task_event *event);
	void *ctx;
};

static int tell_name(void *ctx, const struct thread *thread)
{
	const struct telling *telling = ctx;
	const struct process *process = thread->process;
	struct task_event event = { .kind = TASK_EVENT_FORK, .pid = process->pid,
				    .tid = thread->tid, .ppid = process->pid,
				    .ptid = process->pid };
	int err = 0;

	/* The recorder, which is left out, may have a name as a waker. */
	if (process->left_out && !thread->comm)
		return 0;
	/* At the FORK of a process, hotspot replaces its mappings by those of its parent. */
	if (thread->tid != process->pid)
		err = telling->fn(telling->ctx, &event);
	if (err || !thread->comm)
		return err;
	event.kind = TASK_EVENT_COMM;
	event.comm = thread->comm->name;
	return telling->fn(telling->ctx, &event);
}

static int tell_map(const struct telling *telling, pid_t pid, const struct maps_entry *map,
		    uint64_t time)
{
	const struct task_event event = {
		.kind = TASK_EVENT_MMAP,
		.pid = pid,
		.tid = pid,
		.time = time,
		.map = {
			.start = map->start,
			.len = map->end - map->start,
			.pgoff = map->pgoff,
			.maj = map->file->maj,
			.min = map->file->min,
			.ino = map->file->ino,
			.generation = map->file->generation,
			.prot = map->prot,
			.flags = map->flags,
			.path = map->file->path,
		},
	};

	return telling->fn(telling->ctx, &event);
}

static int tell_maps(void *ctx, const struct process *process)
{
	const struct maps *maps = process__maps_at(process, UINT64_MAX);
	int err = 0;

	for (size_t i = 0; maps && i < maps__nr_living(maps) && !err; i++)
		err = tell_map(ctx, process->pid, maps__living(maps, i), 0);
	return err;
}

/* The name at a time, then the later ones. */
static int tell_comms(const struct telling *telling, const struct thread *thread,
		      const struct comm *comm, uint64_t time)
{
	struct task_event event = {
		.kind = TASK_EVENT_COMM, .pid = thread->process->pid, .tid = thread->tid,
	};
	int err = 0;

	if (!comm)
		return 0;
	if (comm->since > time)
		err = tell_comms(telling, thread, comm->before, time);
	event.comm = comm->name;
	event.time = comm->since > time ? comm->since : 0;
	return err ? err : telling->fn(telling->ctx, &event);
}

static int tell_thread(const struct telling *telling, const struct thread *thread, uint64_t time)
{
	const pid_t pid = thread->process->pid;
	const struct task_event event = { .kind = TASK_EVENT_FORK, .pid = pid, .tid = thread->tid,
					  .ppid = pid, .ptid = pid };
	int err = thread->tid == pid ? 0 : telling->fn(telling->ctx, &event);

	return err ? err : tell_comms(telling, thread, thread->comm, time);
}

/* Mappings at that time, then later ones. */
static int tell_maps_since(const struct telling *telling, const struct process *process,
			   uint64_t time)
{
	const struct maps *then = process__maps_at(process, time);
	const struct maps *now = process__maps_at(process, UINT64_MAX);
	const struct maps_entry *map = then ? maps__after(then, time, 0) : NULL;
	int err = 0;

	for (; map && !err; map = maps__after(then, time, map->start + 1))
		err = tell_map(telling, process->pid, map, 0);
	for (size_t i = 0; now && i < maps__nr_living(now) && !err; i++) {
		map = maps__living(now, i);
		if (map->born > time)
			err = tell_map(telling, process->pid, map, map->born);
	}
	return err;
}

int snapshot__tell_process(const struct process *process, uint64_t time,
			   int (*fn)(void *ctx, const struct task_event *event), void *ctx)
{
	const struct telling telling = { .fn = fn, .ctx = ctx };
	int err = 0;

	for (const struct thread *thread = process->threads; thread && !err;
	     thread = thread->next) {
		if (thread->died > time)
			err = tell_thread(&telling, thread, time);
	}
	return err ? err : tell_maps_since(&telling, process, time);
}

int snapshot__tell(const struct machine *machine,
		   int (*fn)(void *ctx, const struct task_event *event), void *ctx)
{
	struct telling telling = { .fn = fn, .ctx = ctx };
	size_t nr;
	const struct task_map *kernel = machine__kernel_maps(machine, &nr);
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		const struct task_event event = { .kind = TASK_EVENT_KERNEL_MMAP, .pid = -1,
						  .map = kernel[i] };

		err = fn(ctx, &event);
	}
	/* Perf copies a parent's maps at a fork: all forks come before all maps. */
	if (!err)
		err = machine__each_thread(machine, tell_name, &telling);
	return err ? err : machine__each_process(machine, tell_maps, &telling);
}
