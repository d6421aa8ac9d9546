/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/wait_census.h"

#include <errno.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/log.h"
#include "machine/machine.h"
#include "sample.h"

static struct wait_census_row *rows_of(struct wait_census *census, size_t *nr)
{
	*nr = census->rows.len / sizeof(struct wait_census_row);
	return (struct wait_census_row *)(void *)census->rows.data;
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
static int add_row(struct wait_census *census, const char *comm, const struct sample *sample,
		   uint64_t *place)
{
	struct wait_census_row row = { 0 };
	size_t nr;

	rows_of(census, &nr);
	if (nr == WAIT_CENSUS_ROWS) {
		census->full = true;
		return 0;
	}
	log__escape(row.comm, sizeof(row.comm), comm);
	snprintf(row.call, sizeof(row.call), "%s", sample->call ? sample->call : "");
	*place = nr + 1;
	return buffer__append(&census->rows, &row, sizeof(row));
}

/* Finds the row of a comm and a sample's call; *row is NULL without room. 0 or -ENOMEM. */
static int find_row(struct wait_census *census, const char *comm, const struct sample *sample,
		    struct wait_census_row **row)
{
	const uint64_t key = key_of(comm, sample);
	uint64_t *place = idmap__get(&census->places, key);
	int err = place ? 0 : -ENOMEM;
	size_t nr;

	*row = NULL;
	if (!err && !*place)
		err = add_row(census, comm, sample, place);
	if (!err && *place)
		*row = &rows_of(census, &nr)[*place - 1];
	else if (place)
		idmap__remove(&census->places, key);
	return err;
}

int wait_census__add(struct wait_census *census, const struct machine *machine,
		     const struct sample *sample)
{
	/* The runqueue part is no wait in that state. */
	const uint64_t blocked = sample->period - sample->runqueue;
	const bool uninterruptible = sample->state == 'D';
	const struct thread *thread;
	struct wait_census_row *row;
	const char *comm;
	int err;

	if (sample->kthread || (!uninterruptible && (sample->never_ran || !sample->call)))
		return 0;
	if (uninterruptible)
		census->uninterruptible += blocked;
	thread = machine__thread_at(machine, (pid_t)sample->tid, sample->time);
	comm = thread ? thread__comm_at(thread, sample->time) : NULL;
	if (!comm)
		return 0;
	err = find_row(census, comm, sample, &row);
	if (err || !row)
		return err;
	if (!sample->never_ran && sample->call)
		row->ns += sample->period;
	if (uninterruptible)
		row->uninterruptible += blocked;
	return 0;
}

struct wait_census_result wait_census__end(struct wait_census *census)
{
	struct wait_census_result result = { .uninterruptible = census->uninterruptible };
	struct wait_census_row *rows;
	size_t nr;

	rows = rows_of(census, &nr);
	/* If rows are missing, one of them may have the most time. */
	for (size_t i = 0; i < nr && !census->full; i++) {
		if (rows[i].ns > result.most.ns)
			result.most = rows[i];
		if (rows[i].uninterruptible > result.most_uninterruptible.uninterruptible)
			result.most_uninterruptible = rows[i];
	}
	idmap__clear(&census->places);
	census->rows.len = 0;
	return result;
}

void wait_census__free(struct wait_census *census)
{
	buffer__free(&census->rows);
	idmap__free(&census->places);
}
