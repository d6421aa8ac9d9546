/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/wait_stats.h"

#include <errno.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/log.h"
#include "machine/machine.h"
#include "sample.h"

static struct wait_stats_row *rows_of(struct wait_stats *stats, size_t *nr)
{
	*nr = stats->rows.len / sizeof(struct wait_stats_row);
	return (struct wait_stats_row *)(void *)stats->rows.data;
}

/* 64-bit FNV-1a of the comm and of the call, by its name's address, which is constant. */
static uint64_t key_of(const char *comm, const struct sample *sample)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (; *comm; comm++)
		hash = (hash ^ (unsigned char)*comm) * 0x100000001b3ULL;
	return (hash ^ (uintptr_t)sample->call) * 0x100000001b3ULL;
}

/* Sets *place to the row's index + 1; leaves it 0 if there is no room. 0 or -ENOMEM. */
static int add_row(struct wait_stats *stats, const char *comm, const struct sample *sample,
		   uint64_t *place)
{
	struct wait_stats_row row = { 0 };
	size_t nr;

	rows_of(stats, &nr);
	if (nr == WAIT_STATS_ROWS) {
		stats->full = true;
		return 0;
	}
	log__escape(row.comm, sizeof(row.comm), comm);
	snprintf(row.call, sizeof(row.call), "%s", sample->call ? sample->call : "");
	*place = nr + 1;
	return buffer__append(&stats->rows, &row, sizeof(row));
}

/* Finds the row of a comm and a sample's call; *row is NULL without room. 0 or -ENOMEM. */
static int find_row(struct wait_stats *stats, const char *comm, const struct sample *sample,
		    struct wait_stats_row **row)
{
	const uint64_t key = key_of(comm, sample);
	uint64_t *place = idmap__get(&stats->places, key);
	int err = place ? 0 : -ENOMEM;
	size_t nr;

	*row = NULL;
	if (!err && !*place)
		err = add_row(stats, comm, sample, place);
	if (!err && *place)
		*row = &rows_of(stats, &nr)[*place - 1];
	else if (place)
		idmap__remove(&stats->places, key);
	return err;
}

int wait_stats__add(struct wait_stats *stats, const struct machine *machine,
		    const struct sample *sample)
{
	/* The runqueue part is no wait in that state. */
	const uint64_t blocked = sample->period - sample->runqueue;
	const bool uninterruptible = sample->state == 'D';
	const struct thread *thread;
	struct wait_stats_row *row;
	const char *comm;
	int err;

	if (sample->kthread || (!uninterruptible && (sample->never_ran || !sample->call)))
		return 0;
	if (uninterruptible)
		stats->uninterruptible += blocked;
	thread = machine__thread_at(machine, (pid_t)sample->tid, sample->time);
	comm = thread ? thread__comm_at(thread, sample->time) : NULL;
	if (!comm)
		return 0;
	err = find_row(stats, comm, sample, &row);
	if (err || !row)
		return err;
	if (!sample->never_ran && sample->call)
		row->ns += sample->period;
	if (uninterruptible)
		row->uninterruptible += blocked;
	return 0;
}

struct wait_stats_result wait_stats__end(struct wait_stats *stats)
{
	struct wait_stats_result result = { .uninterruptible = stats->uninterruptible };
	struct wait_stats_row *rows;
	size_t nr;

	rows = rows_of(stats, &nr);
	/* If rows are missing, one of them may have the most time. */
	for (size_t i = 0; i < nr && !stats->full; i++) {
		if (rows[i].ns > result.most.ns)
			result.most = rows[i];
		if (rows[i].uninterruptible > result.most_uninterruptible.uninterruptible)
			result.most_uninterruptible = rows[i];
	}
	idmap__clear(&stats->places);
	stats->rows.len = 0;
	return result;
}

void wait_stats__free(struct wait_stats *stats)
{
	buffer__free(&stats->rows);
	idmap__free(&stats->places);
}
