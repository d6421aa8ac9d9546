/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/perfdata/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/log.h"
#include "output/perfdata/attrs.h"
#include "output/perfdata/encode.h"
#include "output/perfdata/features.h"
#include "output/perfdata/file.h"
#include "output/perfdata/first_sample.h"
#include "output/perfdata/time_kind.h"
#include "output/perfdata/tracing.h"

/* Buffers larger than this are not kept in memory, flushed or not. */
#define PENDING_MAX (1024 * 1024)

struct writer {
	struct file file;
	struct buffer pending;   /* whole records that are not written yet */
	struct buffer build_ids; /* of a file; in a pipe they are written at once */
	struct features features;
	struct first_sample first;
	uint64_t perhaps;     /* as writer_options.perhaps; of tracepoints, none in a pipe */
	/* Events with attrs at the front: those of the file, followed by perhaps. */
	const struct event_kind *front[ATTRS_MAX];
	size_t nr_front;
	size_t nr_shown;      /* of these, the number in the header */
	uint64_t data_offset; /* where the data begins */
	uint64_t data_size;   /* whole records that are written */
	bool announced; /* in a pipe: its reader knows the late events */
	bool provisional; /* features stand behind the data, which more data will overwrite */
	int error; /* the first error; nothing is written after it */
};

/* The id of records that are no samples: that of the event that requested them. */
static uint64_t sideband_id(void)
{
	size_t nr;

	return attrs__kinds(&nr)[0].id;
}

/* The header counts events of perhaps only once they have samples. */
static void select_front(struct writer *writer)
{
	uint64_t events = writer->features.events;

	writer->nr_shown = features__select(&writer->features, events, writer->front);
	writer->nr_front = writer->nr_shown;
	writer->nr_front += attrs__select_others(writer->perhaps & ~events,
						 writer->front + writer->nr_front);
}

/* The header, but for the features. */
static struct layout_header make_header(const struct writer *writer)
{
	return (struct layout_header){
		.magic = LAYOUT_MAGIC,
		.size = sizeof(struct layout_header),
		.attr_size = sizeof(struct layout_attr),
		.attrs = { .offset = sizeof(struct layout_header) +
				     writer->nr_front * sizeof(uint64_t),
			   .size = writer->nr_shown * sizeof(struct layout_attr) },
		.data = { .offset = writer->data_offset, .size = writer->data_size },
	};
}

/* An entry of the header's table of attrs; ids: file offset of the event's ids. */
static struct layout_attr make_attr(const struct writer *writer, const struct event_kind *kind,
				    uint64_t ids)
{
	struct layout_attr attr = { .ids = { .offset = ids, .size = sizeof(kind->id) } };

	attrs__fill(kind, writer->features.cgroups, writer->features.stack_bytes, attr.attr);
	return attr;
}

/* Header, ids and attrs: the part of a file before its data. */
static int put_front(struct writer *writer, struct buffer *out)
{
	uint64_t ids = sizeof(struct layout_header);
	struct layout_header header;
	size_t nr;
	int err;

	select_front(writer);
	nr = writer->nr_front;
	header = make_header(writer);
	header.data.offset = header.attrs.offset + nr * sizeof(struct layout_attr);
	writer->data_offset = header.data.offset;
	err = buffer__append(out, &header, sizeof(header));
	for (size_t i = 0; !err && i < nr; i++)
		err = buffer__append(out, &writer->front[i]->id, sizeof(writer->front[i]->id));
	for (size_t i = 0; !err && i < nr; i++) {
		struct event_kind kind = attrs__stand_in(writer->front[i]);
		struct layout_attr attr = make_attr(writer, &kind, ids + i * sizeof(kind.id));

		err = buffer__append(out, &attr, sizeof(attr));
	}
	return err;
}

/*
 * Three symbols at one address. When perf reads /proc/kcore, it drops all it knows of kernel
 * addresses but maps with the name of a BPF program: the first symbol makes such a map. In that map
 * perf finds only the root of its symbol tree, which is the second symbol as soon as there is a
 * third.
 */
static int put_time_kind(struct buffer *out, enum time_kind kind)
{
	const char *name = time_kind__name(kind);
	char map_name[64];
	int err;

	snprintf(map_name, sizeof(map_name), "bpf_prog_%s", name);
	err = encode__kernel_symbol(out, sideband_id(), time_kind__address(kind), TIME_KIND_SIZE,
				    map_name);
	for (int i = 0; i < 2 && !err; i++)
		err = encode__kernel_symbol(out, sideband_id(), time_kind__address(kind),
					    TIME_KIND_SIZE, name);
	return err;
}

static int put_names(const struct writer *writer, struct buffer *out)
{
	const struct event_kind *kinds[ATTRS_MAX];
	size_t nr = features__select(&writer->features, writer->features.events, kinds);
	int err = 0;

	/* A tracepoint of ours has its name from its format. */
	for (size_t i = 0; !err && i < nr; i++) {
		if (!attrs__late_kind(kinds[i]->id))
			err = encode__event_name(out, kinds[i]->id,
						 features__event_name(&writer->features,
								      kinds[i]));
	}
	for (int i = 0; !err && writer->features.one_event && i < TIME_KINDS; i++)
		err = put_time_kind(out, i);
	if (!err && (writer->features.one_event ||
		     writer->features.events & 1ULL << WRITER_ONCPU_TIME))
		err = put_time_kind(out, TIME_NOT_SAMPLED);
	return err;
}

static int put_pipe_attr(struct writer *writer, const struct event_kind *kind)
{
	unsigned char attr[LAYOUT_ATTR_SIZE];

	attrs__fill(kind, writer->features.cgroups, writer->features.stack_bytes, attr);
	return encode__header_attr(&writer->pending, kind->id, attr);
}

static int put_pipe_attrs(struct writer *writer)
{
	const struct event_kind *kinds[ATTRS_MAX];
	size_t nr = attrs__select(writer->features.events, kinds);
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++)
		err = put_pipe_attr(writer, kinds[i]);
	return err;
}

static int put_pipe_features(struct writer *writer, enum feature_phase phase)
{
	size_t nr;
	const struct feature_kind *kinds = features__kinds(&nr);
	struct buffer body = { 0 };
	int ret = 0;

	for (size_t i = 0; ret >= 0 && i < nr; i++) {
		if (kinds[i].phase != phase)
			continue;
		body.len = 0;
		ret = feature_kind__encode(&kinds[i], &body, &writer->features);
		if (ret > 0)
			ret = encode__header_feature(&writer->pending, kinds[i].bit, body.data,
						     body.len);
	}
	buffer__free(&body);
	return ret < 0 ? ret : 0;
}

/* Keeps the first error, which all later calls return. */
static int remember(struct writer *writer, int err)
{
	if (err == -ENOMEM && !writer->error)
		pr_err("out of memory while writing %s", writer->file.path);
	if (err && !writer->error)
		writer->error = err;
	return err;
}

/* Updates the size of the data in the header; called after the data is written. */
static int write_data_size(struct writer *writer)
{
	if (writer->file.pipe)
		return 0;
	return file__rewrite(&writer->file, &writer->data_size, sizeof(writer->data_size),
			     offsetof(struct layout_header, data.size));
}

/*
 * Late events need TRACING_DATA, without which readers refuse the whole file. So the attrs at the
 * front are those of the other events, and ids and attrs of all events stand between the index of
 * the features and the features: readers expect nothing behind the last feature. at: that place in
 * memory, room: in the file. Returns the table of the attrs.
 */
static struct layout_section put_all_attrs(const struct writer *writer, char *at,
					   const struct layout_section *room)
{
	const struct event_kind *kinds[ATTRS_MAX];
	size_t nr = features__select(&writer->features,
				     writer->features.events | writer->features.late, kinds);
	struct layout_section table = { .offset = room->offset + nr * sizeof(kinds[0]->id),
					.size = nr * sizeof(struct layout_attr) };

	for (size_t i = 0; i < nr; i++) {
		size_t id = i * sizeof(kinds[i]->id);
		struct layout_attr attr = make_attr(writer, kinds[i], room->offset + id);

		memcpy(at + id, &kinds[i]->id, sizeof(kinds[i]->id));
		memcpy(at + (table.offset - room->offset) + i * sizeof(attr), &attr, sizeof(attr));
	}
	return table;
}

/* The size of ids and attrs of all events, if a second table of them is needed. */
static size_t size_of_all_attrs(const struct writer *writer)
{
	const struct event_kind *kinds[ATTRS_MAX];

	if (!writer->features.late && !features__nr_traced(&writer->features))
		return 0;
	return features__select(&writer->features, writer->features.events | writer->features.late,
				kinds) *
	       (sizeof(kinds[0]->id) + sizeof(struct layout_attr));
}

static uint64_t end_of_data(const struct writer *writer)
{
	return writer->data_offset + writer->data_size;
}

/* The features as they stand behind the data, and the header that announces them. */
static int encode_features(const struct writer *writer, struct buffer *out,
			   struct layout_header *header)
{
	struct layout_section room = { .size = size_of_all_attrs(writer) };
	uint64_t offset = end_of_data(writer);
	int err;

	*header = make_header(writer);
	err = features__encode(out, &writer->features, offset, &room, header->features);
	if (!err && room.size)
		header->attrs = put_all_attrs(writer, out->data + (room.offset - offset), &room);
	return err;
}

/*
 * Tracepoints of the kernel are of use only with their formats, which are a feature. So where they
 * are recorded, each flush ends with the features, and the next one takes them back before it puts
 * data in their place: at no time does the header announce what is not there.
 */
static int take_back_features(struct writer *writer)
{
	struct layout_header header = make_header(writer);

	if (!writer->provisional)
		return 0;
	writer->provisional = false;
	return file__rewrite(&writer->file, &header, sizeof(header), 0);
}

static int put_provisional_features(struct writer *writer)
{
	struct layout_header header;
	struct buffer out = { 0 };
	int err;

	if (writer->file.pipe || !features__nr_traced(&writer->features))
		return 0;
	err = encode_features(writer, &out, &header);
	if (!err)
		err = file__rewrite(&writer->file, out.data, out.len, end_of_data(writer));
	if (!err) {
		writer->provisional = true;
		err = file__rewrite(&writer->file, &header, sizeof(header), 0);
	}
	buffer__free(&out);
	return err;
}

int writer__flush(struct writer *writer)
{
	size_t written, whole;
	int err, size_err;

	if (writer->error)
		return writer->error;
	if (!writer->pending.len)
		return 0;
	err = take_back_features(writer);
	if (err)
		return remember(writer, err);
	err = file__append(&writer->file, writer->pending.data, writer->pending.len, &written);
	/* A full disk may end in the middle of a record: the whole ones before it count. */
	whole = err ? encode__whole_records(writer->pending.data, written) : written;
	writer->data_size += whole;
	writer->pending.len = 0;
	size_err = write_data_size(writer);
	if (!err && !size_err)
		err = put_provisional_features(writer);
	return remember(writer, err ? err : size_err);
}

/* Writes the front of the file, with which readers can open it. */
static int start_file(struct writer *writer)
{
	struct buffer front = { 0 };
	size_t written;
	int err;

	err = put_front(writer, &front);
	if (!err)
		err = file__append(&writer->file, front.data, front.len, &written);
	if (!err)
		err = put_names(writer, &writer->pending);
	buffer__free(&front);
	return err;
}

/* In a pipe, attrs and formats of late events come before their first sample. */
static int announce_late(struct writer *writer)
{
	struct buffer data = { 0 };
	const struct event_kind *kinds[ATTRS_MAX];
	size_t nr = attrs__select_others(attrs__late_bits(), kinds);
	int err = 0;

	writer->announced = true;
	for (size_t i = 0; i < features__nr_traced(&writer->features); i++)
		kinds[nr++] = &writer->features.traced[i];
	for (size_t i = 0; !err && i < nr; i++)
		err = put_pipe_attr(writer, kinds[i]);
	if (!err)
		err = tracing__encode(&data, writer->features.tracepoints);
	if (!err)
		err = encode__tracing_data(&writer->pending, data.data, data.len);
	buffer__free(&data);
	return err;
}

static int start_pipe(struct writer *writer)
{
	struct layout_pipe_header header = { .magic = LAYOUT_MAGIC, .size = sizeof(header) };
	size_t written;
	int err;

	writer->data_offset = sizeof(header);
	err = file__append(&writer->file, &header, sizeof(header), &written);
	if (!err)
		err = put_pipe_attrs(writer);
	/* In perf's order, which readers rely on. */
	if (!err)
		err = put_pipe_features(writer, FEATURE_AT_START);
	if (!err && features__nr_traced(&writer->features))
		err = announce_late(writer);
	if (!err)
		err = put_names(writer, &writer->pending);
	return err;
}

static void free_writer(struct writer *writer)
{
	buffer__free(&writer->pending);
	buffer__free(&writer->build_ids);
	first_sample__free(&writer->first);
	free(writer);
}

struct writer *writer__new(const struct writer_options *options, int *err)
{
	struct writer *writer = calloc(1, sizeof(*writer));

	if (!writer) {
		*err = -ENOMEM;
		return NULL;
	}
	writer->features = (struct features){
		.version = options->version,
		.argc = options->argc,
		.argv = options->argv,
		.cgroups = options->cgroups,
		.stack_bytes = options->stack_bytes,
		.events = options->events,
		.one_event = options->one_event,
		.event_name = options->event_name,
		.build_ids = &writer->build_ids,
	};
	features__set_tracepoints(&writer->features, options->tracepoints);
	features__read_host(&writer->features);
	*err = file__open(&writer->file, options->path);
	if (*err)
		goto out;
	writer->perhaps = options->perhaps;
	/* A pipe gets them right before their first samples, a file at its end. */
	if (writer->file.pipe) {
		writer->features.events &= ~attrs__late_bits();
		writer->perhaps &= ~attrs__late_bits();
	}
	writer->features.late = writer->features.events & attrs__late_bits();
	*err = writer->file.pipe ? start_pipe(writer) : start_file(writer);
	if (!*err)
		*err = writer__flush(writer);
	if (!*err)
		return writer;
	/* An older recording gets its name back: it is worth more than one that only began. */
	file__discard(&writer->file);
out:
	free_writer(writer);
	return NULL;
}

/* Ends each record: keeps errors, and bounds memory. */
static int finish_record(struct writer *writer, int err)
{
	if (err)
		return remember(writer, err);
	return writer->pending.len < PENDING_MAX ? 0 : writer__flush(writer);
}

/* SAMPLE_TIME covers the samples of all events. */
static void note_time(struct writer *writer, uint64_t time)
{
	struct features *features = &writer->features;

	if (!features->last_ns || time < features->first_ns)
		features->first_ns = time;
	if (time > features->last_ns)
		features->last_ns = time;
}

/* Adds the event to the header, for readers of a file that is never finished. */
static int show(struct writer *writer, const struct event_kind *kind)
{
	struct layout_header header;

	for (size_t i = writer->nr_shown; i < writer->nr_front; i++) {
		if (writer->front[i] == kind)
			writer->nr_shown = i + 1;
	}
	header = make_header(writer);
	return file__rewrite(&writer->file, &header.attrs, sizeof(header.attrs),
			     offsetof(struct layout_header, attrs));
}

/* Announces an event of perhaps at its first sample. */
static int announce(struct writer *writer, const struct event_kind *kind)
{
	int err = writer->file.pipe ? put_pipe_attr(writer, kind) : show(writer, kind);

	writer->features.events |= 1ULL << kind->id;
	return err ? err : encode__event_name(&writer->pending, kind->id, kind->name);
}

/* In a file of one event, its kind is a frame. */
static int write_as_frame(struct writer *writer, enum writer_event event,
			  const struct sample *sample)
{
	uint64_t root = time_kind__address(time_kind__of(event, sample));
	int err = encode__rooted_sample(&writer->pending, WRITER_OFFCPU_TIME,
					writer->features.cgroups, root, sample);

	if (!err)
		note_time(writer, sample->time);
	return finish_record(writer, err);
}

int writer__sample(struct writer *writer, enum writer_event event, const struct sample *sample)
{
	const struct event_kind *kind = attrs__kind(event);
	struct features *features = &writer->features;
	int err = 0;

	if (writer->error)
		return writer->error;
	if (kind && features->one_event)
		return write_as_frame(writer, event, sample);
	if (!kind || (event != WRITER_OFFCPU_TIME &&
		      !((features->events | writer->perhaps) & 1ULL << event)))
		return -EINVAL;
	if (writer->perhaps & ~features->events & 1ULL << event)
		err = announce(writer, kind);
	if (err)
		return remember(writer, err);
	err = features->stack_bytes ?
		      encode__stack_sample(&writer->pending, event, features->cgroups, sample) :
		      encode__sample(&writer->pending, event, features->cgroups, sample);
	if (!err) {
		note_time(writer, sample->time);
		err = first_sample__note(&writer->first, event == WRITER_OFFCPU_TIME, sample,
					 features->cgroups, features->stack_bytes);
	}
	return finish_record(writer, err);
}

/* Appends the sample with its common fields in front. */
static int put_trace(struct writer *writer, const struct event_kind *kind,
		     const struct writer_trace *trace)
{
	struct sample sample = {
		.time = trace->time,
		.period = trace->period,
		.pid = trace->pid,
		.tid = trace->tid,
		.cpu = trace->cpu,
		.kernel = { .ips = &trace->ip, .nr = trace->ip != 0 },
	};
	struct tracing_common common = { .type = (uint16_t)kind->config,
					 .pid = (int32_t)trace->tid };
	struct buffer raw = { 0 };
	int err;

	err = buffer__append(&raw, &common, sizeof(common));
	if (!err)
		err = buffer__append(&raw, trace->fields, trace->size);
	if (!err)
		err = encode__raw_sample(&writer->pending, kind->id, writer->features.cgroups,
					 &sample, raw.data, raw.len);
	if (!err) {
		note_time(writer, trace->time);
		first_sample__note_time(&writer->first, trace->time);
	}
	buffer__free(&raw);
	return err;
}

int writer__trace(struct writer *writer, enum writer_event event, const struct writer_trace *trace)
{
	const struct event_kind *kind = attrs__late_kind(event);
	const struct tracing_event *format = kind ? tracing__event(kind->config) : NULL;
	int err = 0;

	if (writer->error)
		return writer->error;
	if (!format || trace->size + sizeof(struct tracing_common) != tracing_event__size(format))
		return -EINVAL;
	if (writer->file.pipe && !writer->announced)
		err = announce_late(writer);
	if (writer->perhaps & ~writer->features.late & 1ULL << event)
		err = show(writer, kind);
	writer->features.late |= 1ULL << event;
	return finish_record(writer, err ? err : put_trace(writer, kind, trace));
}

int writer__hit(struct writer *writer, uint16_t id, const struct sample *sample, const void *data,
		size_t size)
{
	const struct features *features = &writer->features;
	size_t i = 0;
	int err;

	if (writer->error)
		return writer->error;
	while (i < features__nr_traced(features) && features->traced[i].config != id)
		i++;
	if (i == features__nr_traced(features))
		return -EINVAL;
	err = encode__raw_sample(&writer->pending, features->traced[i].id, features->cgroups,
				 sample, data, size);
	if (!err) {
		note_time(writer, sample->time);
		first_sample__note_time(&writer->first, sample->time);
	}
	return finish_record(writer, err);
}

int writer__task_event(struct writer *writer, const struct task_event *event)
{
	int err;

	if (writer->error)
		return writer->error;
	err = encode__task_event(&writer->pending, sideband_id(), event);
	/* An event without a record is the sender's error: the file goes on. */
	return err == -EINVAL ? err : finish_record(writer, err);
}

int writer__lost(struct writer *writer, uint64_t records, uint64_t time, uint32_t cpu)
{
	if (writer->error)
		return writer->error;
	return finish_record(writer,
			     encode__lost(&writer->pending, sideband_id(), records, time, cpu));
}

int writer__finished_round(struct writer *writer)
{
	int err;

	if (writer->error)
		return writer->error;
	err = first_sample__round(&writer->first, false, &writer->pending);
	return finish_record(writer, err ? err : encode__finished_round(&writer->pending));
}

int writer__build_id(struct writer *writer, bool kernel, const char *path, const unsigned char *id,
		     size_t len)
{
	struct buffer *out = writer->file.pipe ? &writer->pending : &writer->build_ids;
	int err;

	if (writer->error)
		return writer->error;
	err = encode__build_id(out, kernel, path, id, len);
	return err == -EINVAL ? err : finish_record(writer, err);
}

uint64_t writer__bytes(const struct writer *writer)
{
	return writer->data_offset + writer->data_size + writer->pending.len;
}

/*
 * Features lie behind the data, so the header that announces them is written last, at once: if the
 * process dies before, the file lacks features but is intact.
 */
static int write_features(struct writer *writer)
{
	struct layout_header header;
	struct buffer out = { 0 };
	size_t written;
	int err;

	err = take_back_features(writer);
	if (!err)
		err = encode_features(writer, &out, &header);
	if (!err)
		err = file__append(&writer->file, out.data, out.len, &written);
	if (!err)
		err = file__rewrite(&writer->file, &header, sizeof(header), 0);
	/* A part of the features is of no use. */
	if (err)
		file__truncate(&writer->file, end_of_data(writer));
	buffer__free(&out);
	return err;
}

void writer__note(struct writer *writer, const char *note)
{
	snprintf(writer->features.note, sizeof(writer->features.note), "%s", note);
}

void writer__hurry(struct writer *writer)
{
	writer->file.ending = true;
}

bool writer__has_name(const struct writer *writer)
{
	return file__has_name(&writer->file);
}

int writer__close(struct writer *writer)
{
	int err, close_err;

	if (!writer)
		return 0;
	if (!writer->error)
		remember(writer, first_sample__round(&writer->first, true, &writer->pending));
	if (writer->file.pipe && !writer->error)
		remember(writer, put_pipe_features(writer, FEATURE_AT_END));
	writer__flush(writer);
	if (!writer->file.pipe) {
		/* Cuts off the partial record of a failed write: the features may then fit. */
		if (writer->error)
			file__truncate(&writer->file, writer->data_offset + writer->data_size);
		remember(writer, write_features(writer));
	}
	err = writer->error;
	close_err = file__close(&writer->file);
	free_writer(writer);
	return err ? err : close_err;
}

void writer__discard(struct writer *writer)
{
	if (!writer)
		return;
	file__discard(&writer->file);
	free_writer(writer);
}
