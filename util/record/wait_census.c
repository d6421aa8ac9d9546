/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/wait_census.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/log.h"
#include "machine/machine.h"
#include "sample.h"

static struct wait_census_row *rows_of(struct wait_census *census, size_t *nr)
{
	*nr = census->rows.len / sizeof(struct wait_census_row);
	return (struct wait_census_row *)(void *)census->rows.data;
}

/* The name of a call lies at one place as long as samples come. */
static uint64_t key_of(const struct sample *sample)
{
	return (uint64_t)sample->tid << 32 | (uint32_t)(uintptr_t)sample->call;
}

/* Sets *place to the row's index + 1; leaves it 0 where the row has no name or no room. */
static int add_row(struct wait_census *census, const struct machine *machine,
		   const struct sample *sample, uint64_t *place)
{
	const struct thread *thread =
		machine__thread_at(machine, (pid_t)sample->tid, sample->time);
	const char *comm = thread ? thread__comm_at(thread, sample->time) : NULL;
	struct wait_census_row row = { 0 };
	size_t nr;

	rows_of(census, &nr);
	census->full |= nr == WAIT_CENSUS_ROWS;
	if (!comm || nr == WAIT_CENSUS_ROWS)
		return 0;
	log__escape(row.comm, sizeof(row.comm), comm);
	snprintf(row.call, sizeof(row.call), "%s", sample->call ? sample->call : "");
	*place = nr + 1;
	return buffer__append(&census->rows, &row, sizeof(row));
}

int wait_census__add(struct wait_census *census, const struct machine *machine,
		     const struct sample *sample)
{
	bool uninterruptible = sample->state == 'D';
	struct wait_census_row *row;
	uint64_t *place;
	size_t nr;
	int err;

	if (sample->kthread || (!uninterruptible && (sample->never_ran || !sample->call)))
		return 0;
	if (uninterruptible)
		census->uninterruptible += sample->period;
	place = idmap__get(&census->places, key_of(sample));
	if (!place)
		return -ENOMEM;
	if (!*place) {
		err = add_row(census, machine, sample, place);
		if (err || !*place) {
			idmap__remove(&census->places, key_of(sample));
			return err;
		}
	}
	row = &rows_of(census, &nr)[*place - 1];
	if (!sample->never_ran && sample->call)
		row->ns += sample->period;
	if (uninterruptible)
		row->uninterruptible += sample->period;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct wait_census_row *one = a, *other = b;
	int order = strcmp(one->comm, other->comm);

	return order ? order : strcmp(one->call, other->call);
}

/* Adds up the rows of one name and call, which are neighbours. Returns how many are left. */
static size_t merge(struct wait_census_row *rows, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		if (kept && !compare(&rows[i], &rows[kept - 1])) {
			rows[kept - 1].ns += rows[i].ns;
			rows[kept - 1].uninterruptible += rows[i].uninterruptible;
		} else {
			rows[kept++] = rows[i];
		}
	}
	return kept;
}

struct wait_census_result wait_census__end(struct wait_census *census)
{
	struct wait_census_result result = { .uninterruptible = census->uninterruptible };
	struct wait_census_row *rows;
	size_t nr;

	rows = rows_of(census, &nr);
	if (nr)
		qsort(rows, nr, sizeof(*rows), compare);
	nr = merge(rows, nr);
	/* Without room for all, another one may have more time. */
	for (size_t i = 0; i < nr && !census->full; i++) {
		if (rows[i].ns > result.most.ns)
			result.most = rows[i];
		if (rows[i].uninterruptible > result.most_uninterruptible.uninterruptible)
			result.most_uninterruptible = rows[i];
	}
	/* Rows are not where they were. */
	idmap__clear(&census->places);
	census->rows.len = 0;
	return result;
}

void wait_census__free(struct wait_census *census)
{
	buffer__free(&census->rows);
	idmap__free(&census->places);
}
