/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/replay_screen.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

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
	uint64_t rows;
	uint64_t next_work; /* CLOCK_MONOTONIC */
	struct signals *signals;
};

/* While files are read, keys and signals are looked at every so many rows and so often. */
#define WORK_ROWS 256
#define WORK_NS (100 * NSEC_PER_MSEC)

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

/* Does what keys and signals want; waits for them so long. -ECANCELED: they want the end. */
static int work(const struct replay *replay, int ms)
{
	struct pollfd fds[1 + TTY_FDS] = { { .fd = signals__fd(replay->signals),
					     .events = POLLIN } };
	int err;

	screen__poll(replay->screen, fds + 1);
	err_out__flush();
	if (poll(fds, 1 + TTY_FDS, ms) < 0)
		return errno == EINTR ? 0 : -errno;
	err = screen__work(replay->screen, fds + 1);
	if (!err && (screen__has_quit(replay->screen) || signals__read(replay->signals)))
		err = -ECANCELED;
	return err;
}

static int wait_and_work(const struct replay *replay)
{
	uint64_t now = clock__now_ns(), due = screen__due(replay->screen);
	int ms = -1;

	if (due != UINT64_MAX)
		ms = due > now ? (int)((due - now) / NSEC_PER_MSEC) + 1 : 0;
	return work(replay, ms);
}

/* A week of files takes a while. */
static int work_meanwhile(void *ctx)
{
	struct replay *replay = ctx;
	uint64_t now = clock__now_ns();

	if (now < replay->next_work)
		return 0;
	replay->next_work = now + WORK_NS;
	return work(replay, 0);
}

static int take_row(void *ctx, const struct csv_row *row)
{
	struct replay *replay = ctx;
	int err = replay->rows++ % WORK_ROWS ? 0 : work_meanwhile(replay);

	if (err)
		return err;
	/* Clocks may be set back; what the model has is in its order. */
	if (row->wall_ns < replay->pass) {
		replay->left_out++;
		return 0;
	}
	if (!replay->has_pass || row->wall_ns != replay->pass)
		err = begin_pass(replay, row);
	return err ? err : screen__add_row(replay->screen, row);
}

static int read_all(struct replay *replay, const char *path)
{
	const struct csv_pulse pulse = { .fn = work_meanwhile, .ctx = replay };
	uint64_t bad;
	int err;

	screen__set_reading(replay->screen, true);
	err = work(replay, 0);
	if (!err)
		err = recorded__read(path, RECORDED_ALL, take_row, replay, &pulse, &bad);
	screen__set_reading(replay->screen, false);
	if (!err && bad)
		pr_warn("%s: %" PRIu64 " lines were cut or broken, and left out", path, bad);
	if (!err && replay->left_out)
		pr_warn("%s: %" PRIu64 " samples were left out: the clock had been set back", path,
			replay->left_out);
	return err;
}

static int show(struct replay *replay, const char *path)
{
	int err = read_all(replay, path);

	while (!err)
		err = wait_and_work(replay);
	return err == -ECANCELED ? 0 : err;
}

/* A pipe would be waited for while no key is looked at. */
static int refuse_pipe(const char *path)
{
	struct stat stat_buf;

	if (stat(path, &stat_buf) || S_ISREG(stat_buf.st_mode) || S_ISDIR(stat_buf.st_mode))
		return 0;
	pr_err("%s is neither a file nor a directory: the screen cannot show it, -b prints it",
	       path);
	return -EINVAL;
}

int replay_screen__run(const struct screen_options *options)
{
	struct replay replay = { 0 };
	unsigned long errors = log__nr_errors();
	int err = refuse_pipe(options->source);

	if (!err)
		replay.signals = signals__new(&err);
	if (err)
		return err;
	replay.screen = screen__open(options, &err);
	if (!err)
		err = show(&replay, options->source);
	screen__close(replay.screen);
	signals__delete(replay.signals);
	if (err && log__nr_errors() == errors)
		pr_err("cannot show %s: %s", options->source, strerror(-err));
	return err;
}
