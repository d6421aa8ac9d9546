/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/output.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "record/build_ids.h"
#include "record/cgroups.h"
#include "record/sink.h"
#include "symbol/dso_table.h"
#include "machine/snapshot.h"

static int open_file(struct output *output)
{
	int err;

	output->writer = writer__new(&output->options.writer, &err);
	return err;
}

int output__init(struct output *output, const struct output_options *options)
{
	int err;

	*output = (struct output){ .options = *options };
	err = open_file(output);
	if (err)
		return err;
	if (options->build_ids) {
		output->dso_table = dso_table__new(options->machine);
		if (!output->dso_table)
			return -ENOMEM;
	}
	if (!options->rotation.enabled)
		return 0;
	return rotation__init(&output->rotation, &options->rotation, options->writer.path);
}

/* Counts the file's bytes so far as the preface that every file of the recording begins with. */
static int begin_file(struct output *output)
{
	rotation__begin(&output->rotation, clock__now_ns(), writer__bytes(output->writer));
	return writer__flush(output->writer);
}

int output__begin(struct output *output, int deadline_ms)
{
	int err = output->dso_table ? build_ids__read_early(output->dso_table, deadline_ms) : 0;

	return err ? err : begin_file(output);
}

int output__end_window(struct output *output, int deadline_ms)
{
	int err = writer__flush(output->writer);

	return err || !output->dso_table ? err
					 : build_ids__read_early(output->dso_table, deadline_ms);
}

uint64_t output__bytes(const struct output *output)
{
	return output->earlier_bytes + (output->writer ? writer__bytes(output->writer) : 0);
}

uint64_t output__due(const struct output *output)
{
	return output->options.rotation.enabled ? rotation__due(&output->rotation) : UINT64_MAX;
}

bool output__wants_switch(const struct output *output, uint64_t now, bool asked)
{
	if (!output->options.rotation.enabled)
		return false;
	if (output->options.rotation.size || output->options.rotation.time_ns)
		return rotation__is_full(&output->rotation, now, writer__bytes(output->writer));
	return asked;
}

static int write_event(void *ctx, const struct task_event *event)
{
	const struct output *output = ctx;
	const struct sink *sink = output->options.sink;

	if (sink && event->pid > 0 && !sink__tells(sink, event->pid))
		return 0;
	return writer__task_event(output->writer, event);
}

int output__switch(struct output *output, int deadline_ms)
{
	int err;

	err = output__close(output, deadline_ms);
	if (!err)
		err = open_file(output);
	if (err)
		return err;
	if (output->dso_table)
		dso_table__begin_file(output->dso_table);
	err = snapshot__tell(output->options.machine, write_event, output);
	if (!err && output->options.writer.cgroups)
		err = cgroups__write(output->writer);
	return err ? err : begin_file(output);
}

void output__forget_dsos(struct output *output)
{
	dso_table__delete(output->dso_table);
	output->dso_table = NULL;
}

int output__close(struct output *output, int deadline_ms)
{
	bool has_name;
	int err = 0, closed;

	if (output->dso_table)
		err = build_ids__write(output->writer, output->dso_table, deadline_ms,
				       output->options.fill_cache ? &output->cache : NULL);
	output->earlier_bytes += writer__bytes(output->writer);
	has_name = writer__has_name(output->writer);
	closed = writer__close(output->writer);
	output->writer = NULL;
	if (!err)
		err = closed;
	/* Closing reports a name that is another file's by now; rotation must not rename that. */
	output->named = !err && has_name;
	if (output->named && output->options.rotation.enabled)
		rotation__end(&output->rotation);
	return err;
}

const char *output__path(const struct output *output)
{
	const char *path = output->options.writer.path;
	struct stat file;

	if (output->named && output->options.rotation.enabled)
		path = output->rotation.last;
	return output->named && path && !stat(path, &file) && S_ISREG(file.st_mode) ? path : NULL;
}

void output__fill_cache(struct output *output, int deadline_ms)
{
	if (output->cache.nr)
		build_ids__fill_cache(&output->cache, deadline_ms);
}

void output__discard(struct output *output)
{
	writer__discard(output->writer);
	output->writer = NULL;
}

void output__free(struct output *output)
{
	writer__close(output->writer);
	dso_table__delete(output->dso_table);
	cache__free(&output->cache);
	rotation__free(&output->rotation);
}
