/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/replay_screen.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/err_out.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/units.h"
#include "session/signals.h"
#include "top/recorded.h"

struct replay {
	struct screen *screen;
	bool has_pass;
	uint64_t pass; /* time of the pass that rows are of */
	uint64_t left_out; /* rows of times before that */
};

/* Passes that met no thread have left nothing in the files: the time of one gap is one pass. */
static int begin_pass(struct replay *replay, const struct csv_row *row)
{
	struct top_pass pass = { .time = row->wall_ns, .weight_ns = row->weight_ns };
	uint64_t begin = row->wall_ns - min_u64(row->wall_ns, row->weight_ns);
	uint64_t end = replay->pass;
	int err = 0;

	if (replay->has_pass && begin > end + row->weight_ns) {
		const struct top_pass gap = { .time = begin, .weight_ns = begin - end };

		err = screen__begin(replay->screen, &gap);
	}
	replay->has_pass = true;
	replay->pass = row->wall_ns;
	return err ? err : screen__begin(replay->screen, &pass);
}

static int take_row(void *ctx, const struct csv_row *row)
{
	struct replay *replay = ctx;
	int err = 0;

	/* Clocks may be set back; what the model has is in its order. */
	if (row->wall_ns < replay->pass) {
		replay->left_out++;
		return 0;
	}
	if (!replay->has_pass || row->wall_ns != replay->pass)
		err = begin_pass(replay, row);
	return err ? err : screen__add_texts(replay->screen, row->texts, &row->times);
}

static int wait_and_work(const struct replay *replay, const struct signals *signals)
{
	struct pollfd fds[1 + TTY_FDS] = { { .fd = signals__fd(signals), .events = POLLIN } };
	uint64_t now = clock__now_ns(), due = screen__due(replay->screen);
	int ms = -1;

	if (due != UINT64_MAX)
		ms = due > now ? (int)((due - now) / NSEC_PER_MSEC) + 1 : 0;
	screen__poll(replay->screen, fds + 1);
	err_out__flush();
	if (poll(fds, 1 + TTY_FDS, ms) < 0)
		return errno == EINTR ? 0 : -errno;
	return screen__work(replay->screen, fds + 1);
}

static int show(struct replay *replay, const char *path, struct signals *signals)
{
	uint64_t bad;
	int err = recorded__read(path, RECORDED_STACKS | RECORDED_ENDS, take_row, replay, &bad);

	if (!err && bad)
		pr_warn("%s: %" PRIu64 " lines were cut or broken, and left out", path, bad);
	if (!err && replay->left_out)
		pr_warn("%s: %" PRIu64 " samples were left out: the clock had been set back", path,
			replay->left_out);
	while (!err && !screen__has_quit(replay->screen) && !signals__read(signals))
		err = wait_and_work(replay, signals);
	return err;
}

int replay_screen__run(const struct screen_options *options)
{
	struct replay replay = { 0 };
	unsigned long errors = log__nr_errors();
	int err;
	struct signals *signals = signals__new(&err);

	if (!signals)
		return err;
	replay.screen = screen__open(options, &err);
	if (!err)
		err = show(&replay, options->source, signals);
	screen__close(replay.screen);
	signals__delete(signals);
	if (err && log__nr_errors() == errors)
		pr_err("cannot show %s: %s", options->source, strerror(-err));
	return err;
}
