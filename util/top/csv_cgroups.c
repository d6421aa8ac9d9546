/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/csv_cgroups.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/idmap.h"
#include "base/strings.h"
#include "base/units.h"
#include "host/cgroup.h"
#include "top/csv_lines.h"
#include "top/csv_text.h"

/* Further cgroups have no paths. */
#define MAX_BYTES (64ULL << 20)

struct path {
	const char *path; /* of strings */
	const char *container;
};

struct csv_cgroups {
	struct idmap by_id;   /* -> number of the path + 1 */
	struct buffer paths;  /* struct path */
	struct strings strings;
};

/* An id belongs to another cgroup after a boot: the latest file's is taken. */
static int add_path(struct csv_cgroups *cgroups, uint64_t id, const char *text)
{
	char container[TOP_TEXT_LEN];
	struct path path = { .path = strings__get(&cgroups->strings, text) };
	uint64_t *value = idmap__get(&cgroups->by_id, id);

	cgroup_name__container(text, container, sizeof(container));
	path.container = strings__get(&cgroups->strings, container);
	if (!path.path || !path.container || !value ||
	    buffer__append(&cgroups->paths, &path, sizeof(path)))
		return -ENOMEM;
	*value = cgroups->paths.len / sizeof(path);
	return 0;
}

/* The first line has no number. */
static int take_line(void *ctx, char *line)
{
	struct csv_cgroups *cgroups = ctx;
	char *fields[2];
	uint64_t id;

	if (csv_text__split(line, fields, 2) != 2 ||
	    units__parse_number(fields[0], IDMAP_NONE - 1, &id) ||
	    cgroups->strings.bytes + cgroups->paths.len > MAX_BYTES)
		return 0;
	return add_path(cgroups, id, fields[1]);
}

/* Of a file that is broken, the paths read so far are kept. */
static int read_file(void *ctx, int fd)
{
	int err = csv_lines__read(fd, take_line, ctx);

	return err == -ENOMEM ? err : 0;
}

struct csv_cgroups *csv_cgroups__read(const char *path, const struct csv_pulse *pulse,
				      int *err)
{
	struct csv_cgroups *cgroups = calloc(1, sizeof(*cgroups));

	*err = cgroups ? csv_beside__each(path, "cgroups", read_file, cgroups, pulse)
		       : -ENOMEM;
	if (!*err)
		return cgroups;
	csv_cgroups__delete(cgroups);
	return NULL;
}

void csv_cgroups__delete(struct csv_cgroups *cgroups)
{
	if (!cgroups)
		return;
	idmap__free(&cgroups->by_id);
	buffer__free(&cgroups->paths);
	strings__free(&cgroups->strings);
	free(cgroups);
}

void csv_cgroups__put(const struct csv_cgroups *cgroups, const char *texts[TOP_COLUMNS])
{
	const struct path *paths = (const void *)cgroups->paths.data;
	const uint64_t *value;
	uint64_t id;

	if (*texts[TOP_COLUMN_CGROUP] ||
	    units__parse_number(texts[TOP_COLUMN_CGROUP_ID], IDMAP_NONE - 1, &id))
		return;
	value = idmap__find(&cgroups->by_id, id);
	if (!value)
		return;
	texts[TOP_COLUMN_CGROUP] = paths[*value - 1].path;
	texts[TOP_COLUMN_CONTAINER] = paths[*value - 1].container;
}
