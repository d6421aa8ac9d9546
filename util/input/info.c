/* SPDX-License-Identifier: GPL-2.0-only */
#include "input/info.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "input/record.h"

/* u32 size and the text in it; returns the text, NULL: it does not end there. */
static const char *take_string(const char **data, size_t *size)
{
	const char *text;
	uint32_t len;

	if (*size < sizeof(len))
		return NULL;
	memcpy(&len, *data, sizeof(len));
	text = *data + sizeof(len);
	if (len > *size - sizeof(len) || !memchr(text, '\0', len))
		return NULL;
	*data += sizeof(len) + len;
	*size -= sizeof(len) + len;
	return text;
}

static int take_name(char name[65], const char *data, size_t size)
{
	const char *text = take_string(&data, &size);

	if (!text)
		return -EINVAL;
	snprintf(name, 65, "%s", text);
	return 0;
}

static int take_cmdline(struct buffer *cmdline, const char *data, size_t size)
{
	const char *text;
	uint32_t nr;
	int err = 0;

	if (size < sizeof(nr))
		return -EINVAL;
	memcpy(&nr, data, sizeof(nr));
	data += sizeof(nr);
	size -= sizeof(nr);
	buffer__free(cmdline);
	for (; nr && !err; nr--) {
		text = take_string(&data, &size);
		err = text ? buffer__append(cmdline, text, strlen(text) + 1) : -EINVAL;
	}
	if (err)
		buffer__free(cmdline);
	return err;
}

/* u32 1; u32 clockid; u64 ns since 1970; u64 ns of the clock */
static int take_clock(struct input_info *info, const char *data, size_t size)
{
	uint32_t head[2];
	uint64_t times[2];

	if (size < sizeof(head) + sizeof(times))
		return -EINVAL;
	memcpy(head, data, sizeof(head));
	memcpy(times, data + sizeof(head), sizeof(times));
	if (head[0] != 1)
		return -EINVAL;
	info->realtime_ns = times[0];
	info->clock_ns = times[1];
	return 0;
}

static int take_build_ids(struct buffer *build_ids, const char *data, size_t size)
{
	struct perf_event_header header;
	const unsigned char *id;
	const char *path;
	size_t len;
	int err = 0;

	while (size && !err) {
		if (input_record__check(data, size, &header) || header.size % 8)
			return -EINVAL;
		if (!input_record__build_id(data, header.size, &id, &len, &path))
			err = buffer__append(build_ids, data, header.size);
		data += header.size;
		size -= header.size;
	}
	return err;
}

int input_info__wants(unsigned int feature)
{
	switch (feature) {
	case LAYOUT_FEATURE_BUILD_ID:
	case LAYOUT_FEATURE_HOSTNAME:
	case LAYOUT_FEATURE_OSRELEASE:
	case LAYOUT_FEATURE_VERSION:
	case LAYOUT_FEATURE_ARCH:
	case LAYOUT_FEATURE_CMDLINE:
	case LAYOUT_FEATURE_CLOCK_DATA:
		return 1;
	default:
		return 0;
	}
}

int input_info__take(struct input_info *info, unsigned int feature, const void *data, size_t size)
{
	switch (feature) {
	case LAYOUT_FEATURE_BUILD_ID:
		return take_build_ids(&info->build_ids, data, size);
	case LAYOUT_FEATURE_HOSTNAME:
		return take_name(info->hostname, data, size);
	case LAYOUT_FEATURE_OSRELEASE:
		return take_name(info->release, data, size);
	case LAYOUT_FEATURE_VERSION:
		return take_name(info->version, data, size);
	case LAYOUT_FEATURE_ARCH:
		return take_name(info->arch, data, size);
	case LAYOUT_FEATURE_CMDLINE:
		return take_cmdline(&info->cmdline, data, size);
	case LAYOUT_FEATURE_CLOCK_DATA:
		return take_clock(info, data, size);
	default:
		return 0;
	}
}

int input_info__each_build_id(const struct input_info *info,
			      int (*fn)(void *ctx, const char *path, const unsigned char *id,
					size_t len),
			      void *ctx)
{
	struct perf_event_header header;
	const unsigned char *id;
	const char *path;
	size_t len, at = 0;
	int err = 0;

	while (at < info->build_ids.len && !err) {
		const char *record = info->build_ids.data + at;

		memcpy(&header, record, sizeof(header));
		if (!input_record__build_id(record, header.size, &id, &len, &path))
			err = fn(ctx, path, id, len);
		at += header.size;
	}
	return err;
}

void input_info__free(struct input_info *info)
{
	buffer__free(&info->cmdline);
	buffer__free(&info->build_ids);
}
