/* SPDX-License-Identifier: GPL-2.0-only */
#include "host/similar.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/minmax.h"

#define LONGEST 64 /* what comes after it in a name does not matter */
#define MOST 5

struct candidate {
	char name[NAME_MAX + 1];
	size_t distance;
};

size_t similar__distance(const char *a, const char *b)
{
	const size_t nr_a = strnlen(a, LONGEST), nr_b = strnlen(b, LONGEST);
	size_t row[LONGEST + 1], diagonal, above;

	for (size_t i = 0; i <= nr_b; i++)
		row[i] = i;
	for (size_t i = 1; i <= nr_a; i++) {
		diagonal = row[0];
		row[0] = i;
		for (size_t k = 1; k <= nr_b; k++) {
			above = row[k];
			row[k] = min_u64(min_u64(above, row[k - 1]) + 1,
					 diagonal + (a[i - 1] != b[k - 1]));
			diagonal = above;
		}
	}
	return row[nr_b];
}

/* A name within the other is like it, however long the rest. */
static bool is_similar(const char *name, const char *other, size_t distance)
{
	return distance <= 1 + strlen(name) / 3 || (strlen(name) > 3 && strstr(other, name)) ||
	       (strlen(other) > 3 && strstr(name, other));
}

static void keep_nearest(struct candidate nearest[MOST], const char *name, size_t distance)
{
	struct candidate next = { .distance = distance };

	snprintf(next.name, sizeof(next.name), "%s", name);
	for (size_t i = 0; i < MOST; i++) {
		struct candidate other = nearest[i];

		if (*other.name && other.distance <= next.distance)
			continue;
		nearest[i] = next;
		next = other;
		if (!*next.name)
			return;
	}
}

void similar__names(const char *dir, const char *name, char *names, size_t size)
{
	struct candidate nearest[MOST] = { 0 };
	DIR *entries = opendir(dir);
	struct dirent *entry;
	size_t distance, len = 0;

	*names = '\0';
	if (!entries)
		return;
	while ((entry = readdir(entries))) {
		distance = similar__distance(name, entry->d_name);
		if (entry->d_type == DT_DIR && *entry->d_name != '.' &&
		    is_similar(name, entry->d_name, distance))
			keep_nearest(nearest, entry->d_name, distance);
	}
	closedir(entries);
	for (size_t i = 0; i < MOST && *nearest[i].name && len < size; i++)
		len += (size_t)snprintf(names + len, size - len, "%s%s", i ? ", " : "",
					nearest[i].name);
}
