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

/* The events that end a session wake it up, and the capture checks its targets itself. */
#define SESSION_ROUND_NS (60 * NSEC_PER_SEC)
/* Limit of the delay by a terminal that takes nothing. */
#define LAST_WORDS_MS 2000

static bool has_targets(const struct session *session)
{
	const struct capture_targets *targets = &session->options->capture.targets;

	return targets->nr_pids || targets->nr_tids;
}

/* COMMAND is the target unless others are given; then it only determines the end. */
static bool targets_workload(const struct session *session)
{
	const struct session_options *options = session->options;

	return options->command && !options->capture.targets.all && !has_targets(session);
}

int session__init(struct session *session, const struct session_options *options)
{
	struct workload_options workload_options = {
		.argv = options->command,
		.stdout_to_stderr = options->stdout_to_stderr,
	};
	int err;

	*session = (struct session){ .options = options };
	/* The tables of what targets have mapped are made before the recording begins. */
	workload_options.map_code =
		targets_workload(session) && options->capture.stacks.copies.tables;
	workload_options.signals = session->signals = signals__new(&err);
	return session->signals ? workload__prepare(&workload_options, &session->workload) : err;
}

/* The kernel may hide a target that /proc shows. */
static int look_for_targets(const struct session *session)
{
	const struct session_options *options = session->options;
	size_t nr;
	const struct capture_task *tasks = capture__tasks(session->capture, &nr);

	return targets__look(&options->capture.targets, tasks, nr, options->noun);
}

int session__capture(struct session *session, const struct capture_options *options,
		     const struct capture_sink *sink)
{
	struct capture_options targeted = *options;
	pid_t pid;
	int err;

	if (targets_workload(session)) {
		pid = workload__pid(session->workload);
		targeted.targets.pids = &pid;
		targeted.targets.nr_pids = 1;
	}
	targeted.delayed = session->options->delay_ns != 0;
	session->capture = capture__new(&targeted, sink, &err);
	if (session->capture)
		err = capture__start(session->capture);
	return err ? err : look_for_targets(session);
}

int session__release(struct session *session)
{
	int err = session->workload ? workload__release(session->workload) : 0;

	if (err)
		return err;
	session->started = clock__now_ns();
	if (session->options->delay_ns)
		session->begin = session->started + session->options->delay_ns;
	session->next_status = session->started + NSEC_PER_SEC;
	session->status = status__new(session->options->quiet);
	return 0;
}

/* Milliseconds until the next time due, rounded up. */
static int next_timeout(const struct session *session, uint64_t due)
{
	uint64_t now = clock__now_ns();

	due = min_u64(due, now + SESSION_ROUND_NS);
	if (session->begin)
		due = min_u64(due, session->begin);
	if (session->status)
		due = min_u64(due, session->next_status);
	return due <= now ? 0 : (int)((due - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);
}

int session__poll(struct session *session, uint64_t due)
{
	int err = capture__poll(session->capture, next_timeout(session, due),
				signals__fd(session->signals));

	err_out__flush();
	return err < 0 && err != -EINTR ? err : 0;
}

enum session_end session__look_for_end(struct session *session)
{
	int signal = signals__read(session->signals);

	if (signal) {
		pr_verbose("ends at the signal %s", strsignal(signal));
		return SESSION_SIGNAL;
	}
	if (session->workload && workload__ended(session->workload))
		return SESSION_COMMAND_ENDED;
	if (has_targets(session) && !capture__targets_alive(session->capture))
		return SESSION_TARGETS_ENDED;
	return SESSION_GOES_ON;
}

int session__end_delay(struct session *session, uint64_t now)
{
	if (!session->begin || now < session->begin)
		return 0;
	session->begin = 0;
	return capture__begin(session->capture);
}

bool session__wants_status(struct session *session, uint64_t now)
{
	if (!session->status || now < session->next_status)
		return false;
	session->next_status = now + NSEC_PER_SEC;
	return true;
}

void session__delete_status(struct session *session)
{
	status__delete(session->status);
	session->status = NULL;
}

void session__erase_status(struct session *session)
{
	if (!session->status)
		return;
	session__delete_status(session);
	session->status = status__new(session->options->quiet);
}

void session__finish(struct session *session)
{
	pid_t workload = 0;

	if (session->workload && !workload__ended(session->workload))
		workload = workload__pid(session->workload);
	signals__finish(session->signals, workload, session->options->patience);
	targets__warn_of_gone_groups(&session->options->capture.targets);
	if (session->begin)
		pr_warn("the %s ended before the delay of -D was over: it is empty",
			session->options->noun);
}

void session__terminate(struct session *session)
{
	session->terminated = true;
	if (session->workload)
		workload__terminate(session->workload);
}

int session__exec_error(const struct session *session, enum session_end end)
{
	return end == SESSION_COMMAND_ENDED ? workload__exec_error(session->workload) : 0;
}

/* The status of a COMMAND that is no target counts only if it ended by itself. */
int session__final_status(struct session *session, enum session_end end)
{
	bool counts = end == SESSION_COMMAND_ENDED || targets_workload(session);
	char *const *command = session->options->command;

	return workload__final_status(session->workload, command ? command[0] : "", counts);
}

/* After a failure of the recording COMMAND goes on to its end, unless the user ends it. */
static void outlive_workload(struct session *session)
{
	if (!session->workload || !workload__is_released(session->workload) ||
	    workload__ended(session->workload))
		return;
	pr_warn("%s is no longer %s; %s waits for it to end", session->options->command[0],
		session->options->done, log__program());
	session__finish(session);
	err_out__finish(LAST_WORDS_MS);
	workload__wait(session->workload);
}

void session__free(struct session *session)
{
	session__delete_status(session);
	capture__delete(session->capture);
	if (!session->terminated)
		outlive_workload(session);
	workload__delete(session->workload);
	signals__delete(session->signals);
}
