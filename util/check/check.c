/* SPDX-License-Identifier: GPL-2.0-only */
#include "check/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct check_row *check__add(struct check *check, const char *group, enum check_status status,
			     const char *name)
{
	struct check_row *rows = reallocarray(check->rows, check->nr + 1, sizeof(*rows));
	struct check_row *row;

	if (!rows) {
		check->no_room = true;
		return NULL;
	}
	check->rows = rows;
	row = &rows[check->nr++];
	*row = (struct check_row){ .group = group, .status = status };
	snprintf(row->name, sizeof(row->name), "%s", name);
	return row;
}

int check__run(struct check *check)
{
	ssize_t len;

	*check = (struct check){ 0 };
	len = readlink("/proc/self/exe", check->program, sizeof(check->program) - 1);
	if (len <= 0)
		snprintf(check->program, sizeof(check->program), "$(command -v denet)");
	check__machine(check);
	check__rights(check);
	check__limits(check);
	check__hooks(check);
	check__recording(check);
	return check->no_room ? -ENOMEM : 0;
}

void check__free(struct check *check)
{
	free(check->rows);
	*check = (struct check){ 0 };
}
