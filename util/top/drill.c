/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/drill.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/strings.h"

struct level {
	size_t columns[ACTIVITY_GROUP];
	size_t nr_columns;
	size_t nr_filters; /* of this level and those above */
	size_t nr_fixed;   /* without those that were added to this level */
};

struct drill {
	struct buffer levels;  /* struct level */
	struct buffer filters; /* struct activity_filter, of all levels */
	struct strings strings;
};

static struct level *level_of(const struct drill *drill)
{
	return (struct level *)(void *)(drill->levels.data + drill->levels.len) - 1;
}

static size_t nr_filters(const struct drill *drill)
{
	return drill->filters.len / sizeof(struct activity_filter);
}

static int push(struct drill *drill, const size_t *columns, size_t nr)
{
	struct level level = { .nr_columns = nr, .nr_filters = nr_filters(drill),
			       .nr_fixed = nr_filters(drill) };

	memcpy(level.columns, columns, nr * sizeof(*columns));
	return buffer__append(&drill->levels, &level, sizeof(level));
}

struct drill *drill__new(const size_t *columns, size_t nr)
{
	struct drill *drill = calloc(1, sizeof(*drill));

	if (drill && push(drill, columns, nr)) {
		drill__delete(drill);
		return NULL;
	}
	return drill;
}

void drill__delete(struct drill *drill)
{
	if (!drill)
		return;
	buffer__free(&drill->levels);
	buffer__free(&drill->filters);
	strings__free(&drill->strings);
	free(drill);
}

static int add_filter(struct drill *drill, const struct activity_filter *filter)
{
	struct activity_filter kept = *filter;

	kept.text = strings__get(&drill->strings, filter->text);
	return kept.text ? buffer__append(&drill->filters, &kept, sizeof(kept)) : -ENOMEM;
}

int drill__down(struct drill *drill, const struct activity_row *row, const size_t *columns,
		size_t nr)
{
	const struct level *level = level_of(drill);
	size_t before = drill->filters.len;
	int err = 0;

	for (size_t i = 0; i < level->nr_columns && !err; i++) {
		struct activity_filter filter = { .column = level->columns[i],
						  .text = row->texts[i] };

		err = add_filter(drill, &filter);
	}
	if (!err)
		err = push(drill, columns, nr);
	if (err)
		drill->filters.len = before;
	return err;
}

bool drill__up(struct drill *drill)
{
	if (!drill__depth(drill))
		return false;
	drill->levels.len -= sizeof(struct level);
	drill->filters.len = level_of(drill)->nr_filters * sizeof(struct activity_filter);
	return true;
}

void drill__regroup(struct drill *drill, const size_t *columns, size_t nr)
{
	struct level *level = level_of(drill);

	memcpy(level->columns, columns, nr * sizeof(*columns));
	level->nr_columns = nr;
}

int drill__filter(struct drill *drill, const struct activity_filter *filter)
{
	int err = add_filter(drill, filter);

	if (!err)
		level_of(drill)->nr_filters++;
	return err;
}

bool drill__unfilter(struct drill *drill)
{
	struct level *level = level_of(drill);

	if (level->nr_filters == level->nr_fixed)
		return false;
	level->nr_filters--;
	drill->filters.len -= sizeof(struct activity_filter);
	return true;
}

size_t drill__level(const struct drill *drill, size_t level,
		    const struct activity_filter **filters, size_t *nr_row)
{
	const struct level *levels = (const struct level *)(const void *)drill->levels.data;
	size_t first = level ? levels[level - 1].nr_filters : 0;

	*filters = (const struct activity_filter *)(const void *)drill->filters.data + first;
	*nr_row = levels[level].nr_fixed - first;
	return levels[level].nr_filters - first;
}

size_t drill__depth(const struct drill *drill)
{
	return drill->levels.len / sizeof(struct level) - 1;
}

void drill__query(const struct drill *drill, struct activity_query *query)
{
	const struct level *level = level_of(drill);

	query->columns = level->columns;
	query->nr_columns = level->nr_columns;
	query->filters = (const struct activity_filter *)(const void *)drill->filters.data;
	query->nr_filters = nr_filters(drill);
}
