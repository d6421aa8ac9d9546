/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUILTIN_OPTIONS_VALUES_H
#define DENET_BUILTIN_OPTIONS_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id_list.h"
#include "builtin/options/table.h"

/*
 * Functions that set a field, for rows of tables, each with a macro that initializes such a row and
 * checks the type of the field. Invalid text is a usage error, which says what is valid.
 */

/* Options without a value: set a bool, clear it, count, or have no effect. */
void option_set__true(const struct option_value *value, void *field);
void option_set__false(const struct option_value *value, void *field);
void option_set__count(const struct option_value *value, void *field);
void option_set__nothing(const struct option_value *value, void *field);
#define OPTION_TRUE(s, f) OPTION_FIELD(option_set__true, bool, s, f)
#define OPTION_FALSE(s, f) OPTION_FIELD(option_set__false, bool, s, f)
#define OPTION_COUNT(s, f) OPTION_FIELD(option_set__count, int, s, f)
#define OPTION_NOTHING .set = option_set__nothing

/* A text, as it is and not empty; borrowed from argv. */
void option_set__text(const struct option_value *value, void *field);
#define OPTION_TEXT(s, f) OPTION_FIELD(option_set__text, const char *, s, f)

/* A time in ns; a bare number is ms. */
void option_set__time(const struct option_value *value, void *field);
#define OPTION_TIME(s, f) OPTION_FIELD(option_set__time, uint64_t, s, f)

/* The time between two prints, in ns, of 10 ms at least; a bare number is ms. */
void option_set__interval(const struct option_value *value, void *field);
#define OPTION_INTERVAL(s, f) OPTION_FIELD(option_set__interval, uint64_t, s, f)

/* A share from 0 to 100 %, in millionths. */
void option_set__percent(const struct option_value *value, void *field);
#define OPTION_PERCENT(s, f) OPTION_FIELD(option_set__percent, uint32_t, s, f)

/* A size in bytes, not 0. */
void option_set__size(const struct option_value *value, void *field);
#define OPTION_SIZE(s, f) OPTION_FIELD(option_set__size, uint64_t, s, f)

/* Ids of processes or threads; repeated options add up. */
void option_set__ids(const struct option_value *value, void *field);
#define OPTION_IDS(s, f) OPTION_FIELD(option_set__ids, struct id_list, s, f)

/* Names apart by commas, which are looked up later; repeated options add up. */
void option_set__names(const struct option_value *value, void *field);
#define OPTION_NAMES(s, f) OPTION_FIELD(option_set__names, char *, s, f)

/* A list of CPUs, into a struct cpus. */
void option_set__cpus(const struct option_value *value, void *field);

/* For functions of tables: a number from 1 to max. */
uint64_t option_value__number(const struct option_value *value, uint64_t max);

#endif /* DENET_BUILTIN_OPTIONS_VALUES_H */
