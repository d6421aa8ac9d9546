/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/id_list.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

/* The kernel's PID_MAX_LIMIT, which no machine can raise. */
#define ID_LIST_MAX_PID (4U << 20)

int id_list__add(struct id_list *list, pid_t id)
{
	size_t at = list->nr;
	pid_t *ids;

	/* From the end, since ids mostly come in their order. */
	while (at && list->ids[at - 1] > id)
		at--;
	if (at && list->ids[at - 1] == id)
		return 0;
	ids = reallocarray(list->ids, list->nr + 1, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	memmove(ids + at + 1, ids + at, (list->nr - at) * sizeof(*ids));
	ids[at] = id;
	list->ids = ids;
	list->nr++;
	return 0;
}

void id_list__free(struct id_list *list)
{
	free(list->ids);
	*list = (struct id_list){ 0 };
}

static int parse_id(const char *item, pid_t *id)
{
	uint64_t number;
	int err;

	err = units__parse_number(item, ID_LIST_MAX_PID, &number);
	if (err)
		return err;
	if (!number)
		return -EINVAL;
	*id = (pid_t)number;
	return 0;
}

static int parse_items(struct id_list *list, char *text)
{
	pid_t id;
	int err;

	/* Not strtok_r(), which would pass over the empty item of "1,,2". */
	for (char *item; (item = strsep(&text, ","));) {
		err = parse_id(item, &id);
		if (!err)
			err = id_list__add(list, id);
		if (err)
			return err;
	}
	return 0;
}

int id_list__parse(struct id_list *list, const char *text)
{
	struct id_list parsed = { 0 };
	char *copy = strdup(text);
	int err = -ENOMEM;

	if (!copy)
		return err;
	err = parse_items(&parsed, copy);
	for (size_t i = 0; !err && i < parsed.nr; i++)
		err = id_list__add(list, parsed.ids[i]);
	id_list__free(&parsed);
	free(copy);
	return err;
}
