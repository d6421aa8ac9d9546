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

/* The events that end a session wake it up, and the capture checks its targets itself. */
#define SESSION_ROUND_NS (60 * NSEC_PER_SEC)

int session__init(struct session *session, const struct session_options *options)
{
	*session = (struct session){ 0 };
	/* The tables of what targets have mapped are made before the recording begins. */
	return run__init(&session->run, options, options->capture.stacks.copies.tables);
}

/* The kernel may hide a target that /proc shows. */
static int look_for_targets(const struct session *session)
{
	const struct session_options *options = session->run.options;
	size_t nr;
	const struct capture_task *tasks = capture__tasks(session->capture, &nr);

	return targets__look(&options->capture.targets, tasks, nr, options->noun);
}

int session__capture(struct session *session, const struct capture_options *options,
		     const struct capture_sink *sink)
{
	struct capture_options targeted = *options;
	int err;

	run__add_command(&session->run, &targeted.targets);
	targeted.delayed = session->run.options->delay_ns != 0;
	session->capture = capture__new(&targeted, sink, &err);
	if (session->capture)
		err = capture__start(session->capture);
	return err ? err : look_for_targets(session);
}

int session__release(struct session *session)
{
	const struct session_options *options = session->run.options;
	int err = run__release(&session->run);

	if (err)
		return err;
	session->started = clock__now_ns();
	if (options->delay_ns)
		session->run.begin = session->started + options->delay_ns;
	session->next_status = session->started + NSEC_PER_SEC;
	session->status = status__new(options->quiet);
	return 0;
}

/* Milliseconds until the next time due, rounded up. */
static int next_timeout(const struct session *session, uint64_t due)
{
	uint64_t now = clock__now_ns();

	due = min_u64(due, now + SESSION_ROUND_NS);
	if (session->run.begin)
		due = min_u64(due, session->run.begin);
	if (session->status)
		due = min_u64(due, session->next_status);
	return due <= now ? 0 : (int)((due - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);
}

int session__poll(struct session *session, uint64_t due)
{
	int err = capture__poll(session->capture, next_timeout(session, due),
				signals__fd(session->run.signals));

	err_out__flush();
	return err < 0 && err != -EINTR ? err : 0;
}

enum session_end session__look_for_end(struct session *session)
{
	enum session_end end = run__look_for_end(&session->run);

	if (end == SESSION_SIGNAL)
		pr_verbose("ends at the signal %s", strsignal(session->run.signal));
	if (!end && run__has_targets(&session->run) && !capture__targets_alive(session->capture))
		return SESSION_TARGETS_ENDED;
	return end;
}

int session__end_delay(struct session *session, uint64_t now)
{
	if (!session->run.begin || now < session->run.begin)
		return 0;
	session->run.begin = 0;
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
	session->status = status__new(session->run.options->quiet);
}

void session__free(struct session *session)
{
	session__delete_status(session);
	capture__delete(session->capture);
	run__free(&session->run);
}
