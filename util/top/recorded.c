/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/recorded.h"

#include <string.h>

#include "base/log.h"
#include "top/csv_ends.h"
#include "top/perf_reader.h"

/* Samples of CSV on their way to fn. */
struct with_ends {
	const struct csv_ends *ends;
	csv_row_fn fn;
	void *ctx;
};

static int take_row(void *ctx, const struct csv_row *row)
{
	const struct with_ends *with = ctx;
	struct csv_row own = *row;

	csv_ends__put(with->ends, own.texts);
	return with->fn(with->ctx, &own);
}

static int read_csv(const char *path, csv_row_fn fn, void *ctx, uint64_t *bad)
{
	int err;
	struct csv_ends *ends = csv_ends__read(path, &err);
	struct with_ends with = { .ends = ends, .fn = fn, .ctx = ctx };

	if (!ends) {
		pr_err("cannot read what has ended beside %s: %s", path, strerror(-err));
		return err;
	}
	err = csv_reader__read(path, take_row, &with, bad);
	csv_ends__delete(ends);
	return err;
}

int recorded__read(const char *path, csv_row_fn fn, void *ctx, uint64_t *bad)
{
	*bad = 0;
	if (perf_reader__knows(path))
		return perf_reader__read(path, fn, ctx);
	return read_csv(path, fn, ctx, bad);
}
