/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/bottlenecks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/minmax.h"
#include "base/units.h"
#include "stat/behaviour.h"
#include "stat/holders.h"
#include "stat/syscall_names.h"

/* The threads of a deadlock that are named; there may be more. */
#define DEADLOCK_NAMED 4

enum cause_kind {
	CAUSE_CPU, /* the lack of one */
	CAUSE_CALL,
	CAUSE_LOCK, /* a mutex with a known holder */
};

struct cause {
	const struct stat_task *task; /* a thread, or a process that has ended */
	enum cause_kind kind;
	uint64_t ns;
	/* Of CAUSE_CALL: */
	uint32_t nr;
	enum stat_abi abi;
	uint64_t count; /* calls that have returned, */
	uint32_t open;	/* and that have not */
};

/*
 * Waits for work and for time are no cause. Nor are those of futexes by their call: there the waits
 * of a condition variable cannot be told from those of a mutex, and a lock is a cause of its own.
 */
static bool is_cause(uint32_t nr, enum stat_abi abi, enum stat_file file)
{
	char name[SYSCALL_NAME_LEN];

	syscall_names__put(abi, nr, name);
	return strncmp(name, "futex", 5) != 0 && behaviour__of_call(name, file) != BEHAVIOUR_IDLING;
}

static uint64_t percent(uint64_t part, uint64_t whole)
{
	return whole ? (uint64_t)((double)part * 100 / (double)whole + 0.5) : 0;
}

/* A process that lived for a moment has nothing to tell. */
static bool is_long(const struct stat_data *data, uint64_t ns)
{
	uint64_t measured = data->end_ns - data->start_ns;

	return percent(ns, measured) >= BOTTLENECK_MEASUREMENT_FROM || !measured;
}

static void consider(struct cause *cause, const struct cause *other, uint64_t from_percent)
{
	if (other->ns > cause->ns && percent(other->ns, cause->task->wall_ns) >= from_percent)
		*cause = *other;
}

static bool is_one_of(const struct stat_open_call *open, const struct cause *call,
		      enum stat_file file)
{
	/* All threads of a process that has ended are one. */
	bool same = call->task->ended ? open->pid == call->task->pid
				      : open->tid == call->task->tid;

	return same && open->nr == call->nr && open->abi == call->abi && open->file == file;
}

/*
 * Adds the calls of a task's that have not returned to those that have, and takes away what they
 * had when the interval began.
 */
static void add_open(const struct stat_data *data, struct cause *call, enum stat_file file)
{
	for (size_t i = 0; i < data->nr_open_calls && !call->task->ended; i++) {
		if (is_one_of(&data->open_calls[i], call, file)) {
			call->open++;
			call->ns += data->open_calls[i].ns;
		}
	}
	for (size_t i = 0; i < data->nr_earlier_calls; i++) {
		if (is_one_of(&data->earlier_calls[i], call, file))
			call->ns -= min_u64(data->earlier_calls[i].ns, call->ns);
	}
	/* They may run, or have run: the thread was not blocked for longer than this. */
	call->ns = min_u64(call->ns, call->task->blocked_ns);
}

static void consider_call(const struct stat_data *data, struct cause *cause,
			  const struct stat_call *call)
{
	struct cause other = {
		.task = cause->task,
		.kind = CAUSE_CALL,
		.ns = call->blocked_ns,
		.nr = call->nr,
		.abi = call->abi,
		.count = call->times.count,
	};

	if (!is_cause(call->nr, call->abi, call->file))
		return;
	add_open(data, &other, call->file);
	consider(cause, &other, BOTTLENECK_BLOCKED_FROM);
}

/* The greatest cause of a task; ns is 0 if there is none. */
static struct cause cause_of(const struct stat_data *data, const struct stat_task *task)
{
	const struct cause lock = { .task = task, .kind = CAUSE_LOCK, .ns = task->owned_ns };
	const struct cause cpu = { .task = task, .kind = CAUSE_CPU, .ns = task->runnable_ns };
	struct cause cause = { .task = task };

	for (size_t i = 0; i < task->nr_calls; i++)
		consider_call(data, &cause, &task->calls[i]);
	for (size_t i = 0; i < data->nr_open_calls && !task->ended; i++) {
		const struct stat_open_call *open = &data->open_calls[i];
		const struct stat_call none = { .nr = open->nr, .abi = open->abi,
						.file = open->file };

		if (open->tid == task->tid)
			consider_call(data, &cause, &none);
	}
	consider(&cause, &lock, BOTTLENECK_BLOCKED_FROM);
	consider(&cause, &cpu, BOTTLENECK_RUNNABLE_FROM);
	return cause;
}

/*
 * " on FILE" for the file or connection that took most of a task's blocks in a call; nothing is put
 * where it is not known, or took less than half of them.
 */
static void put_file(const struct stat_data *data, const struct cause *cause, char *out,
		     size_t size)
{
	const struct stat_task *task = cause->task;
	const struct stat_file_wait *worst = NULL;
	uint64_t all = 0;

	for (size_t i = 0; i < data->nr_files; i++) {
		const struct stat_file_wait *file = &data->files[i];

		if (file->pid != task->pid || (!task->ended && file->tid != task->tid) ||
		    file->nr != cause->nr)
			continue;
		all += file->ns;
		if (!worst || file->ns > worst->ns)
			worst = file;
	}
	*out = '\0';
	if (worst && *worst->name && worst->ns >= all / 2)
		snprintf(out, size, " on %s", worst->name);
}

static const struct stat_lock *find_lock(const struct stat_data *data, pid_t pid, uint64_t address)
{
	for (size_t i = 0; i < data->nr_locks; i++) {
		if (data->locks[i].pid == pid && data->locks[i].address == address)
			return &data->locks[i];
	}
	return NULL;
}

/* The lock with the longest waits of a process: a process has no longest wait of its own. */
static const struct stat_lock *worst_lock(const struct stat_data *data, pid_t pid)
{
	const struct stat_lock *worst = NULL;

	for (size_t i = 0; i < data->nr_locks; i++) {
		const struct stat_lock *lock = &data->locks[i];

		if (lock->pid == pid && lock->owner_met &&
		    (!worst || lock->waits.total_ns > worst->waits.total_ns))
			worst = lock;
	}
	return worst;
}

static void put_lock_name(const struct stat_lock *lock, uint64_t address, char *out, size_t size)
{
	if (lock && *lock->name)
		snprintf(out, size, "%s", lock->name);
	else
		snprintf(out, size, "0x%" PRIx64, address);
}

/* "LOCK, held by thread TID" of a task's longest waits. */
static void put_lock(const struct stat_data *data, const struct stat_task *task, char *out,
		     size_t size)
{
	const struct stat_lock *lock = task->lock ? find_lock(data, task->pid, task->lock) :
						    worst_lock(data, task->pid);
	char name[sizeof(lock->name)];

	if (!lock && !task->lock) {
		snprintf(out, size, "mutexes");
		return;
	}
	put_lock_name(lock, lock ? lock->address : task->lock, name, sizeof(name));
	if (lock && lock->owner)
		snprintf(out, size, "%s, held by thread %d", name, lock->owner);
	else
		snprintf(out, size, "%s", name);
}

/* "thread 123 (db-writer)"; threads that have ended are known by their process only. */
static int put_task(const struct stat_task *task, char *out, size_t size)
{
	return snprintf(out, size, "%s %d (%s)", task->ended ? "process" : "thread",
			task->ended ? task->pid : task->tid, task->comm);
}

static void put_call(const struct stat_data *data, const struct cause *cause, char *out,
		     size_t size)
{
	char name[SYSCALL_NAME_LEN], time[32], count[32], file[272] = "";
	uint64_t calls = cause->count + cause->open;

	units__format_time(cause->ns, time, sizeof(time));
	if (cause->abi == STAT_ABI_NATIVE)
		put_file(data, cause, file, sizeof(file));
	snprintf(out, size, "in %s%s (%s in %s %s%s)",
		 syscall_names__put(cause->abi, cause->nr, name), file, time,
		 units__format_count(calls, count, sizeof(count)), calls == 1 ? "call" : "calls",
		 !cause->open ? "" : calls == 1 ? ", not returned" : ", the last not returned");
}

static void put_sentence(const struct stat_data *data, const struct cause *cause, char *text)
{
	const struct stat_task *task = cause->task;
	char who[64], time[32], detail[BOTTLENECK_LEN - 128];

	put_task(task, who, sizeof(who));
	units__format_time(cause->ns, time, sizeof(time));
	switch (cause->kind) {
	case CAUSE_CPU:
		snprintf(text, BOTTLENECK_LEN,
			 "%s: %" PRIu64 " %% of its time waiting for a CPU (%s)", who,
			 percent(cause->ns, task->wall_ns), time);
		return;
	case CAUSE_LOCK:
		put_lock(data, task, detail, sizeof(detail));
		snprintf(text, BOTTLENECK_LEN,
			 "%s: %" PRIu64 " %% of its blocked time waiting for %.200s (%s)", who,
			 percent(cause->ns, task->blocked_ns), detail, time);
		return;
	case CAUSE_CALL:
		put_call(data, cause, detail, sizeof(detail));
		snprintf(text, BOTTLENECK_LEN, "%s: %" PRIu64 " %% of its blocked time %s", who,
			 percent(cause->ns, task->blocked_ns), detail);
	}
}

/* The wait of the thread that holds what another waits for; NULL: it is not waiting. */
static const struct stat_open_wait *wait_of_holder(const struct stat_data *data,
						   const struct stat_open_wait *wait)
{
	for (size_t i = 0; wait->owner && i < data->nr_open_waits; i++) {
		if (data->open_waits[i].tid == wait->owner)
			return &data->open_waits[i];
	}
	return NULL;
}

/*
 * How many threads wait for each other in a circle that begins with this one; 0: there is none, or
 * it is told from a thread with a lower number. Holders are known for sure of long waits only.
 */
static size_t circle_of(const struct stat_data *data, const struct stat_open_wait *first)
{
	const struct stat_open_wait *wait = wait_of_holder(data, first);

	for (size_t nr = 1; wait && nr <= data->nr_open_waits; nr++) {
		if (wait->tid < first->tid || wait->ns < HOLDERS_CHECK_FROM_NS)
			return 0;
		if (wait == first)
			return nr;
		wait = wait_of_holder(data, wait);
	}
	return 0;
}

static void put_deadlock(const struct stat_data *data, const struct stat_open_wait *first,
			 size_t nr, char *text)
{
	const struct stat_open_wait *wait = first;
	uint64_t ns = first->ns;
	char lock[128], time[32];
	int at;

	for (size_t i = 0; i < nr; i++, wait = wait_of_holder(data, wait))
		ns = min_u64(ns, wait->ns);
	at = snprintf(text, BOTTLENECK_LEN, "deadlock for %s:",
		      units__format_time(ns, time, sizeof(time)));
	for (size_t i = 0; i < nr && at < BOTTLENECK_LEN; i++, wait = wait_of_holder(data, wait)) {
		if (i == DEADLOCK_NAMED) {
			snprintf(text + at, BOTTLENECK_LEN - (size_t)at, ", and %zu more", nr - i);
			return;
		}
		put_lock_name(find_lock(data, wait->pid, wait->address), wait->address, lock,
			      sizeof(lock));
		at += snprintf(text + at, BOTTLENECK_LEN - (size_t)at,
			       "%s thread %d (%s) waits for %.48s of thread %d", i ? "," : "",
			       wait->tid, wait->comm, lock, wait->owner);
	}
}

static void find_deadlocks(const struct stat_data *data, struct bottlenecks *bottlenecks)
{
	for (size_t i = 0; i < data->nr_open_waits && bottlenecks->nr < BOTTLENECKS_MAX; i++) {
		size_t nr = circle_of(data, &data->open_waits[i]);

		if (nr)
			put_deadlock(data, &data->open_waits[i], nr,
				     bottlenecks->text[bottlenecks->nr++]);
	}
}

/* The greatest causes found so far, in their order. */
struct causes {
	struct cause worst[BOTTLENECKS_MAX];
	size_t nr;
};

static void add_cause(struct causes *causes, const struct stat_data *data,
		      const struct stat_task *task)
{
	struct cause cause = cause_of(data, task);
	size_t at = causes->nr;

	if (!cause.ns || !is_long(data, cause.ns))
		return;
	while (at && causes->worst[at - 1].ns < cause.ns) {
		if (at < BOTTLENECKS_MAX)
			causes->worst[at] = causes->worst[at - 1];
		at--;
	}
	if (at < BOTTLENECKS_MAX)
		causes->worst[at] = cause;
	if (causes->nr < BOTTLENECKS_MAX)
		causes->nr++;
}

void bottlenecks__find(const struct stat_data *data, struct bottlenecks *bottlenecks)
{
	struct causes causes = { 0 };

	bottlenecks->nr = 0;
	find_deadlocks(data, bottlenecks);
	for (size_t i = 0; i < data->nr_threads; i++)
		add_cause(&causes, data, &data->threads[i]);
	for (size_t i = 0; i < data->nr_processes; i++) {
		if (data->processes[i].ended && data->processes[i].pid)
			add_cause(&causes, data, &data->processes[i]);
	}
	for (size_t i = 0; i < causes.nr && bottlenecks->nr < BOTTLENECKS_MAX; i++)
		put_sentence(data, &causes.worst[i], bottlenecks->text[bottlenecks->nr++]);
}
