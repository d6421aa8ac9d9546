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
#define WATCH_DEADLINE_MS 2000

struct watch {
	const struct watch_options *options;
	struct run run;
	struct lengths lengths;
};

/* The only samples are threads that are still blocked. */
static int take_blocked(void *ctx, const struct sample *sample)
{
	struct watch *watch = ctx;

	lengths__add_blocked(&watch->lengths, sample->period, sample->never_ran);
	return 0;
}

static int start_capture(struct watch *watch)
{
	struct capture_options options = watch->options->capture;
	const struct capture_sink sink = { .ctx = watch, .sample = take_blocked };

	options.histogram = true;
	options.kernel_stacks = options.user_stacks = false;
	options.ring_pages = 1;
	return run__capture(&watch->run, &options, &sink);
}

static int watch__start(struct watch *watch)
{
	const struct watch_options *options = watch->options;
	const struct run_options run_options = {
		.capture = &options->capture,
		.command = options->command,
		.stdout_to_stderr = options->json,
		.delay_ns = options->delay_ns,
		.quiet = options->quiet,
		.name = "watch",
	};
	int err;

	err = run__init(&watch->run, &run_options);
	if (!err)
		err = start_capture(watch);
	return err ? err : run__release(&watch->run);
}

static void show_status(struct watch *watch, uint64_t now)
{
	struct capture_stats stats = { 0 };
	struct status_figures figures = { .elapsed_ns = now - watch->run.started };

	/* Without the accounts the line still tells how it goes. */
	if (!capture__stats(watch->run.capture, &stats)) {
		figures.blocks = stats.in_histogram.count;
		figures.lost = summary__lost(&stats);
	}
	status__show_watch(watch->run.status, &figures);
}

static int watch__loop(struct watch *watch, enum run_end *end)
{
	uint64_t now;
	int err;

	for (;;) {
		err = run__poll(&watch->run, UINT64_MAX);
		if (err)
			return err;
		now = clock__now_ns();
		*end = run__look_for_end(&watch->run);
		if (*end)
			return 0;
		err = run__end_delay(&watch->run, now);
		if (err)
			return err;
		if (run__wants_status(&watch->run, now))
			show_status(watch, now);
	}
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
	int err;

	run__finish(&watch->run);
	if (watch->run.begin)
		pr_warn("the watch ended before the delay of -D was over: nothing was counted");
	err = capture__stop(watch->run.capture, WATCH_DEADLINE_MS);
	run__terminate(&watch->run);
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
	run__delete_status(&watch->run);
	watch->lengths.duration_ns = stats.end_ns - stats.start_ns;
	watch->lengths.lost = summary__lost(&stats) + stats.unseen_births;
	summary__print_stats(&stats);
	return print_lengths(watch);
}

int watch__run(const struct watch_options *options, int *status)
{
	struct watch watch = { .options = options };
	enum run_end end;
	int err;

	err = watch__start(&watch);
	if (!err)
		err = watch__loop(&watch, &end);
	if (!err)
		err = run__exec_error(&watch.run, end);
	if (!err)
		err = watch__finish(&watch);
	if (!err)
		*status = run__final_status(&watch.run, end);
	run__free(&watch.run);
	return err;
}
