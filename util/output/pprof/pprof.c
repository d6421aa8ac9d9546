/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/pprof/pprof.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buffer.h"
#include "base/idmap.h"
#include "base/strings.h"
#include "output/pprof/protobuf.h"

/* Numbers of the fields in profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_DEFAULT_TYPE = 14
};
enum { VALUE_TYPE = 1, VALUE_UNIT = 2 };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_TEXT = 2, LABEL_NUMBER = 3 };
enum { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4 };

/* The values of a sample, in this order. */
enum value { VALUE_OFF_CPU, VALUE_ON_CPU, VALUE_IDLE, VALUE_WAKEUP, VALUE_SAMPLES, NR_VALUES };

struct encoder {
	const struct profile *profile;
	struct buffer out;
	struct buffer message, inner; /* of a field that is being made, and of a field in it */
	struct strings texts;
	struct idmap indexes; /* of texts by their pointers, + 1 */
	struct buffer table;  /* the texts as fields */
	uint64_t nr_texts;
	uint32_t *labels;
};

/* The index of a text in the table. 0: it is "", or *err is set. */
static uint64_t text_index(struct encoder *encoder, const char *text, int *err)
{
	const char *kept = strings__get(&encoder->texts, text);
	uint64_t *index = kept ? idmap__get(&encoder->indexes, (uintptr_t)kept) : NULL;

	if (!index) {
		*err = -ENOMEM;
		return 0;
	}
	if (!*index) {
		*err = protobuf__text(&encoder->table, PROFILE_STRING, text, *err);
		*index = ++encoder->nr_texts;
	}
	return *index - 1;
}

static int put_message(struct encoder *encoder, unsigned int field, int err)
{
	err = protobuf__bytes(&encoder->out, field, encoder->message.data, encoder->message.len,
			      err);
	encoder->message.len = 0;
	return err;
}

static int put_types(struct encoder *encoder)
{
	static const char *const types[NR_VALUES] = { "off_cpu", "on_cpu", "idle", "wakeup",
						      "samples" };
	int err = 0;

	for (int i = 0; i < NR_VALUES; i++) {
		uint64_t type = text_index(encoder, types[i], &err);
		uint64_t unit =
			text_index(encoder, i == VALUE_SAMPLES ? "count" : "nanoseconds", &err);

		err = protobuf__number(&encoder->message, VALUE_TYPE, type, err);
		err = protobuf__number(&encoder->message, VALUE_UNIT, unit, err);
		err = put_message(encoder, PROFILE_SAMPLE_TYPE, err);
	}
	return protobuf__number(&encoder->out, PROFILE_DEFAULT_TYPE,
				text_index(encoder, types[VALUE_OFF_CPU], &err), err);
}

static int put_label(struct encoder *encoder, const char *key, const char *text, uint64_t number,
		     int err)
{
	uint64_t index = text_index(encoder, key, &err);

	encoder->inner.len = 0;
	err = protobuf__number(&encoder->inner, LABEL_KEY, index, err);
	if (text) {
		index = text_index(encoder, text, &err);
		err = protobuf__number(&encoder->inner, LABEL_TEXT, index, err);
	} else {
		err = protobuf__number(&encoder->inner, LABEL_NUMBER, number, err);
	}
	return protobuf__bytes(&encoder->message, SAMPLE_LABEL, encoder->inner.data,
			       encoder->inner.len, err);
}

static enum value value_of(enum profile_event event)
{
	switch (event) {
	case PROFILE_ONCPU:
		return VALUE_ON_CPU;
	case PROFILE_IDLE:
		return VALUE_IDLE;
	case PROFILE_WAKEUP:
		return VALUE_WAKEUP;
	default:
		return VALUE_OFF_CPU;
	}
}

static int put_values(struct encoder *encoder, const struct profile_entry *entry, int err)
{
	uint64_t values[NR_VALUES] = { [VALUE_SAMPLES] = entry->samples };

	values[value_of(entry->event)] = entry->ns;
	encoder->inner.len = 0;
	for (int i = 0; i < NR_VALUES; i++)
		err = protobuf__varint(&encoder->inner, values[i], err);
	return protobuf__bytes(&encoder->message, SAMPLE_VALUE, encoder->inner.data,
			       encoder->inner.len, err);
}

/* Locations are the labels of the profile, from 1 on. */
static int put_sample(struct encoder *encoder, const struct profile_entry *entry)
{
	size_t nr = profile__labels(encoder->profile, entry->stack, encoder->labels, SIZE_MAX);
	const char state[2] = { entry->state };
	int err = 0;

	encoder->inner.len = 0;
	for (size_t i = 0; i < nr; i++)
		err = protobuf__varint(&encoder->inner, encoder->labels[i] + 1ULL, err);
	err = protobuf__bytes(&encoder->message, SAMPLE_LOCATION, encoder->inner.data,
			      encoder->inner.len, err);
	err = put_values(encoder, entry, err);
	err = put_label(encoder, "thread", entry->comm, 0, err);
	err = put_label(encoder, "process", entry->process, 0, err);
	err = put_label(encoder, "state", state, 0, err);
	err = put_label(encoder, "event", profile_event__name(entry->event), 0, err);
	if (entry->wait)
		err = put_label(encoder, "wait", entry->wait, 0, err);
	err = put_label(encoder, "tid", NULL, entry->tid, err);
	err = put_label(encoder, "pid", NULL, entry->pid, err);
	return put_message(encoder, PROFILE_SAMPLE, err);
}

/* Each label is a function and a location in it. */
static int put_function(struct encoder *encoder, uint32_t number)
{
	const struct symbol_label *label = profile__label(encoder->profile, number);
	const uint64_t id = number + 1ULL;
	int err = 0;
	uint64_t name = text_index(encoder, label->name, &err);
	uint64_t file = text_index(encoder, label->place, &err);

	err = protobuf__number(&encoder->message, FUNCTION_ID, id, err);
	err = protobuf__number(&encoder->message, FUNCTION_NAME, name, err);
	err = protobuf__number(&encoder->message, FUNCTION_SYSTEM_NAME, name, err);
	err = protobuf__number(&encoder->message, FUNCTION_FILE, file, err);
	err = put_message(encoder, PROFILE_FUNCTION, err);
	encoder->inner.len = 0;
	err = protobuf__number(&encoder->inner, LINE_FUNCTION, id, err);
	err = protobuf__number(&encoder->message, LOCATION_ID, id, err);
	err = protobuf__bytes(&encoder->message, LOCATION_LINE, encoder->inner.data,
			      encoder->inner.len, err);
	return put_message(encoder, PROFILE_LOCATION, err);
}

static int encode(struct encoder *encoder)
{
	const struct profile_entry *entries;
	size_t nr, nr_labels = profile__nr_labels(encoder->profile);
	int err = 0;

	/* The first text is the empty one. */
	text_index(encoder, "", &err);
	if (!err)
		err = put_types(encoder);
	entries = profile__entries(encoder->profile, &nr);
	for (size_t i = 0; i < nr && !err; i++)
		err = put_sample(encoder, &entries[i]);
	for (size_t i = 0; i < nr_labels && !err; i++)
		err = put_function(encoder, (uint32_t)i);
	return err ? err : buffer__append(&encoder->out, encoder->table.data, encoder->table.len);
}

static int compress_to(const struct buffer *data, FILE *out)
{
	z_stream stream = { .next_in = (Bytef *)data->data, .avail_in = (uInt)data->len };
	unsigned char bytes[65536];
	int ret;

	/* 16 more than the window: gzip's header. */
	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	do {
		stream.next_out = bytes;
		stream.avail_out = sizeof(bytes);
		ret = deflate(&stream, Z_FINISH);
		fwrite(bytes, 1, sizeof(bytes) - stream.avail_out, out);
	} while (ret == Z_OK);
	deflateEnd(&stream);
	return ret == Z_STREAM_END && !ferror(out) ? 0 : -EIO;
}

int pprof__write(const struct profile *profile, FILE *out)
{
	struct encoder encoder = { .profile = profile };
	int err;

	encoder.labels = calloc(profile__depth(profile) + 1, sizeof(*encoder.labels));
	err = encoder.labels ? encode(&encoder) : -ENOMEM;
	if (!err && encoder.out.len > UINT32_MAX)
		err = -EFBIG;
	if (!err)
		err = compress_to(&encoder.out, out);
	free(encoder.labels);
	buffer__free(&encoder.out);
	buffer__free(&encoder.message);
	buffer__free(&encoder.inner);
	buffer__free(&encoder.table);
	strings__free(&encoder.texts);
	idmap__free(&encoder.indexes);
	return err;
}
