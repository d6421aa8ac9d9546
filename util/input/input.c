/* SPDX-License-Identifier: GPL-2.0-only */
#include "input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/minmax.h"
#include "input/block.h"
#include "input/record.h"
#include "input/record_queue.h"
#include "input/stream.h"
#include "input/trace_fields.h"

/* Far more than a feature of ours has; larger ones are passed over. */
#define MAX_FEATURE (64u << 20)

struct input {
	const char *path; /* as in messages */
	struct stream stream;
	struct layout_header header; /* of a regular file */
	bool is_pipe;		     /* the variant */
	struct input_events events;
	const char *event; /* the name of event 1, one of ours; NULL: not known yet */
	struct trace_fields *fields;
	struct record_queue queue;
	struct input_info info;
	struct input_totals totals;
	struct input_reader {
		struct machine *machine;
		input_sample_fn fn;
		void *ctx;
	} reader;
};

static int refuse(const struct input *input)
{
	pr_err("%s was not written by denet-record; `perf report` may be able to read it",
	       input->path);
	return -EINVAL;
}

static int say_read_error(const struct input *input, int err)
{
	pr_err("cannot read %s: %s", input->path, strerror(-err));
	return err;
}

static int open_header(struct input *input)
{
	struct layout_header *header = &input->header;
	const void *data;
	int ret = stream__peek(&input->stream, sizeof(struct layout_pipe_header), &data);

	if (ret < 0)
		return say_read_error(input, ret);
	input->is_pipe = ret && input_record__is_pipe(data, sizeof(struct layout_pipe_header));
	if (input->is_pipe) {
		stream__skip(&input->stream, sizeof(struct layout_pipe_header));
		return 0;
	}
	ret = ret ? stream__peek(&input->stream, sizeof(*header), &data) : 0;
	if (ret < 0)
		return say_read_error(input, ret);
	ret = ret ? input_record__header(data, sizeof(*header), header) : -EINVAL;
	if (ret == -ENOTSUP)
		pr_err("%s comes from a machine of another byte order: that is not supported",
		       input->path);
	else if (ret == -EPROTO)
		refuse(input);
	else if (ret)
		pr_err("%s is no perf.data file", input->path);
	else if (input->stream.is_pipe)
		pr_err("%s is a regular perf.data file that comes through a pipe; name the file",
		       input->path);
	return !ret && input->stream.is_pipe ? -ESPIPE : ret;
}

struct input *input__open(const char *path, int *err)
{
	struct input *input = calloc(1, sizeof(*input));
	bool is_stdin = !strcmp(path, "-");
	int fd;

	*err = -ENOMEM;
	if (!input)
		return NULL;
	input->path = is_stdin ? "standard input" : path;
	fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
		      : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0) {
		*err = -errno;
		pr_err("cannot open %s: %s", input->path, strerror(-*err));
		free(input);
		return NULL;
	}
	stream__init(&input->stream, fd);
	*err = open_header(input);
	if (!*err)
		return input;
	input__close(input);
	return NULL;
}

void input__close(struct input *input)
{
	if (!input)
		return;
	stream__close(&input->stream);
	trace_fields__delete(input->fields);
	record_queue__free(&input->queue);
	input_info__free(&input->info);
	free(input);
}

/* Bytes of a regular file at a place, into out. 1; 0: there are fewer; a negative errno. */
static int read_at(struct input *input, uint64_t at, uint64_t size, struct buffer *out)
{
	out->len = 0;
	if (size > MAX_FEATURE || at + size < at)
		return 0;
	stream__seek(&input->stream, at, at + size);
	return stream__read(&input->stream, size, out);
}

static int add_event(struct input *input, const void *attr, uint64_t id)
{
	struct input_events *events = &input->events;

	if (events->nr == INPUT_MAX_EVENTS || input_events__find(events, id) ||
	    input_record__event(attr, id, &events->all[events->nr]))
		return refuse(input);
	events->nr++;
	return 0;
}

static int read_attrs(struct input *input)
{
	const struct layout_section *section = &input->header.attrs;
	struct buffer attrs = { 0 }, id = { 0 };
	struct layout_attr attr;
	uint64_t number;
	int ret = 0;

	if (section->size && section->size <= INPUT_MAX_EVENTS * sizeof(attr) &&
	    section->size % sizeof(attr) == 0)
		ret = read_at(input, section->offset, section->size, &attrs);
	for (size_t at = 0; ret == 1 && at < section->size; at += sizeof(attr)) {
		memcpy(&attr, attrs.data + at, sizeof(attr));
		ret = attr.ids.size == sizeof(number)
			      ? read_at(input, attr.ids.offset, sizeof(number), &id) : 0;
		if (ret != 1)
			break;
		memcpy(&number, id.data, sizeof(number));
		ret = add_event(input, attr.attr, number) ? -EINVAL : 1;
	}
	buffer__free(&attrs);
	buffer__free(&id);
	if (ret < 0 && ret != -EINVAL)
		return say_read_error(input, ret);
	if (!ret && section->size)
		pr_err("%s is truncated: its data end early", input->path);
	else if (!ret)
		return refuse(input);
	return ret == 1 ? 0 : -EINVAL;
}

/* The formats of our own events; without them, reasons are left out. */
static int take_tracing(struct input *input, const struct buffer *data)
{
	struct trace_fields *fields;
	int err;

	fields = trace_fields__new(data->data, data->len, &err);
	if (!fields) {
		pr_warn("%s: the formats of its events cannot be read: reasons of waits are "
			"left out", input->path);
		return err == -ENOMEM ? err : 0;
	}
	trace_fields__delete(input->fields);
	input->fields = fields;
	return 0;
}

static int read_feature(struct input *input, unsigned int bit, const struct layout_section *section)
{
	struct buffer data = { 0 };
	int ret, err = 0;

	if (bit != LAYOUT_FEATURE_TRACING_DATA && !input_info__wants(bit))
		return 0;
	ret = read_at(input, section->offset, section->size, &data);
	if (ret == 1 && bit == LAYOUT_FEATURE_TRACING_DATA)
		err = take_tracing(input, &data);
	else if (ret == 1)
		err = input_info__take(&input->info, bit, data.data, data.len);
	buffer__free(&data);
	if (ret < 0)
		return say_read_error(input, ret);
	if (!ret || err == -EINVAL)
		input->totals.broken++;
	return err == -EINVAL ? 0 : err;
}

static int read_features(struct input *input)
{
	const struct layout_header *header = &input->header;
	uint64_t at = header->data.offset + header->data.size;
	struct buffer data = { 0 };
	struct layout_section section;
	int err = 0;

	input->totals.unfinished = true;
	for (unsigned int bit = 0; bit < LAYOUT_FEATURE_BITS && !err; bit++) {
		if (!(header->features[bit / 64] >> bit % 64 & 1))
			continue;
		input->totals.unfinished = false;
		if (read_at(input, at, sizeof(section), &data) != 1)
			break;
		memcpy(&section, data.data, sizeof(section));
		err = read_feature(input, bit, &section);
		at += sizeof(section);
	}
	buffer__free(&data);
	return err;
}

/* A record of the kernel, or one that stands for it, in the order of its time. */
static int deliver_task(struct input *input, const void *record, size_t size)
{
	struct task_event event;
	int err;

	if (task_event__decode(record, size, &event)) {
		input->totals.broken++;
		return 0;
	}
	if (event.kind == TASK_EVENT_MMAP && event.pid == -1)
		event.kind = TASK_EVENT_KERNEL_MMAP;
	err = machine__handle(input->reader.machine, &event);
	return err < 0 ? err : 0;
}

static int deliver_block(struct input *input, const void *record, size_t size, const void *more,
			 size_t more_size)
{
	struct input_totals *totals = &input->totals;
	struct input_block block;

	if (input_block__decode(&input->events, input->fields, record, size, more, more_size,
				&block)) {
		totals->broken++;
		return 0;
	}
	/* It opens the data where another event would, and is no block. */
	if (!block.sample.period && !block.sample.count)
		return 0;
	if (!totals->samples++)
		totals->first = block.sample.time;
	totals->last = block.sample.time;
	totals->stacks += block.has_stack;
	return input->reader.fn(input->reader.ctx, &block.sample);
}

static int deliver(void *ctx, uint64_t time, const void *record, size_t size, const void *more,
		   size_t more_size)
{
	const struct perf_event_header *header = record;

	(void)time;
	if (header->type == PERF_RECORD_SAMPLE)
		return deliver_block(ctx, record, size, more, more_size);
	return deliver_task(ctx, record, size);
}

static int take_sample(struct input *input, const void *record, size_t size)
{
	const struct input_event *event = NULL;
	struct layout_sample sample;
	size_t last_size, more;
	const void *last;

	if (size < sizeof(sample)) {
		input->totals.broken++;
		return 0;
	}
	memcpy(&sample, record, sizeof(sample));
	event = input_events__find(&input->events, sample.id);
	if (!input->event)
		return refuse(input);
	if (!event || !input_block__knows(event)) {
		input->totals.unknown++;
		return 0;
	}
	last = record_queue__last(&input->queue, &last_size, &more);
	if (last && input_block__goes_on(last, last_size, more, record, size))
		return record_queue__add_more(&input->queue, record, size);
	/* Reasons without their sample have no time of their own. */
	if (sample.id == WRITER_OFFCPU_WAIT)
		return 0;
	return record_queue__add(&input->queue, sample.time, record, size);
}

static int take_sideband(struct input *input, const void *record, size_t size)
{
	uint64_t time;

	if (task_event__time(record, size, &time)) {
		input->totals.broken++;
		return 0;
	}
	return record_queue__add(&input->queue, time, record, size);
}

static int take_lost(struct input *input, const void *record, size_t size)
{
	struct layout_lost lost;

	if (size < sizeof(lost)) {
		input->totals.broken++;
		return 0;
	}
	memcpy(&lost, record, sizeof(lost));
	input->totals.lost += lost.lost;
	return 0;
}

static const char *find_event(const char *name)
{
	static const char *const ours[] = { "offcpu-time", "wall-time", "thread-state" };

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		if (!strcmp(name, ours[i]))
			return ours[i];
	}
	return NULL;
}

static int take_name(struct input *input, const void *record, size_t size)
{
	const char *name;
	uint64_t id;

	if (input_record__event_name(record, size, &id, &name))
		return refuse(input);
	if (id != WRITER_OFFCPU_TIME)
		return 0;
	input->event = find_event(name);
	return input->event ? 0 : refuse(input);
}

/* Of the pipe variant. */
static int take_attr(struct input *input, const void *record, size_t size)
{
	struct layout_header_attr attr;

	if (size < sizeof(attr))
		return refuse(input);
	memcpy(&attr, record, sizeof(attr));
	return add_event(input, attr.attr, attr.id);
}

static int take_feature(struct input *input, const void *record, size_t size)
{
	struct layout_header_feature feature;
	int err = -EINVAL;

	if (size >= sizeof(feature)) {
		memcpy(&feature, record, sizeof(feature));
		if (feature.feature >= LAYOUT_FEATURE_BITS)
			return 0;
		err = input_info__take(&input->info, (unsigned int)feature.feature,
				       (const char *)record + sizeof(feature),
				       size - sizeof(feature));
	}
	input->totals.broken += err == -EINVAL;
	return err == -EINVAL ? 0 : err;
}

static int take_build_id(struct input *input, const void *record, size_t size)
{
	int err = input_info__take(&input->info, LAYOUT_FEATURE_BUILD_ID, record, size);

	input->totals.broken += err == -EINVAL;
	return err == -EINVAL ? 0 : err;
}

static int end_round(struct input *input)
{
	uint64_t settled;
	int err = record_queue__round(&input->queue, deliver, input, &settled);

	if (!err)
		machine__forget(input->reader.machine, settled);
	return err;
}

static int take_record(struct input *input, const void *record, size_t size, uint32_t type)
{
	switch (type) {
	case PERF_RECORD_SAMPLE:
		return take_sample(input, record, size);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_CGROUP:
		return take_sideband(input, record, size);
	case PERF_RECORD_LOST:
		return take_lost(input, record, size);
	case LAYOUT_EVENT_UPDATE:
		return take_name(input, record, size);
	case LAYOUT_HEADER_ATTR:
		return take_attr(input, record, size);
	case LAYOUT_HEADER_FEATURE:
		return take_feature(input, record, size);
	case LAYOUT_HEADER_BUILD_ID:
		return take_build_id(input, record, size);
	case LAYOUT_FINISHED_ROUND:
		return end_round(input);
	default:
		return 0;
	}
}

/* Behind the record; its size is none of the record's. */
static int read_tracing(struct input *input, const void *record, size_t size)
{
	struct layout_tracing_data tracing;
	struct buffer data = { 0 };
	int ret = 0;

	if (size == sizeof(tracing)) {
		memcpy(&tracing, record, sizeof(tracing));
		stream__skip(&input->stream, size);
		if (tracing.size <= MAX_FEATURE)
			ret = stream__read(&input->stream, tracing.size, &data);
	}
	if (ret == 1)
		ret = take_tracing(input, &data) ? -ENOMEM : 1;
	buffer__free(&data);
	return ret;
}

/* 1; 0: there is no further one; a negative errno, logged. */
static int read_record(struct input *input)
{
	struct perf_event_header header;
	const void *record;
	int ret = stream__peek(&input->stream, sizeof(header), &record);

	if (ret == 1) {
		memcpy(&header, record, sizeof(header));
		if (header.size < sizeof(header)) {
			pr_err("%s is damaged: a record has no size", input->path);
			return -EINVAL;
		}
		ret = stream__peek(&input->stream, header.size, &record);
		input->totals.cut |= !ret;
	}
	if (ret < 0)
		return say_read_error(input, ret);
	if (!ret)
		return 0;
	if (header.type == LAYOUT_HEADER_TRACING_DATA)
		return read_tracing(input, record, header.size);
	ret = take_record(input, record, header.size, header.type);
	stream__skip(&input->stream, header.size);
	if (!ret && record_queue__is_full(&input->queue))
		ret = record_queue__flush(&input->queue, deliver, input);
	return ret ? ret : 1;
}

static int read_head(struct input *input)
{
	const struct layout_section *data = &input->header.data;
	int err;

	if (input->is_pipe)
		return 0;
	if (data->offset + data->size < data->offset)
		return refuse(input);
	err = read_attrs(input);
	if (!err)
		err = read_features(input);
	if (!err)
		stream__seek(&input->stream, data->offset, data->offset + data->size);
	return err;
}

int input__read(struct input *input, struct machine *machine, input_sample_fn fn, void *ctx)
{
	int ret = read_head(input);

	if (ret)
		return ret;
	input->reader = (struct input_reader){ machine, fn, ctx };
	do {
		ret = read_record(input);
	} while (ret == 1);
	if (!ret && !input->event)
		ret = refuse(input);
	return ret ? ret : record_queue__flush(&input->queue, deliver, input);
}

const char *input__event(const struct input *input)
{
	return input->event;
}

const struct input_info *input__info(const struct input *input)
{
	return &input->info;
}

const struct input_totals *input__totals(const struct input *input)
{
	return &input->totals;
}
