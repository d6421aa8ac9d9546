/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/lock_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/units.h"
#include "report/shown_time.h"

static const struct text_column columns[] = {
	{ "TIME", COLUMN_NUMBER, 0 },
	{ "LONGEST", COLUMN_NUMBER, 0 },
	{ "BLOCKS", COLUMN_NUMBER, 0 },
	{ "WAITERS", COLUMN_NUMBER, 0 },
	{ "HELD BY", COLUMN_TEXT, 0 },
	{ "RELEASED BY", COLUMN_TEXT, 0 },
	{ "PROCESS AND LOCK", COLUMN_PLACE, 0 },
};

static int add_lock(struct text_table *table, const struct lock *lock, bool exact)
{
	char time[SHOWN_TIME_MAX], longest[SHOWN_TIME_MAX], blocks[32], waiters[32], place[400];
	const char *owner = lock__most_of(&lock->owners);
	const char *releaser = lock__most_of(&lock->releasers);
	const char *const cells[] = {
		shown_time__format(exact, lock->ns, time),
		shown_time__format_longest(exact, lock->longest, lock->mean, longest),
		units__format_count(lock->blocks, blocks, sizeof(blocks)),
		units__format_count(lock->waiters.used, waiters, sizeof(waiters)),
		owner ? owner : "-",
		releaser ? releaser : "-",
		place,
	};

	snprintf(place, sizeof(place), "%u %s 0x%" PRIx64 "%s%s", lock->pid, lock->process,
		 lock->address, *lock->object ? " " : "", lock->object);
	return text_table__add(table, cells);
}

int lock_table__print(const struct locks *locks, size_t most, const struct table_form *form,
		      FILE *out)
{
	struct text_table table = {
		.columns = columns,
		.nr_columns = sizeof(columns) / sizeof(columns[0]),
	};
	size_t nr = locks__nr(locks), shown = nr < most ? nr : most;
	int err = 0;

	for (size_t i = 0; i < shown && !err; i++)
		err = add_lock(&table, locks__at(locks, i), form->exact);
	if (!err) {
		text_table__fit(&table, form);
		text_table__print_heading(&table, form, out);
		text_table__print(&table, form, 0, shown, out);
	}
	if (!err && nr > shown)
		fprintf(out, "  and %zu more; --min-percent 0 shows all of them\n", nr - shown);
	text_table__free(&table);
	return err;
}
