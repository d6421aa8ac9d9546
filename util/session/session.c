/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/session.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/err_out.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/units.h"
#include "session/signals.h"
#include "session/status.h"
#include "session/targets.h"
#include "session/workload.h"

/* What ends a run wakes it up, and the capture looks for targets itself. */
/* How long a terminal that takes nothing may delay what comes next. */
#define LAST_WORDS_MS 2000
#define RUN_ROUND_NS (60 * NSEC_PER_SEC)

static bool has_targets(const struct session *run)
{
	return run->options.capture->nr_pids || run->options.capture->nr_tids;
}

/* COMMAND is the target unless something else was asked for; else it is but a clock. */
static bool targets_workload(const struct session *run)
{
	return run->options.command && !run->options.capture->all && !has_targets(run);
}

int session__init(struct session *run, const struct run_options *options)
{
	struct workload_options workload_options = {
		.argv = options->command,
		.stdout_to_stderr = options->stdout_to_stderr,
	};
	int err;

	*run = (struct session){ .options = *options };
	workload_options.signals = run->signals = signals__new(&err);
	return run->signals ? workload__prepare(&workload_options, &run->workload) : err;
}

/* The kernel may not show a target that /proc has. */
static int look_for_targets(const struct session *run)
{
	const struct capture_task *tasks;
	size_t nr;

	if (!has_targets(run))
		return 0;
	tasks = capture__tasks(run->capture, &nr);
	return targets__look(run->options.capture, tasks, nr);
}

int session__capture(struct session *run, const struct capture_options *options,
		 const struct capture_sink *sink)
{
	struct capture_options targeted = *options;
	pid_t pid;
	int err;

	if (targets_workload(run)) {
		pid = workload__pid(run->workload);
		targeted.pids = &pid;
		targeted.nr_pids = 1;
	}
	targeted.delayed = run->options.delay_ns != 0;
	run->capture = capture__new(&targeted, sink, &err);
	if (run->capture)
		err = capture__start(run->capture);
	return err ? err : look_for_targets(run);
}

int session__release(struct session *run)
{
	int err = run->workload ? workload__release(run->workload) : 0;

	if (err)
		return err;
	run->started = clock__now_ns();
	if (run->options.delay_ns)
		run->begin = run->started + run->options.delay_ns;
	run->next_status = run->started + NSEC_PER_SEC;
	run->status = status__new(run->options.quiet);
	return 0;
}

/* Milliseconds until something is due, rounded up so that it is due by then. */
static int next_timeout(const struct session *run, uint64_t due)
{
	uint64_t now = clock__now_ns();

	due = min_u64(due, now + RUN_ROUND_NS);
	if (run->begin)
		due = min_u64(due, run->begin);
	if (run->status)
		due = min_u64(due, run->next_status);
	return due <= now ? 0 : (int)((due - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);
}

int session__poll(struct session *run, uint64_t due)
{
	int err = capture__poll(run->capture, next_timeout(run, due), signals__fd(run->signals));

	err_out__flush();
	return err < 0 && err != -EINTR ? err : 0;
}

enum session_end session__look_for_end(struct session *run)
{
	int signal = signals__read(run->signals);

	if (signal) {
		pr_verbose("%s: the %s ends", strsignal(signal), run->options.name);
		return SESSION_SIGNAL;
	}
	if (run->workload && workload__ended(run->workload))
		return SESSION_COMMAND_ENDED;
	if (has_targets(run) && !capture__targets_alive(run->capture))
		return SESSION_TARGETS_ENDED;
	return SESSION_GOES_ON;
}

int session__end_delay(struct session *run, uint64_t now)
{
	if (!run->begin || now < run->begin)
		return 0;
	run->begin = 0;
	return capture__begin(run->capture);
}

bool session__wants_status(struct session *run, uint64_t now)
{
	if (!run->status || now < run->next_status)
		return false;
	run->next_status = now + NSEC_PER_SEC;
	return true;
}

void session__delete_status(struct session *run)
{
	status__delete(run->status);
	run->status = NULL;
}

void session__finish(struct session *run)
{
	pid_t workload = 0;

	if (run->workload && !workload__ended(run->workload))
		workload = workload__pid(run->workload);
	signals__finish(run->signals, workload);
}

void session__terminate(struct session *run)
{
	run->terminated = true;
	if (run->workload)
		workload__terminate(run->workload);
}

int session__exec_error(const struct session *run, enum session_end end)
{
	return end == SESSION_COMMAND_ENDED ? workload__exec_error(run->workload) : 0;
}

/* The status of a COMMAND that was but a clock counts only where it came to its end. */
int session__final_status(struct session *run, enum session_end end)
{
	bool counts = end == SESSION_COMMAND_ENDED || targets_workload(run);
	char *const *command = run->options.command;

	return workload__final_status(run->workload, command ? command[0] : "", counts);
}

/* What failed is our work, not that of COMMAND: it goes on to its end, unless the user ends it. */
static void outlive_workload(struct session *run)
{
	if (!run->workload || !workload__is_released(run->workload) ||
	    workload__ended(run->workload))
		return;
	pr_warn("%s goes on without a %s, and is waited for", run->options.command[0],
		run->options.name);
	session__finish(run);
	err_out__finish(LAST_WORDS_MS);
	workload__wait(run->workload);
}

void session__free(struct session *run)
{
	session__delete_status(run);
	capture__delete(run->capture);
	if (!run->terminated)
		outlive_workload(run);
	workload__delete(run->workload);
	signals__delete(run->signals);
}
