/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/stat_data.h"

#include <stdlib.h>

#include "base/minmax.h"

static unsigned int bucket_of(uint64_t ns)
{
	unsigned int bits = ns ? 64 - (unsigned int)__builtin_clzll(ns) : 0;

	if (bits <= STAT_HIST_SHIFT)
		return 0;
	bits -= STAT_HIST_SHIFT;
	return bits < STAT_HIST_BUCKETS ? bits : STAT_HIST_BUCKETS - 1;
}

uint64_t stat_times__bucket_begin(unsigned int bucket)
{
	return bucket ? 1ULL << (STAT_HIST_SHIFT + bucket - 1) : 0;
}

/* Values are spread evenly over a bucket's part between the least and the greatest one. */
uint64_t stat_times__quantile(const struct stat_times *times, double share)
{
	uint64_t all = 0, before = 0, low, high;
	unsigned int i;
	double rank;

	for (i = 0; i < STAT_HIST_BUCKETS; i++)
		all += times->hist[i];
	if (!all)
		return 0;
	rank = share * (double)all;
	for (i = 0; i + 1 < STAT_HIST_BUCKETS; i++) {
		if (times->hist[i] && (double)(before + times->hist[i]) >= rank)
			break;
		before += times->hist[i];
	}
	if (!times->hist[i])
		return times->max_ns;
	low = max_u64(stat_times__bucket_begin(i), times->min_ns);
	high = i + 1 < STAT_HIST_BUCKETS ? min_u64(stat_times__bucket_begin(i + 1), times->max_ns) :
					   times->max_ns;
	if (high <= low)
		return low;
	return low + (uint64_t)((double)(high - low) * (rank - (double)before) /
				(double)times->hist[i]);
}

void stat_times__add(struct stat_times *times, uint64_t ns)
{
	if (!times->count || ns < times->min_ns)
		times->min_ns = ns;
	times->max_ns = max_u64(times->max_ns, ns);
	times->total_ns += ns;
	times->count++;
	times->hist[bucket_of(ns)]++;
}

void stat_times__merge(struct stat_times *times, const struct stat_times *other)
{
	if (!stat_times__any(other))
		return;
	times->min_ns = times->count ? min_u64(times->min_ns, other->min_ns) : other->min_ns;
	times->max_ns = max_u64(times->max_ns, other->max_ns);
	times->total_ns += other->total_ns;
	times->count += other->count;
	for (unsigned int i = 0; i < STAT_HIST_BUCKETS; i++)
		times->hist[i] += other->hist[i];
}

/* The least and the greatest value that the buckets allow. */
static void limit_extremes(struct stat_times *times)
{
	unsigned int first = 0, last = STAT_HIST_BUCKETS;

	while (first < STAT_HIST_BUCKETS && !times->hist[first])
		first++;
	while (last > first && !times->hist[last - 1])
		last--;
	if (last <= first)
		return;
	times->min_ns = max_u64(times->min_ns, stat_times__bucket_begin(first));
	if (last < STAT_HIST_BUCKETS)
		times->max_ns = min_u64(times->max_ns, stat_times__bucket_begin(last));
}

/*
 * A value that goes on was counted before, and is in a bucket of greater ones by now: where a
 * bucket has less than before, a value of those above is an old one.
 */
static void subtract_buckets(struct stat_times *times, const struct stat_times *before)
{
	uint32_t moved = 0, old;
	unsigned int i;

	for (i = 0; i < STAT_HIST_BUCKETS; i++) {
		old = before->hist[i];
		moved += old > times->hist[i] ? old - times->hist[i] : 0;
		times->hist[i] -= times->hist[i] < old ? times->hist[i] : old;
	}
	while (i-- && moved) {
		old = times->hist[i] < moved ? times->hist[i] : moved;
		times->hist[i] -= old;
		moved -= old;
	}
}

void stat_times__subtract(struct stat_times *times, const struct stat_times *before)
{
	times->count -= min_u64(times->count, before->count);
	times->total_ns -= min_u64(times->total_ns, before->total_ns);
	subtract_buckets(times, before);
	if (before->count)
		limit_extremes(times);
}

bool stat_data__commands_differ(const struct stat_data *data)
{
	size_t threads = data->total.threads;

	return data->nr_commands > 1 &&
	       (data->nr_commands != threads ||
		(data->nr_threads != threads && data->nr_processes != threads));
}

bool stat_data__threads_differ(const struct stat_data *data)
{
	return data->nr_threads && data->total.threads > data->nr_processes;
}

static void free_tasks(struct stat_task *tasks, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(tasks[i].calls);
	free(tasks);
}

void stat_data__free(struct stat_data *data)
{
	free_tasks(data->threads, data->nr_threads);
	free_tasks(data->processes, data->nr_processes);
	free_tasks(data->commands, data->nr_commands);
	free(data->total.calls);
	free(data->open_calls);
	free(data->earlier_calls);
	free(data->files);
	free(data->locks);
	free(data->open_waits);
	free(data->io);
	free(data->sockets);
	*data = (struct stat_data){ 0 };
}
