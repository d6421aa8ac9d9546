/* SPDX-License-Identifier: GPL-2.0-only */
#include "hist/duration_hist.h"

#include "base/units.h"

static void add(struct capture_tally *sum, const struct capture_tally *part)
{
	sum->count += part->count;
	sum->ns += part->ns;
}

void duration_hist__add_blocked(struct duration_hist *hist, uint64_t ns, bool never_ran)
{
	const struct capture_tally one = { 1, ns };

	add(&hist->still_blocked[hist__bucket(ns)], &one);
	if (never_ran)
		add(&hist->never_ran, &one);
}

/* The blocks of all states that have ended, from the first bucket up to before the last one. */
static struct capture_tally sum_ended(const struct duration_hist *hist, size_t first, size_t last)
{
	struct capture_tally sum = { 0 };

	for (size_t state = 0; state < CAPTURE_HIST_STATES; state++) {
		for (size_t i = first; i < last; i++)
			add(&sum, &hist->ended.rows[state].buckets[i]);
	}
	return sum;
}

static struct threshold threshold_at(const struct duration_hist *hist, size_t bucket)
{
	double seconds = (double)hist->duration_ns / (double)NSEC_PER_SEC;
	struct threshold row = {
		.ns = hist__bound(bucket),
		.direct = sum_ended(hist, bucket, CAPTURE_HIST_BUCKETS),
		.summed = sum_ended(hist, 0, bucket),
	};

	if (hist->duration_ns)
		row.samples_per_second = (double)row.direct.count / seconds;
	row.bytes_per_minute = row.samples_per_second * 60 * DURATION_HIST_SAMPLE_BYTES;
	return row;
}

size_t duration_hist__thresholds(const struct duration_hist *hist,
				 struct threshold rows[DURATION_HIST_THRESHOLDS])
{
	struct capture_options defaults;
	size_t nr = 0;

	capture_options__init(&defaults);
	rows[nr++] = threshold_at(hist, 0);
	/* One above an empty bucket is as good as the one below it. */
	for (size_t i = 1; i < CAPTURE_HIST_BUCKETS; i++) {
		if (sum_ended(hist, i - 1, i).count || hist__bound(i) == defaults.threshold_ns)
			rows[nr++] = threshold_at(hist, i);
	}
	return nr;
}

const struct threshold *duration_hist__suggest(const struct threshold *rows, size_t nr,
					       double samples_per_second)
{
	for (size_t i = 0; i < nr; i++) {
		if (rows[i].samples_per_second < samples_per_second)
			return &rows[i];
	}
	return NULL;
}
