/* SPDX-License-Identifier: GPL-2.0-only */
#include "hist/hist_cmd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "hist/duration_hist.h"
#include "session/accounts.h"
#include "session/findings.h"
#include "session/session.h"
#include "session/status.h"

/* How long other processes may delay us at the end. */
#define HIST_DEADLINE_MS 2000

struct hist_cmd {
	const struct hist_cmd_options *options;
	struct session session;
	struct findings findings;
	struct duration_hist hist;
};

/* The only samples are threads that are still blocked. */
static int take_blocked(void *ctx, const struct sample *sample)
{
	struct hist_cmd *cmd = ctx;

	duration_hist__add_blocked(&cmd->hist, sample->period, sample->never_ran);
	return 0;
}

static int start_capture(struct hist_cmd *cmd)
{
	struct capture_options options = cmd->options->session.capture;
	const struct capture_sink sink = { .ctx = cmd, .sample = take_blocked };

	options.histogram = true;
	options.stacks.kernel = options.stacks.user = false;
	options.ring_pages = 1;
	return session__capture(&cmd->session, &options, &sink);
}

static int hist_cmd__start(struct hist_cmd *cmd)
{
	int err;

	findings__listen(&cmd->findings);
	err = session__init(&cmd->session, &cmd->options->session);
	if (!err)
		err = start_capture(cmd);
	return err ? err : session__release(&cmd->session);
}

static void show_status(struct hist_cmd *cmd, uint64_t now)
{
	struct capture_stats stats = { 0 };
	struct status_figures figures = { .elapsed_ns = now - cmd->session.started };

	/* The line is shown even if the statistics cannot be read. */
	if (!capture__stats(cmd->session.capture, &stats)) {
		figures.blocks = stats.in_histogram.count;
		figures.lost = accounts__lost(&stats);
	}
	status__show_hist(cmd->session.status, &figures);
}

static int hist_cmd__loop(struct hist_cmd *cmd, enum session_end *end)
{
	uint64_t now;
	int err;

	for (;;) {
		err = session__poll(&cmd->session, UINT64_MAX);
		if (err)
			return err;
		now = clock__now_ns();
		*end = session__look_for_end(&cmd->session);
		if (*end)
			return 0;
		err = session__end_delay(&cmd->session, now);
		if (err)
			return err;
		if (session__wants_status(&cmd->session, now))
			show_status(cmd, now);
	}
}

static int print_lengths(const struct hist_cmd *cmd)
{
	bool quiet = cmd->options->session.quiet;
	int err = cmd->options->json ? duration_hist__print_json(&cmd->hist, stdout)
				     : duration_hist__print(&cmd->hist, quiet, stdout);

	if (err)
		pr_err("cannot write to stdout: %s", strerror(-err));
	return err;
}

static int hist_cmd__finish(struct hist_cmd *cmd)
{
	struct capture_stats stats;
	int err;

	findings__hold(&cmd->findings);
	run__finish(&cmd->session.run);
	err = capture__stop(cmd->session.capture, HIST_DEADLINE_MS);
	run__terminate(&cmd->session.run);
	if (err)
		return err;
	err = capture__stats(cmd->session.capture, &stats);
	if (!err)
		err = capture__hist(cmd->session.capture, &cmd->hist.ended);
	if (err) {
		pr_err("the histogram cannot be read: %s", strerror(-err));
		return err;
	}
	/* stdout may be the same terminal. */
	session__delete_status(&cmd->session);
	cmd->hist.duration_ns = stats.end_ns - stats.start_ns;
	cmd->hist.lost = accounts__lost(&stats) + stats.unseen_births;
	accounts__tell(&stats, &cmd->findings);
	return print_lengths(cmd);
}

int hist_cmd__run(const struct hist_cmd_options *options, int *status)
{
	struct hist_cmd cmd = { .options = options };
	enum session_end end;
	int err;

	err = hist_cmd__start(&cmd);
	if (!err)
		err = hist_cmd__loop(&cmd, &end);
	if (!err)
		err = run__exec_error(&cmd.session.run, end);
	if (!err)
		err = hist_cmd__finish(&cmd);
	if (!err)
		*status = run__final_status(&cmd.session.run, end);
	findings__free(&cmd.findings);
	session__free(&cmd.session);
	return err;
}
