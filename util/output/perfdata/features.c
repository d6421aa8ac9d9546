/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/perfdata/features.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "output/perfdata/attrs.h"
#include "output/perfdata/tracing.h"

/* Strings are padded to this many bytes, as perf pads them. */
#define STRING_ALIGN 64
/* A feature must fit into a record of the pipe; a longer command line is cut. */
#define CMDLINE_MAX 32768

static size_t string_room(const char *text)
{
	return (strlen(text) + STRING_ALIGN) / STRING_ALIGN * STRING_ALIGN;
}

/* A string: u32 length of the padded text, then the text with NUL, padded with zeros. */
static int put_string(struct buffer *out, const char *text)
{
	size_t room = string_room(text);
	char *at;
	int err;

	err = buffer__append_u32(out, (uint32_t)room);
	if (err)
		return err;
	at = buffer__reserve(out, room);
	if (!at)
		return -ENOMEM;
	memset(at, 0, room);
	memcpy(at, text, strlen(text));
	out->len += room;
	return 0;
}

static int encode_known_string(struct buffer *out, const char *text)
{
	return text && *text ? put_string(out, text) : 0;
}

static int encode_tracing_data(struct buffer *out, const struct features *features)
{
	return features->late || features__nr_traced(features) ?
		       tracing__encode(out, features->tracepoints) :
		       0;
}

static int encode_build_ids(struct buffer *out, const struct features *features)
{
	if (!features->build_ids)
		return 0;
	return buffer__append(out, features->build_ids->data, features->build_ids->len);
}

static int encode_hostname(struct buffer *out, const struct features *features)
{
	return encode_known_string(out, features->hostname);
}

static int encode_release(struct buffer *out, const struct features *features)
{
	return encode_known_string(out, features->release);
}

static int encode_version(struct buffer *out, const struct features *features)
{
	char text[256];

	if (!features->version || !*features->note)
		return encode_known_string(out, features->version);
	snprintf(text, sizeof(text), "%s (%s)", features->version, features->note);
	return put_string(out, text);
}

static int encode_arch(struct buffer *out, const struct features *features)
{
	return encode_known_string(out, features->machine);
}

static int encode_cpus(struct buffer *out, const struct features *features)
{
	int err;

	if (!features->cpus_avail)
		return 0;
	err = buffer__append_u32(out, features->cpus_avail);
	return err ? err : buffer__append_u32(out, features->cpus_online);
}

static int encode_cpudesc(struct buffer *out, const struct features *features)
{
	return encode_known_string(out, features->cpudesc);
}

static int encode_total_mem(struct buffer *out, const struct features *features)
{
	return features->total_mem_kb ? buffer__append_u64(out, features->total_mem_kb) : 0;
}

/* Number of leading arguments that fit into CMDLINE_MAX. */
static int arguments_that_fit(const struct features *features)
{
	size_t bytes = 0;
	int nr = 0;

	while (nr < features->argc) {
		bytes += sizeof(uint32_t) + string_room(features->argv[nr]);
		if (bytes > CMDLINE_MAX)
			break;
		nr++;
	}
	return nr;
}

static int encode_cmdline(struct buffer *out, const struct features *features)
{
	int nr = arguments_that_fit(features);
	int err;

	if (!nr)
		return 0;
	err = buffer__append_u32(out, (uint32_t)nr);
	for (int i = 0; !err && i < nr; i++)
		err = put_string(out, features->argv[i]);
	return err;
}

void features__set_tracepoints(struct features *features, const struct tracepoint_list *list)
{
	features->tracepoints = list;
	for (size_t i = 0; list && i < list->nr; i++)
		features->traced[i] = (struct event_kind){
			.id = ATTRS_FIRST_TRACED + i,
			.name = list->all[i].name,
			.type = PERF_TYPE_TRACEPOINT,
			.config = list->all[i].id,
			.sample_extra = PERF_SAMPLE_RAW,
		};
}

size_t features__nr_traced(const struct features *features)
{
	return features->tracepoints ? features->tracepoints->nr : 0;
}

size_t features__select(const struct features *features, uint64_t events,
			const struct event_kind *kinds[])
{
	size_t nr = attrs__select(events, kinds);

	for (size_t i = 0; i < features__nr_traced(features); i++)
		kinds[nr++] = &features->traced[i];
	return nr;
}

const char *features__event_name(const struct features *features, const struct event_kind *kind)
{
	if (!features->one_event)
		return kind->name;
	return features->event_name ? features->event_name : "wall-time";
}

static int put_event_desc(struct buffer *out, const struct event_kind *kind,
			  const struct features *features)
{
	unsigned char attr[LAYOUT_ATTR_SIZE];
	int err;

	attrs__fill(kind, features->cgroups, features->stack_bytes, attr);
	err = buffer__append(out, attr, sizeof(attr));
	if (!err)
		err = buffer__append_u32(out, 1); /* ids */
	if (!err)
		err = put_string(out, features__event_name(features, kind));
	if (!err)
		err = buffer__append_u64(out, kind->id);
	return err;
}

static int encode_event_desc(struct buffer *out, const struct features *features)
{
	const struct event_kind *kinds[ATTRS_MAX];
	size_t nr = features__select(features, features->events | features->late, kinds);
	int err;

	err = buffer__append_u32(out, (uint32_t)nr);
	if (!err)
		err = buffer__append_u32(out, LAYOUT_ATTR_SIZE);
	for (size_t i = 0; !err && i < nr; i++)
		err = put_event_desc(out, kinds[i], features);
	return err;
}

static int encode_sample_time(struct buffer *out, const struct features *features)
{
	int err;

	if (!features->first_ns && !features->last_ns)
		return 0;
	err = buffer__append_u64(out, features->first_ns);
	return err ? err : buffer__append_u64(out, features->last_ns);
}

static int encode_clockid(struct buffer *out, const struct features *features)
{
	if (!features->clock_resolution_ns)
		return 0;
	return buffer__append_u64(out, features->clock_resolution_ns);
}

static int encode_clock_data(struct buffer *out, const struct features *features)
{
	int err;

	if (!features->realtime_ns)
		return 0;
	err = buffer__append_u32(out, 1); /* version of this feature */
	if (!err)
		err = buffer__append_u32(out, features->clockid);
	if (!err)
		err = buffer__append_u64(out, features->realtime_ns);
	if (!err)
		err = buffer__append_u64(out, features->clock_ns);
	return err;
}

/* Ascending bits: readers find the sections by counting the bits that are set. */
static const struct feature_kind kinds[] = {
	{ LAYOUT_FEATURE_TRACING_DATA, FEATURE_AS_RECORDS, encode_tracing_data },
	{ LAYOUT_FEATURE_BUILD_ID, FEATURE_AS_RECORDS, encode_build_ids },
	{ LAYOUT_FEATURE_HOSTNAME, FEATURE_AT_START, encode_hostname },
	{ LAYOUT_FEATURE_OSRELEASE, FEATURE_AT_START, encode_release },
	{ LAYOUT_FEATURE_VERSION, FEATURE_AT_START, encode_version },
	{ LAYOUT_FEATURE_ARCH, FEATURE_AT_START, encode_arch },
	{ LAYOUT_FEATURE_NRCPUS, FEATURE_AT_START, encode_cpus },
	{ LAYOUT_FEATURE_CPUDESC, FEATURE_AT_START, encode_cpudesc },
	{ LAYOUT_FEATURE_TOTAL_MEM, FEATURE_AT_START, encode_total_mem },
	{ LAYOUT_FEATURE_CMDLINE, FEATURE_AT_START, encode_cmdline },
	{ LAYOUT_FEATURE_EVENT_DESC, FEATURE_AT_START, encode_event_desc },
	{ LAYOUT_FEATURE_SAMPLE_TIME, FEATURE_AT_END, encode_sample_time },
	{ LAYOUT_FEATURE_CLOCKID, FEATURE_AT_START, encode_clockid },
	{ LAYOUT_FEATURE_CLOCK_DATA, FEATURE_AT_START, encode_clock_data },
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

const struct feature_kind *features__kinds(size_t *nr)
{
	*nr = NR_KINDS;
	return kinds;
}

int feature_kind__encode(const struct feature_kind *kind, struct buffer *out,
			 const struct features *features)
{
	size_t before = out->len;
	int err = kind->encode(out, features);

	if (err) {
		out->len = before;
		return err;
	}
	return out->len > before;
}

static int put_zeros(struct buffer *out, size_t size)
{
	char *at = buffer__reserve(out, size);

	if (!at)
		return -ENOMEM;
	memset(at, 0, size);
	out->len += size;
	return 0;
}

int features__encode(struct buffer *out, const struct features *features, uint64_t offset,
		     struct layout_section *room, uint64_t bits[LAYOUT_FEATURE_BITS / 64])
{
	struct layout_section sections[NR_KINDS];
	struct buffer body = { 0 };
	size_t nr = 0;
	int ret = 0;

	memset(bits, 0, LAYOUT_FEATURE_BITS / 8);
	for (size_t i = 0; i < NR_KINDS; i++) {
		size_t before = body.len;

		ret = feature_kind__encode(&kinds[i], &body, features);
		if (ret < 0)
			goto out;
		if (!ret)
			continue;
		bits[kinds[i].bit / 64] |= 1ULL << (kinds[i].bit % 64);
		sections[nr++] =
			(struct layout_section){ .offset = before, .size = body.len - before };
	}
	/* The bodies follow the table, whose length is known only now, and the caller's room. */
	room->offset = offset + nr * sizeof(sections[0]);
	for (size_t i = 0; i < nr; i++)
		sections[i].offset += room->offset + room->size;
	ret = buffer__append(out, sections, nr * sizeof(sections[0]));
	if (!ret)
		ret = put_zeros(out, room->size);
	if (!ret)
		ret = buffer__append(out, body.data, body.len);
out:
	buffer__free(&body);
	return ret;
}
