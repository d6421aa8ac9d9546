/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/csv_ends.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/idmap.h"
#include "base/minmax.h"
#include "base/units.h"
#include "top/csv_lines.h"
#include "top/csv_text.h"
#include "top/wall_time.h"

/* Of further ones the end is not known. */
#define MAX_ENDS (2U << 20)
/* Of one thread and number: those of other recordings, and of threads that had the same id. */
#define MAX_SAME 32
#define MAX_FIELDS 32
/* How exact times of day are that were written at different times. */
#define NEAR_NS (100 * NSEC_PER_MSEC)

struct end {
	uint64_t start; /* ns since the epoch */
	uint64_t ns;
};

/* Ends of one kind. Those of one thread and number have keys that follow each other. */
struct ends {
	struct idmap by_key; /* -> index in all, + 1 */
	struct buffer all;   /* struct end */
	bool is_full;
};

struct csv_ends {
	struct ends calls;
	struct ends requests;
};

/* A file, by its first line. */
struct ends_file {
	struct ends *ends;
	const char *tid_name, *seq_name, *start_name;
	int tid, seq, start, ns; /* fields of a line; -1: there is none */
	size_t nr;		 /* fields of a line; 0: no first line was met */
	uint64_t last;		 /* when the latest one ended: they are in this order */
};

/* False: it is no number of a call. */
static bool find_key(const char *tid_text, const char *seq_text, uint64_t *key)
{
	uint64_t tid, seq;

	if (units__parse_number(tid_text, UINT32_MAX, &tid) ||
	    units__parse_number(seq_text, UINT64_MAX, &seq) || !seq)
		return false;
	*key = idmap__mix(idmap__mix(0, tid), seq);
	return *key < IDMAP_NONE - MAX_SAME;
}

/* -EINVAL: it is not the first line of such a file. */
static int read_heading(struct ends_file *file, char *const *fields, size_t nr)
{
	file->tid = csv_text__find(fields, nr, file->tid_name);
	file->seq = csv_text__find(fields, nr, file->seq_name);
	file->start = csv_text__find(fields, nr, file->start_name);
	file->ns = csv_text__find(fields, nr, "DURATION_NS");
	file->nr = nr;
	return file->tid < 0 || file->seq < 0 || file->start < 0 || file->ns < 0 ? -EINVAL : 0;
}

static int add_end(struct ends *ends, uint64_t key, const struct end *end)
{
	uint64_t last = key + MAX_SAME, *value;

	while (key < last && idmap__find(&ends->by_key, key))
		key++;
	if (key == last || ends->all.len / sizeof(*end) >= MAX_ENDS) {
		ends->is_full = true;
		return 0;
	}
	value = idmap__get(&ends->by_key, key);
	if (!value || buffer__append(&ends->all, end, sizeof(*end)))
		return -ENOMEM;
	*value = ends->all.len / sizeof(*end);
	return 0;
}

static int take_line(void *ctx, char *line)
{
	struct ends_file *file = ctx;
	char *fields[MAX_FIELDS];
	size_t nr = csv_text__split(line, fields, MAX_FIELDS);
	struct end end;
	uint64_t key;

	if (nr > MAX_FIELDS)
		nr = MAX_FIELDS;
	if (!file->nr)
		return read_heading(file, fields, nr);
	if (nr != file->nr || !find_key(fields[file->tid], fields[file->seq], &key) ||
	    units__parse_number(fields[file->ns], UINT64_MAX / 4, &end.ns) ||
	    wall_time__parse(fields[file->start], file->last - min_u64(file->last, end.ns),
			     &end.start))
		return 0;
	file->last = end.start + end.ns;
	return add_end(file->ends, key, &end);
}

/* Of a file that is broken, or has another first line, the ends read so far are kept. */
static int read_file(void *ctx, int fd)
{
	struct ends_file *file = ctx;
	int err;

	file->nr = 0;
	err = csv_lines__read(fd, take_line, file);
	return err == -ENOMEM ? err : 0;
}

struct csv_ends *csv_ends__read(const char *path, const struct csv_pulse *pulse, int *err)
{
	struct csv_ends *ends = calloc(1, sizeof(*ends));
	struct ends_file calls = { .tid_name = "TID", .seq_name = "SYSC_SEQ_NUM",
				   .start_name = "SYSC_ENTER_TIME" };
	struct ends_file requests = { .tid_name = "INSERT_TID", .seq_name = "IORQ_SEQ_NUM",
				      .start_name = "ISSUE_TIMESTAMP" };

	*err = ends ? 0 : -ENOMEM;
	if (*err)
		return NULL;
	calls.ends = &ends->calls;
	requests.ends = &ends->requests;
	*err = csv_beside__each(path, "syscend", read_file, &calls, pulse);
	if (!*err)
		*err = csv_beside__each(path, "iorqend", read_file, &requests, pulse);
	if (!*err)
		return ends;
	csv_ends__delete(ends);
	return NULL;
}

static void free_ends(struct ends *ends)
{
	idmap__free(&ends->by_key);
	buffer__free(&ends->all);
}

void csv_ends__delete(struct csv_ends *ends)
{
	if (!ends)
		return;
	free_ends(&ends->calls);
	free_ends(&ends->requests);
	free(ends);
}

bool csv_ends__is_full(const struct csv_ends *ends)
{
	return ends->calls.is_full || ends->requests.is_full;
}

static bool is_within(uint64_t wall_ns, const struct end *end)
{
	return wall_ns + NEAR_NS >= end->start && wall_ns <= end->start + end->ns + NEAR_NS;
}

static void put(const struct ends *ends, uint64_t wall_ns, const char *tid, const char *seq,
		uint64_t *ns)
{
	const struct end *all = (const void *)ends->all.data;
	const uint64_t *value;
	uint64_t key;

	if (!find_key(tid, seq, &key))
		return;
	for (; (value = idmap__find(&ends->by_key, key)); key++) {
		if (!is_within(wall_ns, &all[*value - 1]))
			continue;
		*ns = all[*value - 1].ns;
		return;
	}
}

void csv_ends__put(const struct csv_ends *ends, uint64_t wall_ns,
		   const char *const texts[TOP_COLUMNS], struct activity_times *times)
{
	const char *tid = texts[TOP_COLUMN_TID];

	put(&ends->calls, wall_ns, tid, texts[TOP_COLUMN_SYSC_SEQ],
	    &times->ns[ACTIVITY_TIME_CALL]);
	put(&ends->requests, wall_ns, tid, texts[TOP_COLUMN_IORQ_SEQ],
	    &times->ns[ACTIVITY_TIME_REQUEST]);
}
