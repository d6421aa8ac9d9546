/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "record/lengths.h"
#include "record/signals.h"
#include "record/status.h"
#include "record/summary.h"
#include "record/targets.h"
#include "record/workload.h"

/* How long other processes may delay us at the end. */
#define WATCH_DEADLINE_MS 2000
/* Nothing is due meanwhile but an end, which wakes us; the capture looks for targets itself. */
#define WATCH_ROUND_MS 60000

enum watch_end {
	WATCH_GOES_ON = 0,
	WATCH_COMMAND_ENDED,
	WATCH_TARGETS_ENDED,
	WATCH_SIGNAL,
};

struct watch {
	const struct watch_options *options;
	struct signals *signals;
	struct workload *workload;
	struct capture *capture;
	struct lengths lengths;
	struct status *status;
	uint64_t started;
	uint64_t begin; /* when the delay is over; 0: it is, or there is none */
	uint64_t next_status;
};

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool has_targets(const struct watch_options *options)
{
	return options->capture.nr_pids || options->capture.nr_tids;
}

/* COMMAND is watched unless something else was asked for; else it is but a clock. */
static bool watches_workload(const struct watch_options *options)
{
	return options->command && !options->capture.all && !has_targets(options);
}

/* The only samples are threads that are still blocked. */
static int take_blocked(void *ctx, const struct sample *sample)
{
	struct watch *watch = ctx;

	lengths__add_blocked(&watch->lengths, sample->period, sample->never_ran);
	return 0;
}

static int start_workload(struct watch *watch)
{
	struct workload_options options = {
		.argv = watch->options->command,
		.signals = watch->signals,
		.stdout_to_stderr = watch->options->json,
	};

	return workload__prepare(&options, &watch->workload);
}

static int start_capture(struct watch *watch)
{
	struct capture_options options = watch->options->capture;
	const struct capture_sink sink = { .ctx = watch, .sample = take_blocked };
	const struct capture_task *tasks;
	size_t nr;
	pid_t pid;
	int err;

	if (watches_workload(watch->options)) {
		pid = workload__pid(watch->workload);
		options.pids = &pid;
		options.nr_pids = 1;
	}
	options.delayed = watch->options->delay_ns != 0;
	options.histogram = true;
	options.kernel_stacks = options.user_stacks = false;
	options.ring_pages = 1;
	watch->capture = capture__new(&options, &sink, &err);
	if (!err)
		err = capture__start(watch->capture);
	if (err || !has_targets(watch->options))
		return err;
	/* The kernel may not show a target that /proc has. */
	tasks = capture__tasks(watch->capture, &nr);
	return targets__look(&watch->options->capture, tasks, nr);
}

static int watch__start(struct watch *watch)
{
	int err;

	watch->signals = signals__new(&err);
	if (!watch->signals)
		return err;
	err = start_workload(watch);
	if (!err)
		err = start_capture(watch);
	if (!err && watch->workload)
		err = workload__release(watch->workload);
	if (err)
		return err;
	watch->started = clock__now_ns();
	if (watch->options->delay_ns)
		watch->begin = watch->started + watch->options->delay_ns;
	watch->next_status = watch->started + NSEC_PER_SEC;
	watch->status = status__new(watch->options->quiet);
	return 0;
}

/* Milliseconds until something is due, rounded up so that it is due by then. */
static int next_timeout(const struct watch *watch, uint64_t now)
{
	uint64_t due = now + WATCH_ROUND_MS * NSEC_PER_MSEC;

	if (watch->begin)
		due = min_u64(due, watch->begin);
	if (watch->status)
		due = min_u64(due, watch->next_status);
	return due <= now ? 0 : (int)((due - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);
}

static void show_status(struct watch *watch, uint64_t now)
{
	struct capture_stats stats = { 0 };
	struct status_figures figures = { .elapsed_ns = now - watch->started };

	/* Without the accounts the line still tells how it goes. */
	if (!capture__stats(watch->capture, &stats)) {
		figures.blocks = stats.in_histogram.count;
		figures.lost = summary__lost(&stats);
	}
	status__show_watch(watch->status, &figures);
	watch->next_status = now + NSEC_PER_SEC;
}

static enum watch_end look_for_end(struct watch *watch)
{
	int signal = signals__read(watch->signals);

	if (signal) {
		pr_verbose("%s: the watch ends", strsignal(signal));
		return WATCH_SIGNAL;
	}
	if (watch->workload && workload__ended(watch->workload))
		return WATCH_COMMAND_ENDED;
	if (has_targets(watch->options) && !capture__targets_alive(watch->capture))
		return WATCH_TARGETS_ENDED;
	return WATCH_GOES_ON;
}

static int watch__loop(struct watch *watch, enum watch_end *end)
{
	uint64_t now;
	int err;

	for (*end = WATCH_GOES_ON; !*end;) {
		err = capture__poll(watch->capture, next_timeout(watch, clock__now_ns()),
				    signals__fd(watch->signals));
		if (err < 0 && err != -EINTR)
			return err;
		*end = look_for_end(watch);
		now = clock__now_ns();
		if (!*end && watch->status && now >= watch->next_status)
			show_status(watch, now);
		if (*end || !watch->begin || now < watch->begin)
			continue;
		watch->begin = 0;
		err = capture__begin(watch->capture);
		if (err)
			return err;
	}
	return 0;
}

static int print_lengths(const struct watch *watch)
{
	int err = watch->options->json
			  ? lengths__print_json(&watch->lengths, stdout)
			  : lengths__print(&watch->lengths, watch->options->quiet, stdout);

	if (err)
		pr_err("cannot write to stdout: %s", strerror(-err));
	return err;
}

static int watch__finish(struct watch *watch)
{
	struct capture_stats stats;
	pid_t workload = 0;
	int err;

	if (watch->workload && !workload__ended(watch->workload))
		workload = workload__pid(watch->workload);
	signals__finish(watch->signals, workload);
	if (watch->begin)
		pr_warn("the watch ended before the delay of -D was over: nothing was counted");
	err = capture__stop(watch->capture, WATCH_DEADLINE_MS);
	if (watch->workload)
		workload__terminate(watch->workload);
	if (err)
		return err;
	err = capture__stats(watch->capture, &stats);
	if (!err)
		err = capture__hist(watch->capture, &watch->lengths.ended);
	if (err) {
		pr_err("the histogram cannot be read: %s", strerror(-err));
		return err;
	}
	/* stdout may be the same terminal. */
	status__delete(watch->status);
	watch->status = NULL;
	watch->lengths.duration_ns = stats.end_ns - stats.start_ns;
	watch->lengths.lost = summary__lost(&stats) + stats.unseen_births;
	summary__print_stats(&stats);
	return print_lengths(watch);
}

/* The status of a COMMAND that was but a clock counts only where it came to its end. */
static int final_status(struct watch *watch, enum watch_end end)
{
	bool counts = end == WATCH_COMMAND_ENDED || watches_workload(watch->options);
	char *const *command = watch->options->command;

	return workload__final_status(watch->workload, command ? command[0] : "", counts);
}

int watch__run(const struct watch_options *options, int *status)
{
	struct watch watch = { .options = options };
	enum watch_end end;
	int err;

	err = watch__start(&watch);
	if (!err)
		err = watch__loop(&watch, &end);
	if (!err && end == WATCH_COMMAND_ENDED)
		err = workload__exec_error(watch.workload);
	if (!err)
		err = watch__finish(&watch);
	if (!err)
		*status = final_status(&watch, end);
	status__delete(watch.status);
	capture__delete(watch.capture);
	if (watch.workload)
		workload__terminate(watch.workload);
	workload__delete(watch.workload);
	signals__delete(watch.signals);
	return err;
}
