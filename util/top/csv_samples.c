/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/csv_samples.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "base/units.h"
#include "top/csv_completions.h"
#include "top/csv_dir.h"
#include "top/csv_text.h"
#include "top/stack_text.h"
#include "top/user_maps.h"
#include "top/wall_time.h"

#define RETAIN_NS (60 * NSEC_PER_SEC)
#define MAX_LINES (1 << 20) /* bytes of one file that wait to be written */
#define MAX_STACKS 65536 /* in an hour; further ones are there again */

struct csv_samples {
	struct csv_dir *dir;
	struct csv_archive *archive;
	struct idmap cgroups; /* that this hour's file has */
	struct idmap kernel_stacks; /* the same */
	struct idmap user_stacks;
	const struct csv_samples_options *options; /* borrowed */
	uint64_t next_retain;
};

struct csv_samples *csv_samples__open(const struct csv_samples_options *options, int *err)
{
	uint32_t kinds = 1U << CSV_SAMPLES | 1U << CSV_SYSCEND | 1U << CSV_IORQEND |
			 1U << CSV_CGROUPS;
	struct csv_samples *csv = calloc(1, sizeof(*csv));

	*err = -ENOMEM;
	if (!csv)
		return NULL;
	if (options->kernel_stacks)
		kinds |= 1U << CSV_KSTACKS;
	if (options->user_stacks)
		kinds |= 1U << CSV_USTACKS;
	csv->dir = csv_dir__open(options->path, kinds, err);
	csv->options = options;
	if (csv->dir) {
		csv->archive = csv_archive__new(&options->archive, csv_dir__fd(csv->dir));
		if (csv->archive)
			return csv;
		*err = -ENOMEM;
	}
	csv_samples__close(csv);
	return NULL;
}

int csv_samples__close(struct csv_samples *csv)
{
	int err;

	if (!csv)
		return 0;
	csv_archive__delete(csv->archive);
	err = csv_dir__close(csv->dir);
	idmap__free(&csv->cgroups);
	idmap__free(&csv->kernel_stacks);
	idmap__free(&csv->user_stacks);
	free(csv);
	return err;
}

int csv_samples__begin(struct csv_samples *csv, const struct top_pass *pass)
{
	bool is_new;
	int err = csv_dir__turn(csv->dir, pass->wall_ns, &is_new);

	if (is_new) {
		idmap__clear(&csv->cgroups);
		idmap__clear(&csv->kernel_stacks);
		idmap__clear(&csv->user_stacks);
		csv->next_retain = 0;
	}
	return err;
}

/* Each cgroup once in each file. */
static int add_cgroup(struct csv_samples *csv, const struct thread_sample *sample, const char *path)
{
	struct buffer *lines = csv_dir__lines(csv->dir, CSV_CGROUPS);
	int err;

	if (!*path || idmap__find(&csv->cgroups, sample->cgroup))
		return 0;
	if (!idmap__get(&csv->cgroups, sample->cgroup))
		return -ENOMEM;
	err = csv_text__add(lines, "%" PRIu64 ",", sample->cgroup);
	if (!err)
		err = csv_text__add_sparing(lines, path);
	return err ? err : buffer__append(lines, "\n", 1);
}

/* Whether a stack is to be told: *told has those that were. */
static bool is_new(struct idmap *told, uint64_t id)
{
	if (!id || idmap__find(told, id))
		return false;
	if (told->used >= MAX_STACKS)
		idmap__clear(told);
	/* Without memory it is told again. */
	idmap__get(told, id);
	return true;
}

static int add_stack(struct buffer *lines, uint64_t id, const char *text)
{
	int err = csv_text__add(lines, "%" PRIx64 ",", id);

	if (!err)
		err = csv_text__add_sparing(lines, text);
	return err ? err : buffer__append(lines, "\n", 1);
}

/* Each stack once in each file, as cgroups. */
static int add_stacks(struct csv_samples *csv, const struct thread_sample *sample,
		      const struct top_names *names)
{
	char text[STACK_TEXT_LEN];
	int err = 0;

	if (csv->options->kernel_stacks && is_new(&csv->kernel_stacks, sample->kernel_id)) {
		stack_text__put_kernel(&sample->kernel, names, true, text, sizeof(text));
		err = add_stack(csv_dir__lines(csv->dir, CSV_KSTACKS), sample->kernel_id, text);
	}
	if (!err && csv->options->user_stacks && is_new(&csv->user_stacks, sample->user_id)) {
		user_maps__put(names->user_maps, sample, text, sizeof(text));
		err = add_stack(csv_dir__lines(csv->dir, CSV_USTACKS), sample->user_id, text);
	}
	return err;
}

/* How the columns of a sample are written. */
enum field_form {
	FIELD_PLAIN,
	FIELD_QUOTED,
	FIELD_FILE,   /* quoted, "-" where there is none */
};

static const struct field {
	enum top_column column;
	enum field_form form;
} who[] = {
	{ TOP_COLUMN_TID, FIELD_PLAIN },	{ TOP_COLUMN_TGID, FIELD_PLAIN },
	{ TOP_COLUMN_PIDNS, FIELD_PLAIN },	{ TOP_COLUMN_CGROUP_ID, FIELD_PLAIN },
	{ TOP_COLUMN_STATE, FIELD_PLAIN },	{ TOP_COLUMN_USERNAME, FIELD_QUOTED },
	{ TOP_COLUMN_EXE, FIELD_QUOTED },	{ TOP_COLUMN_COMM, FIELD_QUOTED },
	{ TOP_COLUMN_SYSCALL, FIELD_PLAIN },
}, what[] = {
	{ TOP_COLUMN_ARG1, FIELD_PLAIN },	{ TOP_COLUMN_ARG2, FIELD_PLAIN },
	{ TOP_COLUMN_ARG3, FIELD_PLAIN },	{ TOP_COLUMN_ARG4, FIELD_PLAIN },
	{ TOP_COLUMN_ARG5, FIELD_PLAIN },	{ TOP_COLUMN_ARG6, FIELD_PLAIN },
	{ TOP_COLUMN_FILENAME, FIELD_FILE },	{ TOP_COLUMN_CONNECTION, FIELD_QUOTED },
	{ TOP_COLUMN_CONN_STATE, FIELD_QUOTED }, { TOP_COLUMN_EXTRA_INFO, FIELD_QUOTED },
}, ours[] = {
	{ TOP_COLUMN_CPU, FIELD_PLAIN },	{ TOP_COLUMN_WCHAN, FIELD_PLAIN },
	{ TOP_COLUMN_LOCK, FIELD_PLAIN },	{ TOP_COLUMN_CGROUP, FIELD_QUOTED },
	{ TOP_COLUMN_CONTAINER, FIELD_QUOTED },	{ TOP_COLUMN_AIOFILENAME, FIELD_QUOTED },
	{ TOP_COLUMN_URINGFILENAME, FIELD_QUOTED },
}, tracked[] = {
	{ TOP_COLUMN_WAKER, FIELD_QUOTED },	{ TOP_COLUMN_WAKER_TID, FIELD_PLAIN },
	{ TOP_COLUMN_LOCK_OWNER, FIELD_PLAIN },	{ TOP_COLUMN_IORQS, FIELD_PLAIN },
};

static int add_fields(struct buffer *line, const struct field *fields, size_t nr,
		      const struct thread_sample *sample, struct top_names *names)
{
	char text[TOP_COLUMN_LEN];
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		top_column__put(fields[i].column, sample, names, text);
		err = buffer__append(line, ",", 1);
		if (err)
			break;
		if (fields[i].form == FIELD_PLAIN)
			err = buffer__append(line, text, strlen(text));
		else if (fields[i].form == FIELD_FILE && !*text)
			err = csv_text__add_quoted(line, "-");
		else
			err = csv_text__add_quoted(line, text);
	}
	return err;
}

#define ADD_FIELDS(line, fields, sample, names) \
	add_fields(line, fields, sizeof(fields) / sizeof((fields)[0]), sample, names)

/* What is known of calls and requests while they last. A call that is not known is a "?". */
static int add_tracked(struct buffer *line, const struct thread_sample *sample, uint64_t lead)
{
	const struct thread_track *track = &sample->track;
	char active[TOP_COLUMN_LEN], time[WALL_TIME_LEN] = "";
	uint64_t ns = 0;

	top_column__put(TOP_COLUMN_ACTIVE_CALL, sample, NULL, active);
	if (track->entered) {
		wall_time__put(track->entered + lead, time);
		ns = sample->time > track->entered ? sample->time - track->entered : 0;
	}
	return csv_text__add(line, ",%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64,
			     *active ? active : sample->kthread ? "-" : "?", time, ns, track->seq,
			     track->request_seq);
}

static int add_state(struct buffer *line, const struct thread_sample *sample)
{
	return csv_text__add(line, ",%" PRIx64 ",%" PRIx64 ",%" PRIu64, sample->kernel_id,
			     sample->user_id, sample->state_ns);
}

static int add_since(struct buffer *line, const struct thread_sample *sample, uint64_t lead)
{
	char time[WALL_TIME_LEN] = "";

	if (sample->track.since)
		wall_time__put(sample->track.since + lead, time);
	return csv_text__add(line, ",%s", time);
}

static int add_line(struct buffer *line, const struct top_pass *pass,
		    const struct thread_sample *sample, struct top_names *names)
{
	uint64_t lead = pass->wall_ns - pass->time;
	char time[WALL_TIME_LEN];
	int err = csv_text__add(line, "%s,%llu", wall_time__put(pass->wall_ns, time),
				pass->weight_ns / NSEC_PER_USEC);

	if (!err)
		err = ADD_FIELDS(line, who, sample, names);
	if (!err)
		err = add_tracked(line, sample, lead);
	if (!err)
		err = ADD_FIELDS(line, what, sample, names);
	if (!err)
		err = add_state(line, sample);
	if (!err)
		err = ADD_FIELDS(line, ours, sample, names);
	if (!err)
		err = add_since(line, sample, lead);
	if (!err)
		err = ADD_FIELDS(line, tracked, sample, names);
	return err ? err : buffer__append(line, "\n", 1);
}

int csv_samples__add(struct csv_samples *csv, const struct top_pass *pass,
		     const struct thread_sample *sample, struct top_names *names)
{
	struct buffer *lines = csv_dir__lines(csv->dir, CSV_SAMPLES);
	size_t before = lines->len;
	int err = add_line(lines, pass, sample, names);

	if (err)
		lines->len = before;
	if (!err)
		err = add_stacks(csv, sample, names);
	return err ? err : add_cgroup(csv, sample, top_names__cgroup(names, sample->cgroup));
}

int csv_samples__complete(struct csv_samples *csv, const struct completion *completion,
			  uint64_t lead)
{
	bool is_call = completion->kind == TRACK_WIRE_CALL;
	struct buffer *lines = csv_dir__lines(csv->dir, is_call ? CSV_SYSCEND : CSV_IORQEND);
	int err;

	if (!*csv_dir__hour(csv->dir))
		return 0;
	err = csv_completions__add(lines, completion, lead);
	return err || lines->len < MAX_LINES ? err : csv_dir__flush(csv->dir);
}

int csv_samples__flush(struct csv_samples *csv)
{
	return csv_dir__flush(csv->dir);
}

int csv_samples__end(struct csv_samples *csv, const struct top_pass *pass)
{
	const char *hour = csv_dir__hour(csv->dir);
	bool more;
	int err;

	if (pass->time >= csv->next_retain) {
		csv->next_retain = pass->time + RETAIN_NS;
		err = csv_archive__retain(csv->archive, hour, pass->wall_ns);
		if (err)
			return err;
	}
	csv_archive__step(csv->archive, hour, &more);
	return 0;
}
