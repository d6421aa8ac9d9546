/* SPDX-License-Identifier: GPL-2.0-only */
#include "hist/hist_cmd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "hist/duration_hist.h"
#include "session/session.h"
#include "session/status.h"
#include "record/summary.h"

/* How long other processes may delay us at the end. */
#define HIST_DEADLINE_MS 2000

struct hist_cmd {
	const struct hist_cmd_options *options;
	struct session run;
	struct duration_hist lengths;
};

/* The only samples are threads that are still blocked. */
static int take_blocked(void *ctx, const struct sample *sample)
{
	struct hist_cmd *watch = ctx;

	duration_hist__add_blocked(&watch->lengths, sample->period, sample->never_ran);
	return 0;
}

static int start_capture(struct hist_cmd *watch)
{
	struct capture_options options = watch->options->capture;
	const struct capture_sink sink = { .ctx = watch, .sample = take_blocked };

	options.histogram = true;
	options.kernel_stacks = options.user_stacks = false;
	options.ring_pages = 1;
	return session__capture(&watch->run, &options, &sink);
}

static int hist_cmd__start(struct hist_cmd *watch)
{
	const struct hist_cmd_options *options = watch->options;
	const struct run_options run_options = {
		.capture = &options->capture,
		.command = options->command,
		.stdout_to_stderr = options->json,
		.delay_ns = options->delay_ns,
		.quiet = options->quiet,
		.name = "watch",
	};
	int err;

	err = session__init(&watch->run, &run_options);
	if (!err)
		err = start_capture(watch);
	return err ? err : session__release(&watch->run);
}

static void show_status(struct hist_cmd *watch, uint64_t now)
{
	struct capture_stats stats = { 0 };
	struct status_figures figures = { .elapsed_ns = now - watch->run.started };

	/* Without the accounts the line still tells how it goes. */
	if (!capture__stats(watch->run.capture, &stats)) {
		figures.blocks = stats.in_histogram.count;
		figures.lost = summary__lost(&stats);
	}
	status__show_hist(watch->run.status, &figures);
}

static int hist_cmd__loop(struct hist_cmd *watch, enum session_end *end)
{
	uint64_t now;
	int err;

	for (;;) {
		err = session__poll(&watch->run, UINT64_MAX);
		if (err)
			return err;
		now = clock__now_ns();
		*end = session__look_for_end(&watch->run);
		if (*end)
			return 0;
		err = session__end_delay(&watch->run, now);
		if (err)
			return err;
		if (session__wants_status(&watch->run, now))
			show_status(watch, now);
	}
}

static int print_lengths(const struct hist_cmd *watch)
{
	int err = watch->options->json
			  ? duration_hist__print_json(&watch->lengths, stdout)
			  : duration_hist__print(&watch->lengths, watch->options->quiet, stdout);

	if (err)
		pr_err("cannot write to stdout: %s", strerror(-err));
	return err;
}

static int hist_cmd__finish(struct hist_cmd *watch)
{
	struct capture_stats stats;
	int err;

	session__finish(&watch->run);
	if (watch->run.begin)
		pr_warn("the watch ended before the delay of -D was over: nothing was counted");
	err = capture__stop(watch->run.capture, HIST_DEADLINE_MS);
	session__terminate(&watch->run);
	if (err)
		return err;
	err = capture__stats(watch->run.capture, &stats);
	if (!err)
		err = capture__hist(watch->run.capture, &watch->lengths.ended);
	if (err) {
		pr_err("the histogram cannot be read: %s", strerror(-err));
		return err;
	}
	/* stdout may be the same terminal. */
	session__delete_status(&watch->run);
	watch->lengths.duration_ns = stats.end_ns - stats.start_ns;
	watch->lengths.lost = summary__lost(&stats) + stats.unseen_births;
	summary__print_stats(&stats);
	return print_lengths(watch);
}

int hist_cmd__run(const struct hist_cmd_options *options, int *status)
{
	struct hist_cmd watch = { .options = options };
	enum session_end end;
	int err;

	err = hist_cmd__start(&watch);
	if (!err)
		err = hist_cmd__loop(&watch, &end);
	if (!err)
		err = session__exec_error(&watch.run, end);
	if (!err)
		err = hist_cmd__finish(&watch);
	if (!err)
		*status = session__final_status(&watch.run, end);
	session__free(&watch.run);
	return err;
}
