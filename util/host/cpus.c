/* SPDX-License-Identifier: GPL-2.0-only */
#include "host/cpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"

static int read_online(char *text, size_t size)
{
	FILE *file = fopen("/sys/devices/system/cpu/online", "re");

	if (!file)
		return -errno;
	if (!fgets(text, (int)size, file))
		*text = '\0';
	fclose(file);
	text[strcspn(text, "\n")] = '\0';
	return *text ? 0 : -EIO;
}

/* "3" or "3-5". */
static int parse_range(struct cpus *cpus, char *item)
{
	const char *first = strsep(&item, "-");
	uint64_t from, to;
	int err;

	err = units__parse_number(first, CPUS_MAX - 1, &from);
	if (err)
		return err;
	to = from;
	if (item)
		err = units__parse_number(item, CPUS_MAX - 1, &to);
	if (err)
		return err;
	if (to < from)
		return -ERANGE;
	for (; from <= to; from++)
		cpus->bits[from / 64] |= 1ULL << (from % 64);
	return 0;
}

int cpus__parse(struct cpus *cpus, const char *text)
{
	char *copy = strdup(text), *rest = copy;
	struct cpus parsed = *cpus;
	int err = 0;

	if (!copy)
		return -ENOMEM;
	for (char *item; !err && (item = strsep(&rest, ","));)
		err = parse_range(&parsed, item);
	if (!err)
		*cpus = parsed;
	free(copy);
	return err;
}

int cpus__online(struct cpus *cpus)
{
	char text[4096];
	int err = read_online(text, sizeof(text));

	*cpus = (struct cpus){ 0 };
	return err ? err : cpus__parse(cpus, text);
}

bool cpus__has(const struct cpus *cpus, unsigned int cpu)
{
	return cpu < CPUS_MAX && cpus->bits[cpu / 64] >> (cpu % 64) & 1;
}

int cpus__first_missing(const struct cpus *cpus, const struct cpus *others)
{
	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (cpus__has(cpus, cpu) && !cpus__has(others, cpu))
			return (int)cpu;
	}
	return -1;
}

int cpus__check(const struct cpus *cpus)
{
	char text[4096] = "?";
	struct cpus online;
	int missing;

	if (cpus__online(&online) || read_online(text, sizeof(text))) {
		pr_warn("cannot read which CPUs are online: -C is not checked");
		return 0;
	}
	missing = cpus__first_missing(cpus, &online);
	if (missing < 0)
		return 0;
	pr_err("-C %d: there is no such CPU, or it is offline; online are %s", missing, text);
	return -ENODEV;
}
