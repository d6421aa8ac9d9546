/* SPDX-License-Identifier: GPL-2.0-only */
/* pprof's format, read back by a decoder that accepts nothing else. */
#include "output/pprof/pprof.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buffer.h"
#include "common/example_profile.h"
#include "common/harness.h"
#include "output/pprof/protobuf.h"

#define MAX_TEXTS 64
#define NR_VALUES 5

struct bytes {
	const unsigned char *at, *end;
};

struct field {
	unsigned int number;
	uint64_t value; /* of a number */
	struct bytes bytes;
	bool is_bytes;
};

/* Fields that the decoder found, and whether all of them are valid. */
struct decoded {
	bool bad;
	struct bytes texts[MAX_TEXTS];
	size_t nr_texts, nr_types, nr_samples, nr_functions, nr_locations;
	uint64_t sums[NR_VALUES];
	uint64_t default_type;
	uint64_t max_location, max_text;
};

static uint64_t take_varint(struct decoded *decoded, struct bytes *bytes)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; bytes->at < bytes->end && shift < 64; shift += 7) {
		value |= (uint64_t)(*bytes->at & 0x7f) << shift;
		if (!(*bytes->at++ & 0x80))
			return value;
	}
	decoded->bad = true;
	bytes->at = bytes->end;
	return 0;
}

static struct field take_field(struct decoded *decoded, struct bytes *bytes)
{
	uint64_t key = take_varint(decoded, bytes);
	struct field field = { .number = (unsigned int)(key >> 3), .is_bytes = (key & 7) == 2 };

	decoded->bad |= (key & 7) != 0 && !field.is_bytes;
	field.value = take_varint(decoded, bytes);
	if (!field.is_bytes)
		return field;
	if (field.value > (uint64_t)(bytes->end - bytes->at)) {
		decoded->bad = true;
		bytes->at = bytes->end;
		return field;
	}
	field.bytes = (struct bytes){ bytes->at, bytes->at + field.value };
	bytes->at += field.value;
	return field;
}

static void see_text(struct decoded *decoded, uint64_t index)
{
	if (index > decoded->max_text)
		decoded->max_text = index;
}

/* A message whose fields 1 to nr are numbers, texts those of the bits. */
static uint64_t read_numbers(struct decoded *decoded, struct bytes bytes, unsigned int nr,
			     unsigned int texts)
{
	uint64_t first = 0;

	while (bytes.at < bytes.end) {
		struct field field = take_field(decoded, &bytes);

		decoded->bad |= field.is_bytes || !field.number || field.number > nr;
		if (texts >> field.number & 1)
			see_text(decoded, field.value);
		if (field.number == 1)
			first = field.value;
	}
	return first;
}

static void read_sample(struct decoded *decoded, struct bytes bytes)
{
	while (bytes.at < bytes.end) {
		struct field field = take_field(decoded, &bytes);
		size_t nr = 0;

		decoded->bad |= !field.is_bytes || field.number < 1 || field.number > 3;
		if (field.number == 3)
			read_numbers(decoded, field.bytes, 3, 1 << 1 | 1 << 2);
		for (; field.number < 3 && field.bytes.at < field.bytes.end; nr++) {
			uint64_t value = take_varint(decoded, &field.bytes);

			if (field.number == 1 && value > decoded->max_location)
				decoded->max_location = value;
			if (field.number == 2 && nr < NR_VALUES)
				decoded->sums[nr] += value;
		}
		decoded->bad |= field.number == 2 && nr != NR_VALUES;
	}
	decoded->nr_samples++;
}

static void read_location(struct decoded *decoded, struct bytes bytes)
{
	struct field id = take_field(decoded, &bytes), line = take_field(decoded, &bytes);

	decoded->bad |= bytes.at != bytes.end || id.number != 1 || line.number != 4;
	decoded->bad |= id.value != ++decoded->nr_locations;
	decoded->bad |= read_numbers(decoded, line.bytes, 1, 0) != id.value;
}

static void read_profile(struct decoded *decoded, struct bytes bytes)
{
	while (bytes.at < bytes.end && !decoded->bad) {
		struct field field = take_field(decoded, &bytes);

		if (field.number == 1) {
			read_numbers(decoded, field.bytes, 2, 1 << 1 | 1 << 2);
			decoded->nr_types++;
		} else if (field.number == 2) {
			read_sample(decoded, field.bytes);
		} else if (field.number == 4) {
			read_location(decoded, field.bytes);
		} else if (field.number == 5) {
			decoded->bad |=
				read_numbers(decoded, field.bytes, 4, 1 << 2 | 1 << 3 | 1 << 4) !=
				++decoded->nr_functions;
		} else if (field.number == 6 && decoded->nr_texts < MAX_TEXTS) {
			decoded->texts[decoded->nr_texts++] = field.bytes;
		} else if (field.number == 14) {
			decoded->default_type = field.value;
		} else {
			decoded->bad = true;
		}
	}
}

static bool is_text(const struct decoded *decoded, uint64_t index, const char *text)
{
	const struct bytes *bytes = &decoded->texts[index];

	return index < decoded->nr_texts && (size_t)(bytes->end - bytes->at) == strlen(text) &&
	       !memcmp(bytes->at, text, strlen(text));
}

static bool has_text(const struct decoded *decoded, const char *text)
{
	size_t nr = 0;

	for (size_t i = 0; i < decoded->nr_texts; i++)
		nr += is_text(decoded, i, text);
	return nr == 1;
}

/* gzip, and nothing behind it. */
static size_t unpack(const char *data, size_t size, unsigned char *out, size_t out_size)
{
	z_stream stream = { .next_in = (Bytef *)(uintptr_t)data,
			    .avail_in = (uInt)size,
			    .next_out = out,
			    .avail_out = (uInt)out_size };
	int ret = inflateInit2(&stream, MAX_WBITS + 16);

	if (ret == Z_OK)
		ret = inflate(&stream, Z_FINISH);
	inflateEnd(&stream);
	return ret == Z_STREAM_END && !stream.avail_in ? out_size - stream.avail_out : 0;
}

TEST(a_profile_is_read_back)
{
	struct example_profile example = { 0 };
	struct decoded decoded = { 0 };
	unsigned char raw[16384];
	size_t size;
	char *text;

	ASSERT_EQ(0, example_profile__make(&example));
	text = example_profile__print(&example, pprof__write, &size);
	ASSERT_NE(NULL, text);
	size = unpack(text, size, raw, sizeof(raw));
	ASSERT_LT(0, size);
	read_profile(&decoded, (struct bytes){ raw, raw + size });
	EXPECT_FALSE(decoded.bad);
	EXPECT_EQ(NR_VALUES, decoded.nr_types);
	EXPECT_EQ(6, decoded.nr_samples);
	EXPECT_EQ(150 + 9007199254740993, decoded.sums[0]);
	EXPECT_EQ(8, decoded.sums[1]);
	EXPECT_EQ(5, decoded.sums[2]);
	EXPECT_EQ(6, decoded.sums[3]);
	EXPECT_EQ(7, decoded.sums[4]);
	EXPECT_TRUE(is_text(&decoded, 0, ""));
	EXPECT_TRUE(is_text(&decoded, decoded.default_type, "off_cpu"));
	EXPECT_TRUE(has_text(&decoded, "read<\"char\">"));
	EXPECT_TRUE(has_text(&decoded, "wor ker"));
	EXPECT_TRUE(has_text(&decoded, "file /x (read)"));
	EXPECT_GT(decoded.nr_texts, decoded.max_text);
	EXPECT_EQ(decoded.nr_locations, decoded.nr_functions);
	EXPECT_GE(decoded.nr_locations, decoded.max_location);
	free(text);
	example_profile__free(&example);
}

TEST(numbers_of_all_lengths)
{
	struct buffer message = { 0 };

	ASSERT_EQ(0, protobuf__number(&message, 1, 0, 0));
	ASSERT_EQ(0, protobuf__number(&message, 16, 300, 0));
	ASSERT_EQ(0, protobuf__varint(&message, UINT64_MAX, 0));
	ASSERT_EQ(16, message.len);
	EXPECT_EQ(0, memcmp(message.data,
			    "\x08\x00\x80\x01\xac\x02"
			    "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
			    16));
	EXPECT_EQ(-1, protobuf__text(&message, 1, "x", -1));
	buffer__free(&message);
}

TEST_HARNESS_MAIN
