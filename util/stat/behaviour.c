/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/behaviour.h"

#include <string.h>

#include "base/minmax.h"
#include "stat/syscall_category.h"
#include "stat/syscall_names.h"

/* Calls of other categories, or of file_io and network, whose waits are for work or for time. */
static const char *const idle_calls[] = {
	"_newselect",
	"accept",
	"accept4",
	"epoll_pwait",
	"epoll_pwait2",
	"epoll_wait",
	"epoll_wait_old",
	"io_getevents",
	"io_pgetevents",
	"io_pgetevents_time64",
	"pause",
	"poll",
	"ppoll",
	"ppoll_time64",
	"pselect6",
	"pselect6_time64",
	"ptrace",
	"restart_syscall",
	"rt_sigsuspend",
	"rt_sigtimedwait",
	"rt_sigtimedwait_time64",
	"sched_yield",
	"select",
	"sigsuspend",
	"wait4",
	"waitid",
	"waitpid",
};

static const char *const lock_calls[] = {
	"flock",      "fcntl",       "fcntl64", "futex",      "futex_time64",
	"futex_wait", "futex_waitv", "semop",   "semtimedop", "semtimedop_time64",
};

static const char *const state_names = STAT_STATES;

static bool is_among(const char *name, const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return false;
}

#define AMONG(name, names) is_among(name, names, sizeof(names) / sizeof((names)[0]))

enum behaviour_time behaviour__of_call(const char *name, enum stat_file file)
{
	enum syscall_category category = syscall_category__of(name, file);

	if (AMONG(name, idle_calls) || category == SYSCALL_TIME)
		return BEHAVIOUR_IDLING;
	if (AMONG(name, lock_calls))
		return BEHAVIOUR_LOCK;
	if (category == SYSCALL_NETWORK)
		return BEHAVIOUR_NETWORK;
	/* A reader of a pipe waits for work, and so does one of a terminal, an eventfd, a timer. */
	if (category == SYSCALL_IPC || file == STAT_FILE_OTHER)
		return BEHAVIOUR_IDLING;
	return category == SYSCALL_FILE_IO ? BEHAVIOUR_IO : BEHAVIOUR_UNKNOWN;
}

static bool is_part_of(pid_t pid, pid_t tid, const struct stat_task *task)
{
	return (!task->pid || task->pid == pid) && (!task->tid || task->tid == tid);
}

/*
 * Adds blocked time in a call. The waits of a mutex and those for work, on a condition variable,
 * are the same call: only where waits for locks are counted are they told apart, and are in
 * lock_ns. Those of 32-bit programs never are.
 */
static void add_call(const struct stat_data *data, enum stat_abi abi, uint32_t nr,
		     enum stat_file file, uint64_t blocked, uint64_t ns[BEHAVIOUR_TIMES])
{
	char name[SYSCALL_NAME_LEN];

	syscall_names__put(abi, nr, name);
	if (strncmp(name, "futex", 5) != 0)
		ns[behaviour__of_call(name, file)] += blocked;
	else if (!(data->parts & STAT_PART_LOCKS) || abi != STAT_ABI_NATIVE)
		ns[BEHAVIOUR_UNKNOWN] += blocked;
}

static void add_open_calls(const struct stat_data *data, const struct stat_task *task,
			   const struct stat_open_call *calls, size_t nr,
			   uint64_t ns[BEHAVIOUR_TIMES])
{
	/* A command is all threads of its name. */
	bool of_command = !task->pid && task != &data->total;

	for (size_t i = 0; i < nr; i++) {
		const struct stat_open_call *call = &calls[i];

		if (of_command ? !strcmp(call->comm, task->comm)
			       : is_part_of(call->pid, call->tid, task))
			add_call(data, call->abi, call->nr, call->file, call->ns, ns);
	}
}

/*
 * Blocked time by the call, of calls that have returned and of those that have not, less what they
 * had when the interval began: a call that goes on for long is not all of it in each interval.
 */
static void add_calls(const struct stat_data *data, const struct stat_task *task,
		      uint64_t ns[BEHAVIOUR_TIMES])
{
	uint64_t earlier[BEHAVIOUR_TIMES] = { 0 };

	for (size_t i = 0; i < task->nr_calls; i++) {
		const struct stat_call *call = &task->calls[i];

		add_call(data, call->abi, call->nr, call->file, call->blocked_ns, ns);
	}
	add_open_calls(data, task, data->open_calls, data->nr_open_calls, ns);
	add_open_calls(data, task, data->earlier_calls, data->nr_earlier_calls, earlier);
	for (int i = BEHAVIOUR_IO; i < BEHAVIOUR_TIMES; i++)
		ns[i] -= min_u64(earlier[i], ns[i]);
}

static uint64_t in_state_d(const struct stat_task *task)
{
	return task->state[strchr(state_names, 'D') - state_names].total_ns;
}

/*
 * Time in calls includes waits for a CPU after the wake-up, and open calls may run: what is too
 * much for the blocked time is taken from all kinds alike.
 */
static void fit(uint64_t ns[BEHAVIOUR_TIMES], uint64_t blocked)
{
	uint64_t sum = 0;

	for (int i = BEHAVIOUR_IO; i < BEHAVIOUR_TIMES; i++)
		sum += ns[i];
	for (int i = BEHAVIOUR_IO; i < BEHAVIOUR_TIMES && sum > blocked; i++)
		ns[i] = (uint64_t)((double)ns[i] * ((double)blocked / (double)sum));
	if (sum < blocked)
		ns[BEHAVIOUR_UNKNOWN] += blocked - sum;
}

static enum behaviour_kind classify(const struct behaviour *behaviour)
{
	static const struct {
		enum behaviour_time time;
		enum behaviour_kind kind;
	} bounds[] = {
		{ BEHAVIOUR_RUNNING, BEHAVIOUR_IS_CPU_BOUND },
		{ BEHAVIOUR_IO, BEHAVIOUR_IS_IO_BOUND },
		{ BEHAVIOUR_LOCK, BEHAVIOUR_IS_LOCK_BOUND },
		{ BEHAVIOUR_NETWORK, BEHAVIOUR_IS_NETWORK_BOUND },
		{ BEHAVIOUR_MEMORY, BEHAVIOUR_IS_MEMORY_BOUND },
	};
	double active = (double)behaviour->active_ns;

	if (active * 100 < (double)behaviour->wall_ns * BEHAVIOUR_IDLE_BELOW || !behaviour->wall_ns)
		return BEHAVIOUR_IS_IDLE;
	if ((double)behaviour->ns[BEHAVIOUR_RUNNABLE] * 100 >= active * BEHAVIOUR_STARVED_FROM)
		return BEHAVIOUR_IS_STARVED;
	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		if ((double)behaviour->ns[bounds[i].time] * 100 >= active * BEHAVIOUR_BOUND_FROM)
			return bounds[i].kind;
	}
	return BEHAVIOUR_IS_MIXED;
}

/*
 * State D outside of calls. The time off the CPU in state D has waits for a CPU after the wake-ups
 * in it, so that it alone does not tell: what is blocked and in no call bounds it.
 */
static uint64_t in_faults(const struct stat_task *task, const uint64_t ns[BEHAVIOUR_TIMES])
{
	uint64_t in_calls = 0, disk = in_state_d(task);

	for (int i = BEHAVIOUR_IO; i < BEHAVIOUR_TIMES; i++)
		in_calls += ns[i];
	return min_u64(disk - min_u64(ns[BEHAVIOUR_IO], disk),
		       task->blocked_ns - min_u64(in_calls, task->blocked_ns));
}

struct behaviour behaviour__of(const struct stat_data *data, const struct stat_task *task)
{
	struct behaviour behaviour = { .wall_ns = task->wall_ns };
	uint64_t *ns = behaviour.ns;

	ns[BEHAVIOUR_RUNNING] = task->running_ns;
	ns[BEHAVIOUR_RUNNABLE] = task->runnable_ns;
	if (data->parts & STAT_PART_CALL_TIMES)
		add_calls(data, task, ns);
	else
		ns[BEHAVIOUR_IO] = in_state_d(task);
	/* 0 where locks are not counted. */
	ns[BEHAVIOUR_LOCK] += task->owned_ns;
	ns[BEHAVIOUR_IDLING] += task->lock_ns - min_u64(task->owned_ns, task->lock_ns);
	if (data->parts & STAT_PART_CALL_TIMES)
		ns[BEHAVIOUR_MEMORY] = in_faults(task, ns);
	fit(ns, task->blocked_ns);
	/* Nothing tells what a sleep was for, where calls are not counted. */
	if (!(data->parts & STAT_PART_CALL_TIMES)) {
		ns[BEHAVIOUR_IDLING] += ns[BEHAVIOUR_UNKNOWN];
		ns[BEHAVIOUR_UNKNOWN] = 0;
	}
	behaviour.active_ns = task->wall_ns - min_u64(ns[BEHAVIOUR_IDLING], task->wall_ns);
	behaviour.kind = classify(&behaviour);
	return behaviour;
}

const char *behaviour__name(enum behaviour_kind kind)
{
	static const char *const names[] = {
		[BEHAVIOUR_IS_CPU_BOUND] = "cpu-bound",
		[BEHAVIOUR_IS_STARVED] = "starved",
		[BEHAVIOUR_IS_IO_BOUND] = "io-bound",
		[BEHAVIOUR_IS_LOCK_BOUND] = "lock-bound",
		[BEHAVIOUR_IS_NETWORK_BOUND] = "network-bound",
		[BEHAVIOUR_IS_MEMORY_BOUND] = "memory-bound",
		[BEHAVIOUR_IS_IDLE] = "idle",
		[BEHAVIOUR_IS_MIXED] = "mixed",
	};

	return names[kind];
}

const char *behaviour__time_name(enum behaviour_time time)
{
	static const char *const names[BEHAVIOUR_TIMES] = {
		[BEHAVIOUR_RUNNING] = "running", [BEHAVIOUR_RUNNABLE] = "runnable",
		[BEHAVIOUR_IO] = "io",           [BEHAVIOUR_LOCK] = "lock",
		[BEHAVIOUR_NETWORK] = "network", [BEHAVIOUR_MEMORY] = "memory",
		[BEHAVIOUR_IDLING] = "idle",     [BEHAVIOUR_UNKNOWN] = "unknown",
	};

	return names[time];
}
