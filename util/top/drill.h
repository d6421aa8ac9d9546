/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_DRILL_H
#define DENET_TOP_DRILL_H

#include <stdbool.h>
#include <stddef.h>

#include "top/activity.h"

/*
 * The way into an activity: levels, each with the columns that it groups by and the filters that
 * it adds to those of the levels above. A level down is a row that was chosen: its texts are the
 * filters, and other columns group what is left.
 */
struct drill;

struct drill *drill__new(const size_t *columns, size_t nr); /* NULL: no memory */
void drill__delete(struct drill *drill);		    /* accepts NULL */

/* Goes into a row of the view of this level, to be grouped by columns. 0 or -ENOMEM. */
int drill__down(struct drill *drill, const struct activity_row *row, const size_t *columns,
		size_t nr);

/* Goes back up. False: this is the topmost level. */
bool drill__up(struct drill *drill);

/* The same level, grouped by other columns. */
void drill__regroup(struct drill *drill, const size_t *columns, size_t nr);

/* Adds a filter to this level; its text is copied. 0 or -ENOMEM. */
int drill__filter(struct drill *drill, const struct activity_filter *filter);

/* Takes the last filter of this level away that drill__filter() added. False: there is none. */
bool drill__unfilter(struct drill *drill);

/*
 * The filters of a level, 0 for the topmost: first *nr_row of the row that was chosen above it,
 * then those that were added. Returns how many.
 */
size_t drill__level(const struct drill *drill, size_t level,
		    const struct activity_filter **filters, size_t *nr_row);

/* Levels above this one. */
size_t drill__depth(const struct drill *drill);

/* Sets the query's columns and filters to those of this level. Valid until the next change. */
void drill__query(const struct drill *drill, struct activity_query *query);

#endif /* DENET_TOP_DRILL_H */
