/* SPDX-License-Identifier: GPL-2.0-only */
/* Values that options of several tables take. */
#include "builtin/options/values.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "host/cpus.h"

#define MIN_INTERVAL_NS (10 * NSEC_PER_MSEC)

void option_set__true(const struct option_value *value, void *field)
{
	(void)value;
	*(bool *)field = true;
}

void option_set__false(const struct option_value *value, void *field)
{
	(void)value;
	*(bool *)field = false;
}

void option_set__count(const struct option_value *value, void *field)
{
	(void)value;
	++*(int *)field;
}

void option_set__nothing(const struct option_value *value, void *field)
{
	(void)value;
	(void)field;
}

void option_set__text(const struct option_value *value, void *field)
{
	if (!*value->text)
		option_value__error(value, "the value is empty");
	*(const char **)field = value->text;
}

void option_set__time(const struct option_value *value, void *field)
{
	int err = units__parse_time(value->text, NSEC_PER_MSEC, field);

	if (err == -ERANGE)
		option_value__error(value, "too long");
	else if (err)
		option_value__error(value, "not a time, such as 20, 20ms, 1.5s, 100us or 800ns");
}

void option_set__interval(const struct option_value *value, void *field)
{
	uint64_t *ns = field;

	option_set__time(value, ns);
	if (*ns < MIN_INTERVAL_NS)
		option_value__error(value, "must be 10 ms at least");
}

void option_set__percent(const struct option_value *value, void *field)
{
	if (units__parse_percent(value->text, field))
		option_value__error(value, "not a share from 0 to 100 %%, such as 3 or 0.5");
}

void option_set__size(const struct option_value *value, void *field)
{
	uint64_t *bytes = field;

	if (units__parse_size(value->text, bytes) || !*bytes)
		option_value__error(value, "not a size, such as 500K, 100M or 2G");
}

/* True if it looks like the name of a program, and can be typed without quotes. */
static bool is_name(const char *text)
{
	if (!isalpha((unsigned char)*text))
		return false;
	while (isalnum((unsigned char)*text) || *text == '_' || *text == '-' || *text == '.')
		text++;
	return !*text;
}

void option_set__ids(const struct option_value *value, void *field)
{
	int err = id_list__parse(field, value->text);

	if (err == -ENOMEM)
		option_value__error(value, "out of memory");
	else if (err == -ERANGE)
		option_value__error(value, "a number is too large");
	else if (err && is_name(value->text))
		option_value__error(value, "not a list of numbers; by name: -p $(pgrep -d, %s)",
				    value->text);
	else if (err)
		option_value__error(value, "not a list of numbers, such as 42 or 42,43");
}

void option_set__names(const struct option_value *value, void *field)
{
	char **names = field, *joined;

	if (asprintf(&joined, "%s%s%s", *names ? *names : "", *names ? "," : "", value->text) < 0)
		option_value__error(value, "out of memory");
	free(*names);
	*names = joined;
}

void option_set__cpus(const struct option_value *value, void *field)
{
	int err = cpus__parse(field, value->text);

	if (err == -ERANGE)
		option_value__error(value, "a CPU is at most %d, and a range runs upwards",
				    CPUS_MAX - 1);
	else if (err)
		option_value__error(value, "not a list of CPUs, such as 2 or 0-3,8");
}

uint64_t option_value__number(const struct option_value *value, uint64_t max)
{
	uint64_t number;

	if (units__parse_number(value->text, max, &number) || !number)
		option_value__error(value, "must be a number from 1 to %" PRIu64, max);
	return number;
}
