/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/rollup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stat/order.h"

static bool is_same_call(const struct stat_call *a, const struct stat_call *b)
{
	return a->nr == b->nr && a->abi == b->abi && a->file == b->file;
}

/* Lists of calls grow by doubling; their capacity follows from their length. */
static int append_call(struct stat_task *task, const struct stat_call *call)
{
	size_t nr = task->nr_calls;
	struct stat_call *calls;

	if (!(nr & (nr - 1))) {
		calls = realloc(task->calls, (nr ? 2 * nr : 1) * sizeof(*calls));
		if (!calls)
			return -ENOMEM;
		task->calls = calls;
	}
	task->calls[task->nr_calls++] = *call;
	return 0;
}

int rollup__add_call(struct stat_task *task, const struct stat_call *call)
{
	struct stat_call *to;

	for (size_t i = 0; i < task->nr_calls; i++) {
		to = &task->calls[i];
		if (!is_same_call(to, call))
			continue;
		to->errors += call->errors;
		to->blocked_ns += call->blocked_ns;
		stat_times__merge(&to->times, &call->times);
		return 0;
	}
	return append_call(task, call);
}

/* Adds the time of one or more threads to a sum. */
static int add(struct stat_task *sum, const struct stat_task *task)
{
	int err = 0;

	sum->threads += task->threads;
	sum->ended_threads += task->ended_threads;
	sum->wall_ns += task->wall_ns;
	sum->running_ns += task->running_ns;
	sum->runnable_ns += task->runnable_ns;
	sum->blocked_ns += task->blocked_ns;
	sum->filtered_ns += task->filtered_ns;
	sum->lock_ns += task->lock_ns;
	sum->owned_ns += task->owned_ns;
	stat_times__merge(&sum->offcpu, &task->offcpu);
	for (int i = 0; i < STAT_STATE_MAX; i++)
		stat_times__merge(&sum->state[i], &task->state[i]);
	for (size_t i = 0; i < task->nr_calls && !err; i++)
		err = rollup__add_call(sum, &task->calls[i]);
	return err;
}

static struct stat_task *tasks_of(const struct buffer *buffer, size_t *nr)
{
	*nr = buffer->len / sizeof(struct stat_task);
	return (struct stat_task *)(void *)buffer->data;
}

/* Names have several threads as a rule, so their list is short. */
static struct stat_task *command_of(struct rollup *rollup, const struct stat_task *task)
{
	struct stat_task empty = { .kthread = task->kthread };
	struct stat_task *commands;
	size_t nr;

	commands = tasks_of(&rollup->commands, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (!strncmp(commands[i].comm, task->comm, sizeof(task->comm)))
			return &commands[i];
	}
	memcpy(empty.comm, task->comm, sizeof(empty.comm));
	if (buffer__append(&rollup->commands, &empty, sizeof(empty)))
		return NULL;
	commands = tasks_of(&rollup->commands, &nr);
	return &commands[nr - 1];
}

static struct stat_task *process_of(struct rollup *rollup, const struct stat_task *task)
{
	struct stat_task empty = { .pid = task->pid, .kthread = task->kthread };
	uint64_t *place = idmap__get(&rollup->by_pid, (uint64_t)task->pid);
	size_t nr;

	if (!place)
		return NULL;
	if (!*place) {
		if (buffer__append(&rollup->processes, &empty, sizeof(empty)))
			return NULL;
		*place = rollup->processes.len / sizeof(empty);
	}
	return &tasks_of(&rollup->processes, &nr)[*place - 1];
}

/*
 * A process has the name of its first thread, or until that is known of any. Threads that are known
 * by their name only are of many processes.
 */
static void name_process(struct stat_task *process, const struct stat_task *task)
{
	bool is_first = task->tid == task->pid;

	if (!task->pid) {
		snprintf(process->comm, sizeof(process->comm), "(others)");
		return;
	}
	if (!process->comm[0] || is_first)
		memcpy(process->comm, task->comm, sizeof(process->comm));
	if (!process->incarnation || is_first)
		process->incarnation = task->incarnation;
	if (task->ppid && (!process->ppid || is_first))
		process->ppid = task->ppid;
}

static int add_to_all(struct rollup *rollup, const struct stat_task *task)
{
	struct stat_task *process = process_of(rollup, task);
	struct stat_task *command = command_of(rollup, task);
	int err;

	if (!process || !command)
		return -ENOMEM;
	name_process(process, task);
	err = add(process, task);
	if (!err)
		err = add(command, task);
	return err ? err : add(&rollup->total, task);
}

int rollup__add_thread(struct rollup *rollup, const struct stat_task *thread)
{
	int err = buffer__append(&rollup->threads, thread, sizeof(*thread));

	if (err) {
		free(thread->calls);
		return err;
	}
	return add_to_all(rollup, thread);
}

int rollup__add_ended(struct rollup *rollup, const struct stat_task *ended)
{
	return add_to_all(rollup, ended);
}

/* Hands a list over, sorted. */
static struct stat_task *take(struct buffer *buffer, size_t *nr)
{
	struct stat_task *tasks = tasks_of(buffer, nr);

	for (size_t i = 0; i < *nr; i++) {
		tasks[i].ended = tasks[i].threads == tasks[i].ended_threads;
		order__calls(tasks[i].calls, tasks[i].nr_calls);
	}
	order__tasks(tasks, *nr);
	*buffer = (struct buffer){ 0 };
	return tasks;
}

void rollup__finish(struct rollup *rollup, struct stat_data *data)
{
	data->threads = take(&rollup->threads, &data->nr_threads);
	data->processes = take(&rollup->processes, &data->nr_processes);
	data->commands = take(&rollup->commands, &data->nr_commands);
	data->total = rollup->total;
	order__calls(data->total.calls, data->total.nr_calls);
	rollup->total = (struct stat_task){ 0 };
	idmap__free(&rollup->by_pid);
}

void rollup__free(struct rollup *rollup)
{
	struct stat_data data = { 0 };

	rollup__finish(rollup, &data);
	stat_data__free(&data);
}
