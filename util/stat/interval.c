/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/interval.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "stat/order.h"

/* A sum that was read while its thread ran may seem to have gone back. */
static void take_away(uint64_t *value, uint64_t before)
{
	*value = *value > before ? *value - before : 0;
}

/* Copies a list. NULL: no memory, or it is empty. */
static void *copy_of(const void *list, size_t nr, size_t size)
{
	void *copy = nr ? malloc(nr * size) : NULL;

	if (copy)
		memcpy(copy, list, nr * size);
	return copy;
}

static void subtract_calls(struct stat_task *task, const struct stat_task *before)
{
	size_t kept = 0;

	for (size_t i = 0; i < task->nr_calls; i++) {
		struct stat_call *call = &task->calls[i];

		for (size_t j = 0; before && j < before->nr_calls; j++) {
			const struct stat_call *old = &before->calls[j];

			if (old->nr != call->nr || old->abi != call->abi || old->file != call->file)
				continue;
			take_away(&call->errors, old->errors);
			take_away(&call->blocked_ns, old->blocked_ns);
			stat_times__subtract(&call->times, &old->times);
			break;
		}
		if (call->times.count)
			task->calls[kept++] = *call;
	}
	task->nr_calls = kept;
	order__calls(task->calls, task->nr_calls);
}

/* before may be NULL: the task is new. The calls become a copy. */
static int subtract_task(struct stat_task *task, const struct stat_task *before)
{
	task->calls = copy_of(task->calls, task->nr_calls, sizeof(*task->calls));
	if (task->nr_calls && !task->calls) {
		task->nr_calls = 0;
		return -ENOMEM;
	}
	subtract_calls(task, before);
	if (!before)
		return 0;
	/* Threads that had ended before are not in the interval. */
	task->threads -= before->ended_threads;
	task->ended_threads -= before->ended_threads;
	take_away(&task->wall_ns, before->wall_ns);
	take_away(&task->running_ns, before->running_ns);
	take_away(&task->runnable_ns, before->runnable_ns);
	take_away(&task->blocked_ns, before->blocked_ns);
	take_away(&task->filtered_ns, before->filtered_ns);
	take_away(&task->lock_ns, before->lock_ns);
	take_away(&task->owned_ns, before->owned_ns);
	stat_times__subtract(&task->offcpu, &before->offcpu);
	for (int i = 0; i < STAT_STATE_MAX; i++)
		stat_times__subtract(&task->state[i], &before->state[i]);
	return 0;
}

/* A number for each task by which it is found in the reading before. */
static uint64_t id_of(const struct stat_task *task)
{
	uint64_t id = 0;

	if (task->tid)
		return task->incarnation;
	if (task->pid)
		return (uint64_t)task->pid;
	for (size_t i = 0; i < sizeof(task->comm) && task->comm[i]; i++)
		id = (id ^ (unsigned char)task->comm[i]) * 0x100000001b3ULL;
	return id >> 1;
}

struct task_list {
	const struct stat_task *tasks;
	size_t nr;
};

/* All tasks of a list that lived in the interval, less what they had before. */
static int subtract_tasks(struct task_list before, struct task_list now, struct stat_task **tasks,
			  size_t *nr)
{
	struct idmap old = { 0 };
	struct stat_task task;
	uint64_t *place;
	int err = 0;

	*nr = 0;
	*tasks = copy_of(now.tasks, now.nr, sizeof(**tasks));
	if (now.nr && !*tasks)
		return -ENOMEM;
	for (size_t i = 0; i < before.nr && !err; i++) {
		place = idmap__get(&old, id_of(&before.tasks[i]));
		if (place)
			*place = i + 1;
		else
			err = -ENOMEM;
	}
	for (size_t i = 0; i < now.nr && !err; i++) {
		place = idmap__find(&old, id_of(&now.tasks[i]));
		task = now.tasks[i];
		err = subtract_task(&task, place ? &before.tasks[*place - 1] : NULL);
		if (!err && task.wall_ns)
			(*tasks)[(*nr)++] = task;
		else
			free(task.calls);
	}
	order__tasks(*tasks, *nr);
	idmap__free(&old);
	return err;
}

static int subtract_locks(const struct stat_data *before, const struct stat_data *now,
			  struct stat_data *interval)
{
	interval->locks = copy_of(now->locks, now->nr_locks, sizeof(*now->locks));
	if (now->nr_locks && !interval->locks)
		return -ENOMEM;
	for (size_t i = 0; i < now->nr_locks; i++) {
		struct stat_lock lock = now->locks[i];

		for (size_t j = 0; j < before->nr_locks; j++) {
			const struct stat_lock *old = &before->locks[j];

			if (old->pid != lock.pid || old->address != lock.address)
				continue;
			take_away(&lock.wakes, old->wakes);
			take_away(&lock.owner_met, old->owner_met);
			stat_times__subtract(&lock.waits, &old->waits);
			break;
		}
		if (lock.waits.total_ns)
			interval->locks[interval->nr_locks++] = lock;
	}
	order__locks(interval->locks, interval->nr_locks);
	return 0;
}

static int subtract_io(const struct stat_data *before, const struct stat_data *now,
		       struct stat_data *interval)
{
	interval->io = copy_of(now->io, now->nr_io, sizeof(*now->io));
	if (now->nr_io && !interval->io)
		return -ENOMEM;
	for (size_t i = 0; i < now->nr_io; i++) {
		struct stat_io io = now->io[i];

		for (size_t j = 0; j < before->nr_io; j++) {
			const struct stat_io *old = &before->io[j];

			if (old->dev != io.dev || old->op != io.op)
				continue;
			take_away(&io.bytes, old->bytes);
			take_away(&io.errors, old->errors);
			take_away(&io.waited_ns, old->waited_ns);
			take_away(&io.waits, old->waits);
			stat_times__subtract(&io.times, &old->times);
			break;
		}
		if (io.times.count)
			interval->io[interval->nr_io++] = io;
	}
	order__io(interval->io, interval->nr_io);
	return 0;
}

static int subtract_sockets(const struct stat_data *before, const struct stat_data *now,
			    struct stat_data *interval)
{
	interval->sockets = copy_of(now->sockets, now->nr_sockets, sizeof(*now->sockets));
	if (now->nr_sockets && !interval->sockets)
		return -ENOMEM;
	for (size_t i = 0; i < now->nr_sockets; i++) {
		struct stat_socket socket = now->sockets[i];

		for (size_t j = 0; j < before->nr_sockets; j++) {
			const struct stat_socket *old = &before->sockets[j];

			if (old->pid != socket.pid || old->ino != socket.ino)
				continue;
			stat_times__subtract(&socket.receive, &old->receive);
			stat_times__subtract(&socket.send, &old->send);
			break;
		}
		if (socket.receive.total_ns || socket.send.total_ns)
			interval->sockets[interval->nr_sockets++] = socket;
	}
	order__sockets(interval->sockets, interval->nr_sockets);
	return 0;
}

static int subtract_all_tasks(const struct stat_data *before, const struct stat_data *now,
			      struct stat_data *interval)
{
	int err;

	err = subtract_tasks((struct task_list){ before->threads, before->nr_threads },
			     (struct task_list){ now->threads, now->nr_threads },
			     &interval->threads, &interval->nr_threads);
	if (!err)
		err = subtract_tasks((struct task_list){ before->processes, before->nr_processes },
				     (struct task_list){ now->processes, now->nr_processes },
				     &interval->processes, &interval->nr_processes);
	if (!err)
		err = subtract_tasks((struct task_list){ before->commands, before->nr_commands },
				     (struct task_list){ now->commands, now->nr_commands },
				     &interval->commands, &interval->nr_commands);
	if (err)
		return err;
	interval->total = now->total;
	return subtract_task(&interval->total, &before->total);
}

static void subtract_losses(struct stat_losses *losses, const struct stat_losses *before)
{
	take_away(&losses->threads, before->threads);
	take_away(&losses->calls, before->calls);
	take_away(&losses->locks, before->locks);
	take_away(&losses->requests, before->requests);
	take_away(&losses->sockets, before->sockets);
	take_away(&losses->files, before->files);
	take_away(&losses->missed_births, before->missed_births);
	take_away(&losses->missed_deaths, before->missed_deaths);
	take_away(&losses->missed_calls, before->missed_calls);
	take_away(&losses->unseen_switches, before->unseen_switches);
}

static int subtract_files(const struct stat_data *before, const struct stat_data *now,
			  struct stat_data *interval)
{
	interval->files = copy_of(now->files, now->nr_files, sizeof(*now->files));
	if (now->nr_files && !interval->files)
		return -ENOMEM;
	for (size_t i = 0; i < now->nr_files; i++) {
		struct stat_file_wait file = now->files[i];

		for (size_t j = 0; j < before->nr_files; j++) {
			const struct stat_file_wait *old = &before->files[j];

			if (old->tid != file.tid || old->pid != file.pid || old->nr != file.nr ||
			    strcmp(old->name, file.name) != 0)
				continue;
			take_away(&file.ns, old->ns);
			take_away(&file.count, old->count);
			break;
		}
		if (file.ns)
			interval->files[interval->nr_files++] = file;
	}
	order__files(interval->files, interval->nr_files);
	return 0;
}

/* Calls that are open at the end keep their whole time; earlier_calls has what is earlier. */
static int copy_lists(const struct stat_data *before, const struct stat_data *now,
		      struct stat_data *interval)
{
	interval->open_calls =
		copy_of(now->open_calls, now->nr_open_calls, sizeof(*now->open_calls));
	interval->nr_open_calls = interval->open_calls ? now->nr_open_calls : 0;
	interval->earlier_calls =
		copy_of(before->open_calls, before->nr_open_calls, sizeof(*before->open_calls));
	interval->nr_earlier_calls = interval->earlier_calls ? before->nr_open_calls : 0;
	interval->open_waits =
		copy_of(now->open_waits, now->nr_open_waits, sizeof(*now->open_waits));
	interval->nr_open_waits = interval->open_waits ? now->nr_open_waits : 0;
	return interval->nr_open_calls == now->nr_open_calls &&
			       interval->nr_earlier_calls == before->nr_open_calls &&
			       interval->nr_open_waits == now->nr_open_waits ?
		       0 :
		       -ENOMEM;
}

int stat_interval__between(const struct stat_data *before, const struct stat_data *now,
			   struct stat_data *interval)
{
	int err;

	interval->start_ns = before->end_ns;
	interval->end_ns = now->end_ns;
	interval->start_real_ms = now->start_real_ms;
	interval->end_real_ms = now->end_real_ms;
	interval->parts = now->parts;
	interval->losses = now->losses;
	subtract_losses(&interval->losses, &before->losses);
	err = subtract_all_tasks(before, now, interval);
	if (!err)
		err = subtract_locks(before, now, interval);
	if (!err)
		err = subtract_io(before, now, interval);
	if (!err)
		err = subtract_sockets(before, now, interval);
	if (!err)
		err = subtract_files(before, now, interval);
	if (err)
		return err;
	return copy_lists(before, now, interval);
}
