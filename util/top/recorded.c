/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/recorded.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "top/csv_cgroups.h"
#include "top/csv_ends.h"
#include "top/csv_stacks.h"
#include "top/perf_reader.h"

/* Samples of CSV on their way to fn, and what completes them; NULL: not wanted. */
struct completing {
	struct csv_stacks *stacks;
	struct csv_ends *ends;
	struct csv_cgroups *cgroups;
	csv_row_fn fn;
	void *ctx;
};

uint32_t recorded__beside(const enum top_column *columns, size_t nr, enum activity_time time)
{
	uint32_t beside = time != ACTIVITY_TIME_STATE ? RECORDED_ENDS : 0;

	for (size_t i = 0; i < nr; i++) {
		if (columns[i] == TOP_COLUMN_KSTACK || columns[i] == TOP_COLUMN_USTACK ||
		    columns[i] == TOP_COLUMN_KFUNC || columns[i] == TOP_COLUMN_UFUNC)
			beside |= RECORDED_STACKS;
		if (columns[i] == TOP_COLUMN_SYSC_TIME || columns[i] == TOP_COLUMN_IORQ_TIME)
			beside |= RECORDED_ENDS;
		if (columns[i] == TOP_COLUMN_CGROUP || columns[i] == TOP_COLUMN_CONTAINER)
			beside |= RECORDED_CGROUPS;
	}
	return beside;
}

static const char *put_leaf(const char *stack, char leaf[TOP_TEXT_LEN])
{
	snprintf(leaf, TOP_TEXT_LEN, "%.*s", (int)strcspn(stack, ";"), stack);
	return leaf;
}

static const char *step_of(uint64_t ns)
{
	return ns ? top_column__time_step(ns) : "";
}

/* The columns that are made from stacks and times. */
static int give(void *ctx, const struct csv_row *row)
{
	const struct completing *completing = ctx;
	char kernel[TOP_TEXT_LEN], user[TOP_TEXT_LEN];
	struct csv_row own = *row;

	own.texts[TOP_COLUMN_SYSC_TIME] = step_of(own.times.ns[ACTIVITY_TIME_CALL]);
	own.texts[TOP_COLUMN_IORQ_TIME] = step_of(own.times.ns[ACTIVITY_TIME_REQUEST]);
	own.texts[TOP_COLUMN_KFUNC] = put_leaf(own.texts[TOP_COLUMN_KSTACK], kernel);
	own.texts[TOP_COLUMN_UFUNC] = put_leaf(own.texts[TOP_COLUMN_USTACK], user);
	return completing->fn(completing->ctx, &own);
}

static int take_row(void *ctx, const struct csv_row *row)
{
	const struct completing *completing = ctx;
	struct csv_row own = *row;

	if (completing->stacks)
		csv_stacks__put(completing->stacks, own.texts);
	if (completing->ends)
		csv_ends__put(completing->ends, own.wall_ns, own.texts, &own.times);
	if (completing->cgroups)
		csv_cgroups__put(completing->cgroups, own.texts);
	return give(ctx, &own);
}

static int read_beside(struct completing *completing, const char *path, uint32_t beside,
		       const struct csv_pulse *pulse)
{
	int err = 0;

	if (beside & RECORDED_STACKS)
		completing->stacks = csv_stacks__read(path, pulse, &err);
	if (!err && beside & RECORDED_ENDS)
		completing->ends = csv_ends__read(path, pulse, &err);
	if (!err && beside & RECORDED_CGROUPS)
		completing->cgroups = csv_cgroups__read(path, pulse, &err);
	if (err == -ENOMEM)
		pr_err("cannot read what lies beside %s: %s", path, strerror(-err));
	if (!err && completing->ends && csv_ends__is_full(completing->ends))
		pr_warn("%s: too many calls or requests have ended: not all have their time", path);
	return err;
}

static int read_csv(struct completing *completing, const char *path, uint32_t beside,
		    const struct csv_pulse *pulse, uint64_t *bad)
{
	int err = read_beside(completing, path, beside, pulse);

	if (!err)
		err = csv_reader__read(path, take_row, completing, bad);
	csv_stacks__delete(completing->stacks);
	csv_ends__delete(completing->ends);
	csv_cgroups__delete(completing->cgroups);
	return err;
}

int recorded__read(const char *path, uint32_t beside, csv_row_fn fn, void *ctx,
		   const struct csv_pulse *pulse, uint64_t *bad)
{
	struct completing completing = { .fn = fn, .ctx = ctx };

	*bad = 0;
	if (perf_reader__knows(path))
		return perf_reader__read(path, give, &completing, pulse, bad);
	return read_csv(&completing, path, beside, pulse, bad);
}
