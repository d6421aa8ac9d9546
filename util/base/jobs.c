/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/jobs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/units.h"

#define SINGLE_MIN_NS (5 * NSEC_PER_MSEC)
#define SINGLE_SHARE 16
/* The share of the time for which making a process is tried again. */
#define FORK_SHARE 4
/* A child that computes is not one that hangs: it may do so for as many times its patience. */
#define BUSY_TIMES 16
/* Children that may end before their first job, as those that the kernel kills for memory. */
#define MOST_WASTED 8

enum {
	/* Sent before the job can hang, so that the parent knows which one does. */
	TYPE_BEGIN = CHILD_TYPE_OURS,
	TYPE_END,
};

struct end_message {
	uint64_t index;
	int64_t status;
};

struct jobs_run {
	const struct jobs *jobs;
	uint64_t deadline_ns;
	size_t next; /* the first job that is not done */
	bool begun;  /* the current child has begun next */
	unsigned int wasted; /* children that ended before their first job */
};

/* In the child. TYPE_END is sent with the next TYPE_BEGIN: one write for each job. */
static int run_rest(void *ctx, struct child_out *out)
{
	const struct jobs_run *run = ctx;
	int err = run->jobs->enter ? run->jobs->enter(run->jobs->ctx) : 0;

	for (uint64_t i = run->next; i < run->jobs->nr && !err; i++) {
		struct end_message end = { .index = i };

		err = child_out__put(out, TYPE_BEGIN, &i, sizeof(i));
		if (!err)
			err = child_out__flush(out);
		if (err)
			break;
		end.status = run->jobs->run(run->jobs->ctx, i, out);
		err = child_out__put(out, TYPE_END, &end, sizeof(end));
	}
	return err;
}

static void finish_job(struct jobs_run *run, int status)
{
	run->jobs->done(run->jobs->ctx, run->next, status);
	run->next++;
	run->begun = false;
}

static int take_message(struct jobs_run *run, const struct child_message *message)
{
	struct end_message end;
	uint64_t index;

	switch (message->type) {
	case TYPE_BEGIN:
		if (message->size != sizeof(index))
			return -EPROTO;
		memcpy(&index, message->data, sizeof(index));
		if (run->begun || index != run->next)
			return -EPROTO;
		run->begun = true;
		return 0;
	case TYPE_END:
		if (message->size != sizeof(end))
			return -EPROTO;
		memcpy(&end, message->data, sizeof(end));
		if (!run->begun || end.index != run->next)
			return -EPROTO;
		finish_job(run, (int)end.status);
		return 0;
	default:
		if (!run->begun || message->type >= CHILD_TYPE_OURS)
			return -EPROTO;
		return run->jobs->answer(run->jobs->ctx, run->next, message);
	}
}

/* Time for a single job, counted from the latest message. */
static uint64_t patience(const struct jobs_run *run)
{
	uint64_t now = clock__now_ns();
	uint64_t left = run->deadline_ns > now ? run->deadline_ns - now : 0;

	/* A child that has not begun is only waiting for a CPU. */
	return run->begun ? max_u64(left / SINGLE_SHARE, SINGLE_MIN_NS) : left;
}

/*
 * Handles the end of a child. 0: go on with the remaining jobs, in another child if any are left. A
 * child that died or sent garbage fails its current job; before its first one it fails none,
 * MOST_WASTED times.
 */
static int judge_end(struct jobs_run *run, int ret)
{
	bool lost;

	if (!ret && run->next == run->jobs->nr)
		return 0;
	ret = ret ? ret : -EPROTO;
	lost = ret == -ECHILD || ret == -EPROTO;
	if (run->begun && (ret == -ETIMEDOUT || lost)) {
		finish_job(run, ret);
		return 0;
	}
	if (lost && run->wasted++ < MOST_WASTED)
		return 0;
	return ret == -ETIMEDOUT ? 0 : ret;
}

/* Handles the messages of one child until it is done, hangs or dies. 0 or a negative errno. */
static int follow_child(struct jobs_run *run, struct child *child)
{
	struct child_message message;
	int ret, err;

	while ((ret = child__receive_unless_stuck(child, patience(run), run->deadline_ns,
						  &message)) == 1) {
		err = take_message(run, &message);
		if (err == -EPROTO)
			return judge_end(run, err);
		if (err)
			return err;
		if (clock__now_ns() >= run->deadline_ns)
			return 0;
	}
	return judge_end(run, ret);
}

/* Makes a child for the remaining jobs; tries again where a process is refused for a moment. */
static struct child *make_child(struct jobs_run *run, uint64_t patience_ns, int *err)
{
	uint64_t latest = min_u64(clock__now_ns() + patience_ns, run->deadline_ns);

	run->begun = false;
	return child__new_patiently(run_rest, run, NULL, latest, err);
}

int jobs__run(const struct jobs *jobs, int deadline_ms)
{
	const uint64_t ns = (uint64_t)deadline_ms * NSEC_PER_MSEC;
	struct jobs_run run = {
		.jobs = jobs,
		.deadline_ns = clock__now_ns() + ns,
	};
	struct child *child;
	int err = 0, rest = -ECANCELED, refused;

	while (!err && run.next < jobs->nr && clock__now_ns() < run.deadline_ns) {
		child = make_child(&run, ns / FORK_SHARE, &refused);
		if (!child) {
			pr_verbose("no process can be made: %s", strerror(-refused));
			rest = -EAGAIN;
			break;
		}
		err = follow_child(&run, child);
		if (child__delete(child) == -EBUSY)
			pr_verbose("a helper process is stuck in the kernel and was left behind");
	}
	while (!err && run.next < jobs->nr)
		finish_job(&run, run.begun ? -ETIMEDOUT : rest);
	return err;
}

struct jobs_task {
	struct jobs jobs;
	struct jobs_run run;
	struct child *child; /* NULL: the next one is yet to be made */
	uint64_t patience_ns;
	uint64_t since_ns; /* the latest sign of life, */
	uint64_t cpu_ns;   /* and the CPU time that the child had taken by then */
};

struct jobs_task *jobs__begin(const struct jobs *jobs, int patience_ms)
{
	struct jobs_task *task = calloc(1, sizeof(*task));

	if (!task)
		return NULL;
	task->jobs = *jobs;
	task->run.jobs = &task->jobs;
	task->patience_ns = (uint64_t)patience_ms * NSEC_PER_MSEC;
	return task;
}

static void note_life(struct jobs_task *task)
{
	task->since_ns = clock__now_ns();
	task->cpu_ns = child__cpu_ns(task->child);
}

static void drop_child(struct jobs_task *task)
{
	if (child__delete(task->child) == -EBUSY)
		pr_verbose("a helper process is stuck in the kernel and was left behind");
	task->child = NULL;
}

/* One that has not begun is only waiting for a CPU. */
static bool is_stuck(const struct jobs_task *task)
{
	return task->run.begun && clock__now_ns() - task->since_ns >= task->patience_ns &&
	       !(child__is_runnable(task->child) &&
		 child__cpu_ns(task->child) - task->cpu_ns < BUSY_TIMES * task->patience_ns);
}

/* Takes what the child says. 1: it goes on; 0: it has ended, or was given up; a negative errno. */
static int follow_for(struct jobs_task *task, uint64_t until_ns)
{
	struct child_message message;
	int ret, err;

	do {
		ret = child__receive(task->child, until_ns, &message);
		if (ret == 1) {
			note_life(task);
			err = take_message(&task->run, &message);
			if (err && err != -EPROTO)
				return err;
			ret = err ? err : 1;
		}
	} while (ret == 1 && task->run.next < task->jobs.nr && clock__now_ns() < until_ns);
	if (ret == 1 && task->run.next < task->jobs.nr)
		return 1;
	if (ret == -ETIMEDOUT && !is_stuck(task))
		return 1;
	return ret == 1 ? 0 : judge_end(&task->run, ret);
}

int jobs__advance(struct jobs_task *task, uint64_t until_ns)
{
	struct jobs_run *run = &task->run;
	int ret = 0, refused = 0;

	while (!ret && run->next < task->jobs.nr) {
		if (!task->child) {
			run->begun = false;
			task->child = child__new(run_rest, run, &refused);
		}
		if (!task->child)
			break;
		if (!task->since_ns)
			note_life(task);
		ret = follow_for(task, until_ns);
		if (ret == 1)
			return 1;
		drop_child(task);
		task->since_ns = 0;
	}
	if (refused)
		pr_verbose("no process can be made: %s", strerror(-refused));
	while (!ret && run->next < task->jobs.nr)
		finish_job(run, -EAGAIN);
	return ret;
}

int jobs__fd(const struct jobs_task *task)
{
	return task->child ? child__fd(task->child) : -1;
}

void jobs__end(struct jobs_task *task)
{
	if (task)
		drop_child(task);
	free(task);
}
