/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/csv_reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/units.h"
#include "top/csv_beside.h"
#include "top/csv_dir.h"
#include "top/csv_lines.h"
#include "top/csv_text.h"
#include "top/wall_time.h"

#define MAX_FIELDS 64

/* The columns by their names in the files; others are derived from these. */
static const struct {
	const char *name;
	enum top_column column;
} headings[] = {
	{ "TID", TOP_COLUMN_TID },
	{ "TGID", TOP_COLUMN_TGID },
	{ "PIDNS", TOP_COLUMN_PIDNS },
	{ "CGROUP_ID", TOP_COLUMN_CGROUP_ID },
	{ "STATE", TOP_COLUMN_STATE },
	{ "USERNAME", TOP_COLUMN_USERNAME },
	{ "EXE", TOP_COLUMN_EXE },
	{ "COMM", TOP_COLUMN_COMM },
	{ "SYSCALL", TOP_COLUMN_SYSCALL },
	{ "SYSC_ARG1", TOP_COLUMN_ARG1 },
	{ "SYSC_ARG2", TOP_COLUMN_ARG2 },
	{ "SYSC_ARG3", TOP_COLUMN_ARG3 },
	{ "SYSC_ARG4", TOP_COLUMN_ARG4 },
	{ "SYSC_ARG5", TOP_COLUMN_ARG5 },
	{ "SYSC_ARG6", TOP_COLUMN_ARG6 },
	{ "FILENAME", TOP_COLUMN_FILENAME },
	{ "CONNECTION", TOP_COLUMN_CONNECTION },
	{ "CONN_STATE", TOP_COLUMN_CONN_STATE },
	{ "EXTRA_INFO", TOP_COLUMN_EXTRA_INFO },
	{ "CPU", TOP_COLUMN_CPU },
	{ "WCHAN", TOP_COLUMN_WCHAN },
	{ "LOCK", TOP_COLUMN_LOCK },
	{ "CGROUP", TOP_COLUMN_CGROUP },
	{ "CONTAINER", TOP_COLUMN_CONTAINER },
	{ "AIOFILENAME", TOP_COLUMN_AIOFILENAME },
	{ "URINGFILENAME", TOP_COLUMN_URINGFILENAME },
	{ "KSTACK_HASH", TOP_COLUMN_KSTACK_HASH },
	{ "USTACK_HASH", TOP_COLUMN_USTACK_HASH },
	{ "SYSCALL_ACTIVE", TOP_COLUMN_ACTIVE_CALL },
	{ "SYSC_SEQ_NUM", TOP_COLUMN_SYSC_SEQ },
	{ "IORQ_SEQ_NUM", TOP_COLUMN_IORQ_SEQ },
	{ "IORQ_IN_FLIGHT", TOP_COLUMN_IORQS },
	{ "WAKER", TOP_COLUMN_WAKER },
	{ "WAKER_TID", TOP_COLUMN_WAKER_TID },
	{ "LOCK_OWNER", TOP_COLUMN_LOCK_OWNER },
};

/* Where a line has what, by its number among the fields; -1: nowhere. */
struct csv_layout {
	int timestamp;
	int weight;
	int state_ns;
	int call_ns;
	int columns[TOP_COLUMNS];
	size_t nr; /* of fields */
};

/* Rows of all files, and where they go. */
struct csv_rows {
	csv_row_fn fn;
	void *ctx;
	uint64_t *bad;
	uint64_t last; /* time of the latest one; 0: there was none */
};

struct csv_file_reader {
	struct csv_layout layout;
	bool has_heading;
	struct csv_rows *rows;
	int stopped; /* fn's error */
};

/* Reads the first line. -EINVAL: it is not that of a file of samples. */
static int read_heading(char *line, struct csv_layout *layout)
{
	char *fields[MAX_FIELDS];
	size_t nr = csv_text__split(line, fields, MAX_FIELDS);

	if (nr > MAX_FIELDS)
		return -EINVAL;
	layout->nr = nr;
	layout->timestamp = csv_text__find(fields, nr, "TIMESTAMP");
	layout->weight = csv_text__find(fields, nr, "WEIGHT_US");
	layout->state_ns = csv_text__find(fields, nr, "STATE_NS");
	layout->call_ns = csv_text__find(fields, nr, "SYSC_NS_SO_FAR");
	for (int i = 0; i < TOP_COLUMNS; i++)
		layout->columns[i] = -1;
	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++)
		layout->columns[headings[i].column] = csv_text__find(fields, nr, headings[i].name);
	return layout->timestamp < 0 || layout->weight < 0 ? -EINVAL : 0;
}

int csv_row__give(struct csv_row *row, csv_row_fn fn, void *ctx)
{
	const char *call = row->texts[TOP_COLUMN_SYSCALL], *wchan = row->texts[TOP_COLUMN_WCHAN];
	char comm2[TOP_COLUMN_LEN], filesum[TOP_COLUMN_LEN];

	snprintf(comm2, sizeof(comm2), "%s", row->texts[TOP_COLUMN_COMM]);
	top_column__mask_digits(comm2);
	row->texts[TOP_COLUMN_COMM2] = comm2;
	snprintf(filesum, sizeof(filesum), "%s", row->texts[TOP_COLUMN_FILENAME]);
	top_column__mask_digits(filesum);
	row->texts[TOP_COLUMN_FILENAMESUM] = filesum;
	row->texts[TOP_COLUMN_FEXT] = top_column__extension(row->texts[TOP_COLUMN_FILENAME]);
	if (*call && strcmp(call, "-") != 0 && strcmp(call, "?") != 0)
		row->texts[TOP_COLUMN_WAIT] = call;
	else
		row->texts[TOP_COLUMN_WAIT] = *wchan ? wchan : "-";
	return fn(ctx, row);
}

/* A number of a field; 0 if there is no such field, or it is none. */
static uint64_t read_number(char *const *fields, int field)
{
	uint64_t number;

	return field < 0 || units__parse_number(fields[field], UINT64_MAX, &number) ? 0 : number;
}

static int read_line(struct csv_file_reader *reader, char *line)
{
	struct csv_rows *rows = reader->rows;
	const struct csv_layout *layout = &reader->layout;
	char *fields[MAX_FIELDS];
	struct csv_row row = { 0 };
	uint64_t weight = 0;

	if (csv_text__split(line, fields, MAX_FIELDS) != layout->nr ||
	    wall_time__parse(fields[layout->timestamp], rows->last, &row.wall_ns) ||
	    units__parse_number(fields[layout->weight], CSV_ROW_MOST_NS / NSEC_PER_USEC, &weight)) {
		++*rows->bad;
		return 0;
	}
	rows->last = row.wall_ns;
	row.weight_ns = weight * NSEC_PER_USEC;
	row.times.ns[ACTIVITY_TIME_STATE] = read_number(fields, layout->state_ns);
	row.times.ns[ACTIVITY_TIME_CALL] = read_number(fields, layout->call_ns);
	for (int i = 0; i < TOP_COLUMNS; i++)
		row.texts[i] = layout->columns[i] < 0 ? "" : fields[layout->columns[i]];
	reader->stopped = csv_row__give(&row, rows->fn, rows->ctx);
	return reader->stopped;
}

static int take_line(void *ctx, char *line)
{
	struct csv_file_reader *reader = ctx;

	if (reader->has_heading)
		return read_line(reader, line);
	reader->has_heading = true;
	return read_heading(line, &reader->layout);
}

/* Of a directory the other files are read. */
static int complain(const char *path, bool one_of_many, int err)
{
	const enum log_level level = one_of_many ? LOG_WARNING : LOG_ERROR;

	if (err == -EINVAL)
		log__print(level, "%s: not a file of samples, whose first line names its columns",
			   path);
	else if (err == -EIO)
		log__print(level, "%s: the file is broken or cut%s", path,
			   one_of_many ? "; it was read up to there" : "");
	else
		log__print(level, "cannot read %s: %s", path, strerror(-err));
	return err;
}

/* Reads a file, and closes it. *stopped: fn's error. Others are of the file. */
static int read_file(struct csv_rows *rows, int fd, int *stopped)
{
	struct csv_file_reader reader = { .rows = rows };
	int err = csv_lines__read(fd, take_line, &reader);

	*stopped = reader.stopped;
	return reader.stopped ? 0 : err;
}

/* A path that the user has given may be a pipe: it is opened as it is. */
static int read_named(const char *path, struct csv_rows *rows)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), stopped, err;

	if (fd < 0)
		return complain(path, false, -errno);
	err = read_file(rows, fd, &stopped);
	return err ? complain(path, false, err) : stopped;
}

/* Reads a file of a directory. *nr_read: files that are whole. 0, fn's error or -ENOMEM. */
static int read_entry(const char *path, const char *name, struct csv_rows *rows, int *nr_read)
{
	int fd, err, stopped = 0;
	char *file;

	if (asprintf(&file, "%s/%s", path, name) < 0)
		return -ENOMEM;
	fd = csv_beside__open(file);
	err = fd < 0 ? fd : read_file(rows, fd, &stopped);
	if (err && err != -ENOMEM)
		complain(file, true, err);
	*nr_read += !err;
	free(file);
	return err == -ENOMEM ? err : stopped;
}

static int refuse_dir(const char *path, const char *why, int err)
{
	pr_err("cannot read samples from the directory %s: %s", path, why);
	return err;
}

/* The hours of a directory, one after the other: their names are in their order. */
static int read_dir(const char *path, struct csv_rows *rows)
{
	struct dirent **entries;
	int nr = csv_beside__list(path, "samples", &entries), err = 0, nr_read = 0;

	if (nr < 0)
		return refuse_dir(path, strerror(-nr), nr);
	if (!nr)
		return refuse_dir(path, "it has no file " CSV_PREFIX "samples_*.csv", -ENOENT);
	for (int i = 0; i < nr; i++) {
		if (!err)
			err = read_entry(path, entries[i]->d_name, rows, &nr_read);
		free(entries[i]);
	}
	free(entries);
	if (!err && !nr_read)
		err = refuse_dir(path, "it has no file that can be read whole", -EIO);
	return err;
}

int csv_reader__read(const char *path, csv_row_fn fn, void *ctx, uint64_t *bad)
{
	struct csv_rows rows = { .fn = fn, .ctx = ctx, .bad = bad };
	struct stat stat_buf;

	*bad = 0;
	if (stat(path, &stat_buf))
		return complain(path, false, -errno);
	return S_ISDIR(stat_buf.st_mode) ? read_dir(path, &rows) : read_named(path, &rows);
}
