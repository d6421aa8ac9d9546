/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/proc_fallback.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "base/minmax.h"
#include "base/units.h"
#include "stat/proc_text.h"
#include "stat/rollup.h"

/* What a thread has used since its birth. */
struct usage {
	uint64_t running_ns;
	uint64_t runnable_ns;
	uint64_t switches;
	uint64_t disk_ns;
};

struct watched {
	pid_t pid, tid, ppid;
	char comm[STAT_COMM_LEN];
	uint64_t start_ticks; /* tells threads of one TID apart */
	uint64_t begin_ns;    /* its birth, or the start of the measurement */
	uint64_t seen_ns;
	bool old; /* was there when the measurement began */
	struct usage base, now;
};

struct proc_fallback {
	struct buffer threads; /* struct watched; those that have ended stay */
	struct idmap by_tid;   /* 1 + index */
	uint64_t start_ns;
	uint64_t last_ns; /* of the last look */
	uint64_t tick_ns;
};

struct proc_fallback *proc_fallback__new(void)
{
	struct proc_fallback *fallback = calloc(1, sizeof(*fallback));
	long hz = sysconf(_SC_CLK_TCK);

	if (fallback)
		fallback->tick_ns = NSEC_PER_SEC / (uint64_t)(hz > 0 ? hz : 100);
	return fallback;
}

static int read_file(pid_t pid, const char *tid, const char *name, char *text, size_t size)
{
	char path[80];

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/%s", pid, tid, name);
	return proc_text__read(path, text, size);
}

/* Times are in ticks where the kernel has no schedstat. False: the thread has ended. */
static bool read_usage(const struct proc_fallback *fallback, pid_t pid, const char *tid,
		       struct proc_text_stat *stat, struct usage *usage)
{
	uint64_t times, voluntary = 0, preempted = 0;
	char text[4096];

	*usage = (struct usage){ 0 };
	if (read_file(pid, tid, "stat", text, sizeof(text)) <= 0 || proc_text__stat(text, stat))
		return false;
	if (read_file(pid, tid, "schedstat", text, sizeof(text)) <= 0 ||
	    proc_text__schedstat(text, &usage->running_ns, &usage->runnable_ns, &times))
		usage->running_ns = (stat->user_ticks + stat->system_ticks) * fallback->tick_ns;
	if (read_file(pid, tid, "status", text, sizeof(text)) > 0) {
		proc_text__number(text, "voluntary_ctxt_switches:", &voluntary);
		proc_text__number(text, "nonvoluntary_ctxt_switches:", &preempted);
	}
	usage->switches = voluntary + preempted;
	usage->disk_ns = stat->delay_ticks * fallback->tick_ns;
	return true;
}

/* In CLOCK_MONOTONIC; too early by the time that the machine was suspended since. */
static uint64_t birth_ns(const struct proc_fallback *fallback, uint64_t start_ticks, uint64_t now)
{
	struct timespec boot;
	uint64_t age, since_boot = start_ticks * fallback->tick_ns;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	age = (uint64_t)boot.tv_sec * NSEC_PER_SEC + (uint64_t)boot.tv_nsec;
	age = age > since_boot ? age - since_boot : 0;
	return now > age ? now - age : 0;
}

static struct watched *add(struct proc_fallback *fallback, const struct watched *thread)
{
	uint64_t *place = idmap__get(&fallback->by_tid, (uint64_t)thread->tid);

	if (!place || buffer__append(&fallback->threads, thread, sizeof(*thread)))
		return NULL;
	*place = fallback->threads.len / sizeof(*thread);
	return (struct watched *)(void *)fallback->threads.data + *place - 1;
}

static int look_at(struct proc_fallback *fallback, pid_t pid, const char *tid, uint64_t now)
{
	struct watched *threads = (void *)fallback->threads.data, *thread = NULL;
	struct proc_text_stat stat;
	struct usage usage;
	uint64_t *place;

	if (!read_usage(fallback, pid, tid, &stat, &usage))
		return 0;
	place = idmap__find(&fallback->by_tid, (uint64_t)stat.pid);
	if (place && threads[*place - 1].start_ticks == stat.start_ticks)
		thread = &threads[*place - 1];
	if (!thread) {
		struct watched new = { .pid = pid,
				       .tid = stat.pid,
				       .start_ticks = stat.start_ticks,
				       .old = now == fallback->start_ns,
				       .begin_ns = birth_ns(fallback, stat.start_ticks, now) };

		/* Older than the measurement by more than what the rounding of its birth hides. */
		if (new.old ||
		    new.begin_ns + fallback->tick_ns < fallback->start_ns)
			new.base = usage;
		new.begin_ns = max_u64(new.begin_ns, fallback->start_ns);
		thread = add(fallback, &new);
	}
	if (!thread)
		return -ENOMEM;
	thread->ppid = stat.ppid;
	thread->now = usage;
	thread->seen_ns = now;
	memcpy(thread->comm, stat.comm, sizeof(thread->comm));
	return 0;
}

int proc_fallback__look(struct proc_fallback *fallback, const pid_t *pids, size_t nr)
{
	uint64_t now = clock__now_ns();
	int err = 0;

	if (!fallback->start_ns)
		fallback->start_ns = now;
	fallback->last_ns = now;
	for (size_t i = 0; i < nr && !err; i++) {
		struct dirent *entry;
		char path[32];
		DIR *dir;

		snprintf(path, sizeof(path), "/proc/%d/task", pids[i]);
		dir = opendir(path);
		while (dir && !err && (entry = readdir(dir)))
			err = entry->d_name[0] == '.'
				      ? 0
				      : look_at(fallback, pids[i], entry->d_name, now);
		if (dir)
			closedir(dir);
	}
	return err;
}

static struct stat_task task_of(const struct watched *thread, bool ended)
{
	struct stat_task task = { .pid = thread->pid,
				  .tid = thread->tid,
				  .ppid = thread->ppid,
				  .incarnation = thread->start_ticks,
				  .threads = 1,
				  .ended = ended,
				  .ended_threads = ended };
	uint64_t wall = thread->seen_ns - thread->begin_ns, busy;

	memcpy(task.comm, thread->comm, sizeof(task.comm));
	task.running_ns = thread->now.running_ns - thread->base.running_ns;
	task.runnable_ns = thread->now.runnable_ns - thread->base.runnable_ns;
	busy = task.running_ns + task.runnable_ns;
	/* The files are read a little later than the clock. */
	task.wall_ns = max_u64(wall, busy);
	task.blocked_ns = task.wall_ns - busy;
	task.offcpu.total_ns = task.runnable_ns + task.blocked_ns;
	task.offcpu.count = thread->now.switches - thread->base.switches;
	task.state[strchr(STAT_STATES, 'D') - STAT_STATES].total_ns =
		min_u64(thread->now.disk_ns - thread->base.disk_ns, task.blocked_ns);
	return task;
}

static bool is_among(pid_t pid, const pid_t *pids, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (pids[i] == pid)
			return true;
	}
	return false;
}

static bool is_target(const struct watched *thread, const struct capture_targets *targets)
{
	if (!targets->nr_pids && !targets->nr_tids)
		return true;
	if (is_among(thread->pid, targets->pids, targets->nr_pids) ||
	    is_among(thread->tid, targets->tids, targets->nr_tids))
		return true;
	return !targets->no_inherit && (!thread->old || targets->children);
}

int proc_fallback__fill(const struct proc_fallback *fallback, const struct capture_targets *targets,
			struct stat_data *data)
{
	const struct watched *threads = (const void *)fallback->threads.data;
	size_t nr = fallback->threads.len / sizeof(*threads);
	struct rollup rollup = { 0 };
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		bool ended = threads[i].seen_ns != fallback->last_ns;
		struct stat_task task = task_of(&threads[i], ended);

		if (!is_target(&threads[i], targets))
			continue;
		err = ended ? rollup__add_ended(&rollup, &task)
			    : rollup__add_thread(&rollup, &task);
	}
	if (err) {
		rollup__free(&rollup);
		return err;
	}
	rollup__finish(&rollup, data);
	data->start_ns = fallback->start_ns;
	data->end_ns = fallback->last_ns;
	data->parts = STAT_PART_OFFCPU;
	data->from_proc = true;
	return 0;
}

void proc_fallback__delete(struct proc_fallback *fallback)
{
	if (!fallback)
		return;
	buffer__free(&fallback->threads);
	idmap__free(&fallback->by_tid);
	free(fallback);
}
