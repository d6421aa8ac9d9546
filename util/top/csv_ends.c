/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/csv_ends.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "base/units.h"
#include "top/csv_beside.h"
#include "top/csv_dir.h"
#include "top/csv_text.h"

/* Of further ones the end is not known. */
#define MAX_ENDS (4U << 20)
#define MAX_FIELDS 32

/* By thread and number -> ns. */
struct csv_ends {
	struct idmap calls;
	struct idmap requests;
};

/* Files of one kind, by the first line of each. */
struct ends_files {
	struct idmap *ends;
	const char *tid_name, *seq_name;
	int tid, seq, ns; /* fields of a line; -1: there is none, or no first line was met */
	size_t nr;	  /* fields of a line */
};

/* False: it is no number of a call. */
static bool find_key(const char *tid_text, const char *seq_text, uint64_t *key)
{
	uint64_t tid, seq;

	if (units__parse_number(tid_text, UINT32_MAX, &tid) ||
	    units__parse_number(seq_text, UINT64_MAX, &seq) || !seq)
		return false;
	*key = idmap__mix(idmap__mix(0, tid), seq);
	return *key != IDMAP_NONE;
}

static int find_field(char *const *fields, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(fields[i], name))
			return (int)i;
	}
	return -1;
}

/* Each file begins with the names of its columns. */
static void read_heading(struct ends_files *files, char *const *fields, size_t nr)
{
	files->nr = nr;
	files->tid = find_field(fields, nr, files->tid_name);
	files->seq = find_field(fields, nr, files->seq_name);
	files->ns = find_field(fields, nr, "DURATION_NS");
}

static int take_line(void *ctx, char *line)
{
	struct ends_files *files = ctx;
	uint64_t key, ns, *value;
	char *fields[MAX_FIELDS];
	size_t nr = csv_text__split(line, fields, MAX_FIELDS);

	if (nr && nr <= MAX_FIELDS && !strcmp(fields[0], "TYPE")) {
		read_heading(files, fields, nr);
		return 0;
	}
	if (nr != files->nr || files->tid < 0 || files->seq < 0 || files->ns < 0 ||
	    !find_key(fields[files->tid], fields[files->seq], &key) ||
	    units__parse_number(fields[files->ns], UINT64_MAX, &ns) ||
	    files->ends->used >= MAX_ENDS)
		return 0;
	value = idmap__get(files->ends, key);
	if (!value)
		return -ENOMEM;
	*value = ns;
	return 0;
}

struct csv_ends *csv_ends__read(const char *path, int *err)
{
	struct csv_ends *ends = calloc(1, sizeof(*ends));
	struct ends_files calls = { .tid_name = "TID", .seq_name = "SYSC_SEQ_NUM", .tid = -1 };
	struct ends_files requests = { .tid_name = "INSERT_TID", .seq_name = "IORQ_SEQ_NUM",
				       .tid = -1 };

	*err = ends ? 0 : -ENOMEM;
	if (*err)
		return NULL;
	calls.ends = &ends->calls;
	requests.ends = &ends->requests;
	*err = csv_beside__read(path, CSV_PREFIX "syscend_", take_line, &calls);
	if (!*err)
		*err = csv_beside__read(path, CSV_PREFIX "iorqend_", take_line, &requests);
	if (!*err)
		return ends;
	csv_ends__delete(ends);
	return NULL;
}

void csv_ends__delete(struct csv_ends *ends)
{
	if (!ends)
		return;
	idmap__free(&ends->calls);
	idmap__free(&ends->requests);
	free(ends);
}

static void put(const struct idmap *ends, const char *tid, const char *seq, const char **text)
{
	const uint64_t *ns = NULL;
	uint64_t key;

	if (find_key(tid, seq, &key))
		ns = idmap__find(ends, key);
	if (ns)
		*text = top_column__time_step(*ns);
}

void csv_ends__put(const struct csv_ends *ends, const char *texts[TOP_COLUMNS])
{
	const char *tid = texts[TOP_COLUMN_TID];

	put(&ends->calls, tid, texts[TOP_COLUMN_SYSC_SEQ], &texts[TOP_COLUMN_SYSC_TIME]);
	put(&ends->requests, tid, texts[TOP_COLUMN_IORQ_SEQ], &texts[TOP_COLUMN_IORQ_TIME]);
}
