/* SPDX-License-Identifier: GPL-2.0-only */
#include "offcputime/offcputime.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/units.h"
#include "base/whole_file.h"
#include "host/capabilities.h"
#include "machine/machine.h"
#include "offcputime/intake.h"
#include "output/json/json.h"
#include "report/recording.h"
#include "session/accounts.h"
#include "session/existing.h"
#include "session/findings.h"
#include "session/session.h"
#include "session/status.h"
#include "session/walks.h"
#include "session/workload.h"

/* How often a child that prints is looked at once the next interval is over. */
#define OFFCPUTIME_LOOK_NS (20 * NSEC_PER_MSEC)
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
	struct recording other;	      /* that the flame graph is compared with; empty: none */
	struct whole_file output;
	struct child *printing;	      /* the stacks of an interval; NULL: nothing is printed */
	uint64_t window_end;	      /* CLOCK_MONOTONIC */
	uint64_t interval_end;	      /* UINT64_MAX: there are no intervals */
	uint64_t end;		      /* UINT64_MAX: there is no duration */
};

static int make_profile(struct offcputime *trace)
{
	trace->symbols = symbols__new(&trace->options->symbols);
	if (trace->symbols)
		trace->profile = profile__new(trace->symbols, &trace->filter);
	trace->intake.profile = trace->profile;
	if (!trace->profile)
		return -ENOMEM;
	if (trace->options->form.addresses)
		profile__keep_addresses(trace->profile);
	return 0;
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

/* True if threads were chosen, not all of the machine. */
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
	/* The programs leave threads that are still blocked to the unwinder. */
	err = intake__init(&trace->intake, trace->machine, &sink,
			   options.stacks.copies.bytes ? CALLCHAIN_UNWIND : CALLCHAIN_FP);
	trace->intake.callchain.max_frames = options.stacks.max_frames;
	if (!err)
		err = make_profile(trace);
	if (!err)
		err = session__capture(&trace->session, &options, &sink);
	if (!err)
		err = existing__tell_kernel(&existing, trace->session.capture);
	return err ? err : existing__tell_tasks(&existing, trace->session.capture);
}

/* Before the trace: a file that cannot be read ends the command while nothing is lost. */
static int read_other(struct offcputime *trace)
{
	const struct offcputime_options *options = trace->options;

	return options->outputs.diff ? recording__read(&trace->other, options->outputs.diff,
						       &options->symbols, &trace->filter) :
				       0;
}

static int open_output(struct offcputime *trace)
{
	int err = whole_file__open(&trace->output, trace->options->output);

	if (err)
		pr_err("cannot write %s: %s", trace->options->output, strerror(-err));
	return err;
}

/* Files for other programs replace the text, unless it was requested as well. */
static bool wants_text(const struct offcputime_options *options)
{
	return options->text || !output_files__any(&options->outputs);
}

static int offcputime__start(struct offcputime *trace)
{
	const struct offcputime_options *options = trace->options;
	int err;

	findings__listen(&trace->findings);
	err = read_other(trace);
	if (!err)
		err = open_output(trace);
	if (!err)
		err = session__init(&trace->session, &options->session);
	if (!err)
		err = start_capture(trace);
	if (!err)
		err = session__release(&trace->session);
	if (err)
		return err;
	if (trace->session.run.workload) {
		trace->intake.held = workload__pid(trace->session.run.workload);
		trace->intake.held_until = clock__now_ns();
	}
	trace->window_end = trace->session.started + OFFCPUTIME_WINDOW_NS;
	trace->end = options->duration_ns ? trace->session.started + options->duration_ns :
					    UINT64_MAX;
	trace->interval_end = options->interval_ns ?
				      trace->session.started + options->interval_ns :
				      UINT64_MAX;
	if (wants_text(options) && !options->outputs.json)
		bcc__print_header(&options->form, options->threads, options->duration_ns,
				  trace->output.out);
	fflush(trace->output.out);
	return 0;
}

static void show_status(struct offcputime *trace, uint64_t now)
{
	struct capture_stats stats = { 0 };
	struct status_figures figures = { .elapsed_ns = now - trace->session.started };

	/* Without the accounts the line still tells how it goes. */
	if (!capture__stats(trace->session.capture, &stats)) {
		figures.blocks = stats.seen.count;
		figures.lost = accounts__lost(&stats);
	}
	status__show_hist(trace->session.status, &figures);
}

/* The reader of our output has seen enough, as head has. */
static bool is_closed_pipe(FILE *out)
{
	struct pollfd fd = { .fd = fileno(out) };

	return poll(&fd, 1, 0) > 0 && fd.revents & POLLERR;
}

/* Between the first line and the stacks, or between those of two intervals. */
static void print_gap(const struct offcputime *trace)
{
	time_t seconds = time(NULL);
	char text[16] = "";
	struct tm tm;

	fputc('\n', trace->output.out);
	if (!trace->options->interval_ns)
		return;
	if (localtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%H:%M:%S", &tm);
	fprintf(trace->output.out, "%s\n", text);
}

/* 0, -EPIPE if the reader has gone, or another negative errno (logged). */
static int print_text(const struct offcputime *trace)
{
	const struct bcc_form *form = &trace->options->form;
	FILE *out = trace->output.out;
	int err;

	errno = 0;
	if (!trace->options->outputs.json && !form->folded && !form->libbpf)
		print_gap(trace);
	err = whole_file__write_error(trace->options->outputs.json ?
					      json__write(trace->profile, out) :
					      bcc__write(trace->profile, form, out));
	if (!err && fflush(out))
		err = -errno;
	if (err && is_closed_pipe(out))
		return -EPIPE;
	if (err)
		pr_err("cannot write %s: %s",
		       out == stdout ? "to standard output" : trace->options->output,
		       strerror(-err));
	return err;
}

static int print(struct offcputime *trace)
{
	const struct offcputime_options *options = trace->options;
	const struct flamegraph_other other = { trace->other.profile, trace->other.path };
	int err = symbols__resolve(trace->symbols, trace->machine, false);

	if (!err && wants_text(options))
		err = print_text(trace);
	return err ? err : output_files__write(&options->outputs, trace->profile,
					       other.profile ? &other : NULL);
}

static int print_interval(struct offcputime *trace)
{
	int err = print(trace);

	if (!err && trace->options->form.folded) {
		fputc('\n', trace->output.out);
		err = fflush(trace->output.out) ? -errno : 0;
	}
	return err;
}

/* What the child that prints an interval needs. */
struct printer {
	struct offcputime *trace;
	int fd; /* of the output, there */
};

static int print_in_child(void *ctx, struct child_out *out)
{
	struct printer *printer = ctx;

	(void)out;
	/* A closed pipe is an error of write(). */
	signal(SIGPIPE, SIG_IGN);
	printer->trace->output.out = fdopen(printer->fd, "w");
	return printer->trace->output.out ? print_interval(printer->trace) : -errno;
}

/*
 * Waits until deadline_ns (CLOCK_MONOTONIC) for the child that prints the last interval, if there
 * is one. 0, -ETIMEDOUT, or the error of print().
 */
static int end_printing(struct offcputime *trace, uint64_t deadline_ns)
{
	struct child_message message;
	int err;

	if (!trace->printing)
		return 0;
	err = child__receive(trace->printing, deadline_ns, &message);
	if (err == -ETIMEDOUT)
		return err;
	child__delete(trace->printing);
	trace->printing = NULL;
	if (err == -ECHILD)
		pr_err("the process that printed an interval was ended by something else");
	return err;
}

/*
 * Prints the stacks of an interval and begins anew. A child looks up the names of frames and
 * writes, which may take seconds; the rings are read meanwhile. An interval lasts until the one
 * before it is printed.
 */
static int end_interval(struct offcputime *trace, uint64_t now)
{
	struct printer printer = { .trace = trace };
	int err = end_printing(trace, now), fd;

	if (err == -ETIMEDOUT) {
		trace->interval_end = now + OFFCPUTIME_LOOK_NS;
		return 0;
	}
	if (err)
		return err;
	trace->interval_end = now + trace->options->interval_ns;
	session__erase_status(&trace->session);
	fflush(trace->output.out);
	/* The child has other standard descriptors. */
	fd = printer.fd = fcntl(fileno(trace->output.out), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (fd >= 0)
		trace->printing = child__new_keeping(print_in_child, &printer, &printer.fd, &err);
	/* Without a process for it, the rings have to wait. */
	err = trace->printing ? 0 : print_interval(trace);
	if (fd >= 0)
		close(fd);
	if (err)
		return err;
	drop_profile(trace);
	return make_profile(trace);
}

static int do_what_is_due(struct offcputime *trace, uint64_t now)
{
	bool ends_interval = now >= trace->interval_end;
	int err = session__end_delay(&trace->session, now);

	if (err || (!ends_interval && now < trace->window_end &&
		    !capture__wants_drain(trace->session.capture) &&
		    !machine__wants_forget(trace->machine)))
		return err;
	trace->window_end = now + OFFCPUTIME_WINDOW_NS;
	err = capture__drain(trace->session.capture);
	return err || !ends_interval ? err : end_interval(trace, now);
}

static uint64_t next_due(const struct offcputime *trace)
{
	return min_u64(min_u64(trace->window_end, trace->interval_end), trace->end);
}

static int offcputime__loop(struct offcputime *trace, enum session_end *end)
{
	uint64_t now;
	int err;

	for (;;) {
		err = session__poll(&trace->session, next_due(trace));
		if (err)
			return err;
		now = clock__now_ns();
		*end = session__look_for_end(&trace->session);
		if (!*end && now >= trace->end)
			*end = SESSION_FULL;
		if (*end)
			return 0;
		err = do_what_is_due(trace, now);
		if (err == -EPIPE)
			*end = SESSION_FULL;
		if (err)
			return err == -EPIPE ? 0 : err;
		if (!trace->printing && session__wants_status(&trace->session, now))
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

/* Tells of what became of blocks and stacks. */
static void print_end(struct offcputime *trace)
{
	struct capture_stats stats;
	struct walks walks = {
		.stats = &stats,
		.chains = &trace->intake.chain_stats,
		.by_tables = capture__walks_by_tables(trace->session.capture),
		.fp_asked_for = !trace->options->session.capture.stacks.copies.bytes,
	};

	if (capture__stats(trace->session.capture, &stats)) {
		pr_loss("the accounts of the trace cannot be read");
		return;
	}
	capabilities__missing_for_code(walks.missing_rights, sizeof(walks.missing_rights));
	walks__find(&walks, &trace->findings);
	walks__print(&walks);
	accounts__tell(&stats, &trace->findings);
}

static int offcputime__finish(struct offcputime *trace)
{
	int err;

	findings__hold(&trace->findings);
	run__finish(&trace->session.run);
	err = capture__stop(trace->session.capture, OFFCPUTIME_DEADLINE_MS);
	run__terminate(&trace->session.run);
	if (!err)
		err = intake__finish(&trace->intake, OFFCPUTIME_UNWIND_MS);
	/* stdout may be the same terminal. */
	session__delete_status(&trace->session);
	if (!err)
		err = end_printing(trace, UINT64_MAX);
	if (!err)
		err = print(trace);
	err = whole_file__close(&trace->output, err);
	if (err)
		return err;
	note_left_out(trace);
	print_end(trace);
	return 0;
}

int offcputime__run(const struct offcputime_options *options, int *status)
{
	struct offcputime trace = { .options = options };
	unsigned long errors = log__nr_errors();
	enum session_end end = SESSION_GOES_ON;
	int err;

	err = offcputime__start(&trace);
	if (!err)
		err = offcputime__loop(&trace, &end);
	if (!err)
		err = run__exec_error(&trace.session.run, end);
	if (!err)
		err = offcputime__finish(&trace);
	if (err == -EPIPE)
		err = 0;
	if (!err)
		*status = run__final_status(&trace.session.run, end);
	if (trace.output.out)
		whole_file__close(&trace.output, -ECANCELED);
	if (err && log__nr_errors() == errors)
		pr_err("the trace failed: %s", strerror(-err));
	child__delete(trace.printing);
	findings__free(&trace.findings);
	intake__free(&trace.intake);
	drop_profile(&trace);
	recording__close(&trace.other);
	session__free(&trace.session);
	machine__delete(trace.machine);
	return err;
}
