/* SPDX-License-Identifier: GPL-2.0-only */
#include "offcputime/offcputime.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/units.h"
#include "machine/machine.h"
#include "offcputime/intake.h"
#include "record/summary.h"
#include "session/existing.h"
#include "session/findings.h"
#include "session/session.h"
#include "session/status.h"
#include "session/workload.h"

/* How long other processes may delay us at the start and at the end. */
#define OFFCPUTIME_DEADLINE_MS 2000
/* How long what waits to be unwound in the end may take, all in all. */
#define OFFCPUTIME_UNWIND_MS 60000
/* How long sums stay in the kernel. */
#define OFFCPUTIME_WINDOW_NS NSEC_PER_SEC

struct offcputime {
	const struct offcputime_options *options;
	struct session session;
	struct findings findings;
	struct machine *machine;
	struct intake intake;
	struct symbols *symbols;
	struct profile *profile;
	struct profile_filter filter; /* all samples count */
	uint64_t window_end;	      /* CLOCK_MONOTONIC */
	uint64_t end;		      /* UINT64_MAX: there is no duration */
};

static int make_profile(struct offcputime *trace)
{
	const struct symbols_options symbols = { 0 };

	trace->symbols = symbols__new(&symbols);
	if (trace->symbols)
		trace->profile = profile__new(trace->symbols, &trace->filter);
	trace->intake.profile = trace->profile;
	return trace->profile ? 0 : -ENOMEM;
}

static void drop_profile(struct offcputime *trace)
{
	profile__delete(trace->profile);
	symbols__delete(trace->symbols);
	trace->profile = trace->intake.profile = NULL;
	trace->symbols = NULL;
}

static int tell_existing(void *ctx, const struct task_event *event)
{
	struct offcputime *trace = ctx;

	return intake__existing(&trace->intake, event);
}

/* Whether it was asked for some threads, and not for all there are. */
static bool has_named_targets(const struct session_options *session)
{
	const struct capture_targets *targets = &session->capture.targets;

	return targets->nr_pids || targets->nr_tids || targets->nr_groups ||
	       (session->command && !targets->all);
}

static int start_capture(struct offcputime *trace)
{
	struct capture_options options = trace->options->session.capture;
	struct existing_options existing = {
		.all = options.targets.all,
		.deadline_ms = OFFCPUTIME_DEADLINE_MS,
		.event = tell_existing,
		.ctx = trace,
	};
	struct capture_sink sink;
	int err;

	trace->machine = machine__new();
	if (!trace->machine)
		return -ENOMEM;
	options.machine = trace->machine;
	trace->intake.leave_out_never_ran =
		!trace->options->never_ran && !has_named_targets(&trace->options->session);
	err = intake__init(&trace->intake, trace->machine, &sink, CALLCHAIN_FP);
	if (!err)
		err = make_profile(trace);
	if (!err)
		err = session__capture(&trace->session, &options, &sink);
	if (!err)
		err = existing__tell_kernel(&existing, trace->session.capture);
	return err ? err : existing__tell_tasks(&existing, trace->session.capture);
}

static int offcputime__start(struct offcputime *trace)
{
	const struct offcputime_options *options = trace->options;
	int err;

	findings__listen(&trace->findings);
	err = session__init(&trace->session, &options->session);
	if (!err)
		err = start_capture(trace);
	if (!err)
		err = session__release(&trace->session);
	if (err)
		return err;
	if (trace->session.workload) {
		trace->intake.held = workload__pid(trace->session.workload);
		trace->intake.held_until = clock__now_ns();
	}
	trace->window_end = trace->session.started + OFFCPUTIME_WINDOW_NS;
	trace->end = options->duration_ns ? trace->session.started + options->duration_ns :
					    UINT64_MAX;
	bcc__print_header(&options->form, options->threads, options->duration_ns, stdout);
	fflush(stdout);
	return 0;
}

static void show_status(struct offcputime *trace, uint64_t now)
{
	struct capture_stats stats = { 0 };
	struct status_figures figures = { .elapsed_ns = now - trace->session.started };

	/* Without the accounts the line still tells how it goes. */
	if (!capture__stats(trace->session.capture, &stats)) {
		figures.blocks = stats.seen.count;
		figures.lost = summary__lost(&stats);
	}
	status__show_hist(trace->session.status, &figures);
}

static int do_what_is_due(struct offcputime *trace, uint64_t now)
{
	int err = session__end_delay(&trace->session, now);

	if (err || (now < trace->window_end && !capture__wants_drain(trace->session.capture) &&
		    !machine__wants_forget(trace->machine)))
		return err;
	trace->window_end = now + OFFCPUTIME_WINDOW_NS;
	return capture__drain(trace->session.capture);
}

static int offcputime__loop(struct offcputime *trace, enum session_end *end)
{
	uint64_t now;
	int err;

	for (;;) {
		err = session__poll(&trace->session, min_u64(trace->window_end, trace->end));
		if (err)
			return err;
		now = clock__now_ns();
		*end = session__look_for_end(&trace->session);
		if (!*end && now >= trace->end)
			*end = SESSION_FULL;
		if (*end)
			return 0;
		err = do_what_is_due(trace, now);
		if (err)
			return err;
		if (session__wants_status(&trace->session, now))
			show_status(trace, now);
	}
}

static void note_left_out(struct offcputime *trace)
{
	const struct intake_never_ran *left_out = &trace->intake.left_out;
	char line[160], count[32];

	if (!left_out->threads)
		return;
	snprintf(line, sizeof(line),
		 "[ %s threads were blocked all the time and are left out: --never-ran shows "
		 "them ]",
		 units__format_count(left_out->threads, count, sizeof(count)));
	findings__add(&trace->findings, FINDING_NOTE, line);
}

static int print(struct offcputime *trace)
{
	const struct bcc_form *form = &trace->options->form;
	int err = symbols__resolve(trace->symbols, trace->machine, false);

	if (err)
		return err;
	if (!form->folded && !form->libbpf)
		fputc('\n', stdout);
	err = bcc__write(trace->profile, form, stdout);
	if (!err && fflush(stdout))
		err = -errno;
	if (err)
		pr_err("cannot write to stdout: %s", strerror(-err));
	return err;
}

static int offcputime__finish(struct offcputime *trace)
{
	struct capture_stats stats;
	int err;

	findings__hold(&trace->findings);
	session__finish(&trace->session);
	err = capture__stop(trace->session.capture, OFFCPUTIME_DEADLINE_MS);
	session__terminate(&trace->session);
	if (!err)
		err = intake__finish(&trace->intake, OFFCPUTIME_UNWIND_MS);
	/* stdout may be the same terminal. */
	session__delete_status(&trace->session);
	if (!err)
		err = print(trace);
	if (err)
		return err;
	note_left_out(trace);
	if (!capture__stats(trace->session.capture, &stats))
		summary__print_stats(&stats, &trace->findings);
	else
		pr_loss("the accounts of the trace cannot be read");
	return 0;
}

int offcputime__run(const struct offcputime_options *options, int *status)
{
	struct offcputime trace = { .options = options };
	unsigned long errors = log__nr_errors();
	enum session_end end;
	int err;

	err = offcputime__start(&trace);
	if (!err)
		err = offcputime__loop(&trace, &end);
	if (!err)
		err = session__exec_error(&trace.session, end);
	if (!err)
		err = offcputime__finish(&trace);
	if (!err)
		*status = session__final_status(&trace.session, end);
	if (err && log__nr_errors() == errors)
		pr_err("the trace failed: %s", strerror(-err));
	findings__free(&trace.findings);
	intake__free(&trace.intake);
	drop_profile(&trace);
	session__free(&trace.session);
	machine__delete(trace.machine);
	return err;
}
