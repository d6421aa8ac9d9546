/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/minmax.h"
#include "top/recorded.h"

/* The reading ends since enough was printed. */
#define ENOUGH 1

struct replay {
	const struct replay_options *options;
	struct batch *batch;
	bool has_begun;	  /* there was a sample */
	bool has_pass;	  /* and one in this interval */
	uint64_t begin;	  /* of the interval, in ns since the epoch */
	uint64_t pass;	  /* time of the pass that rows are of */
	uint64_t weight;  /* what it stands for */
	uint64_t covered; /* that the passes of the interval stand for */
	uint64_t printed;
};

/*
 * Passes that met no thread have left nothing in the files: the rest of an interval, up to that
 * time, was without any. At both of its ends a pass may stand for a part of its neighbour.
 */
static int fill_up(struct replay *replay, uint64_t until)
{
	uint64_t length = until > replay->begin ? until - replay->begin : 0;

	if (length <= add_saturated_u64(replay->covered, 2 * replay->weight))
		return 0;
	return batch__fill(replay->batch, until, length - replay->covered);
}

static int end_interval(struct replay *replay, uint64_t until)
{
	int err;

	if (!replay->has_pass)
		return 0;
	err = fill_up(replay, until);
	if (!err)
		err = batch__print(replay->batch, 0, replay->options->out);
	replay->has_pass = false;
	replay->covered = 0;
	replay->printed++;
	if (!err && replay->printed == replay->options->count)
		err = ENOUGH;
	return err;
}

/* Ends the intervals that were over by that time. */
static int turn(struct replay *replay, uint64_t wall_ns)
{
	uint64_t interval = replay->options->interval_ns;
	int err;

	if (!replay->has_begun)
		replay->begin = wall_ns;
	replay->has_begun = true;
	if (!interval || wall_ns < replay->begin + interval)
		return 0;
	err = end_interval(replay, replay->begin + interval);
	replay->begin += (wall_ns - replay->begin) / interval * interval;
	return err;
}

static int take_row(void *ctx, const struct csv_row *row)
{
	struct replay *replay = ctx;
	struct top_pass pass = { .time = row->wall_ns, .wall_ns = row->wall_ns,
				 .weight_ns = row->weight_ns };
	int err = turn(replay, row->wall_ns);

	if (!err && (!replay->has_pass || row->wall_ns != replay->pass)) {
		err = batch__begin(replay->batch, &pass);
		replay->has_pass = true;
		replay->pass = row->wall_ns;
		replay->weight = row->weight_ns;
		replay->covered = add_saturated_u64(replay->covered, row->weight_ns);
	}
	return err ? err : batch__add_texts(replay->batch, row->texts, &row->times);
}

int replay__run(const struct replay_options *options)
{
	struct replay replay = { .options = options, .batch = batch__new(options->batch) };
	unsigned long errors = log__nr_errors();
	uint64_t bad = 0;
	int err;

	if (!replay.batch)
		return -ENOMEM;
	err = recorded__read(options->path,
			     recorded__beside(options->batch->columns, options->batch->nr_columns,
					      options->batch->time),
			     take_row, &replay, NULL, &bad);
	if (!err)
		err = end_interval(&replay, replay.pass + replay.weight);
	batch__delete(replay.batch);
	if (bad)
		pr_warn("%s: %" PRIu64 " lines were cut or broken, and left out", options->path,
			bad);
	/* The reader of a pipe may have gone: that is no error. */
	if (err == ENOUGH || err == -EPIPE)
		err = 0;
	if (err && log__nr_errors() == errors)
		pr_err("cannot print %s: %s", options->path, strerror(-err));
	return err;
}
