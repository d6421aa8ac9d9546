/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/perfdata/features.h"

#include <stdlib.h>
#include <sys/utsname.h>

#include "common/bytes.h"
#include "common/harness.h"
#include "output/perfdata/encode.h"

FIXTURE(features)
{
	struct buffer out;
	struct features all;
	struct buffer build_ids;
};

static const char *const argv[] = { "denet-record", "-a" };

FIXTURE_SETUP(features)
{
	self->out = (struct buffer){ 0 };
	self->build_ids = (struct buffer){ 0 };
	ASSERT_EQ(0, encode__build_id(&self->build_ids, false, "/bin/a",
				      (const unsigned char *)"0123456789abcdef", 16));
	self->all = (struct features){
		.hostname = "h",
		.release = "6.1",
		.machine = "x86_64",
		.cpudesc = "CPU",
		.version = "0.1",
		.cpus_online = 2,
		.cpus_avail = 4,
		.total_mem_kb = 1024,
		.argc = 2,
		.argv = argv,
		.clockid = 1,
		.clock_resolution_ns = 1,
		.clock_ns = 5,
		.realtime_ns = 6,
		.first_ns = 7,
		.last_ns = 8,
		.build_ids = &self->build_ids,
	};
}

FIXTURE_TEARDOWN(features)
{
	buffer__free(&self->out);
	buffer__free(&self->build_ids);
}

static int encode(struct buffer *out, enum layout_feature bit, const struct features *features)
{
	size_t nr;
	const struct feature_kind *kinds = features__kinds(&nr);

	out->len = 0;
	for (size_t i = 0; i < nr; i++) {
		if (kinds[i].bit == bit)
			return feature_kind__encode(&kinds[i], out, features);
	}
	return -1;
}

TEST_F(features, strings_are_length_text_and_padding_to_64)
{
	const enum layout_feature bits[] = { LAYOUT_FEATURE_HOSTNAME, LAYOUT_FEATURE_OSRELEASE,
					     LAYOUT_FEATURE_VERSION, LAYOUT_FEATURE_ARCH,
					     LAYOUT_FEATURE_CPUDESC };
	const char *const texts[] = { "h", "6.1", "0.1", "x86_64", "CPU" };

	for (size_t i = 0; i < 5; i++) {
		ASSERT_EQ(1, encode(&self->out, bits[i], &self->all));
		EXPECT_EQ(68, self->out.len);
		EXPECT_EQ(64, bytes__u64(self->out.data, 0) & 0xffffffff);
		EXPECT_STREQ(texts[i], self->out.data + 4);
	}
}

/* 63 bytes and a NUL fill the first 64; one more byte takes another 64. */
TEST_F(features, string_always_has_room_for_its_nul)
{
	memset(self->all.hostname, 'x', 63);
	ASSERT_EQ(1, encode(&self->out, LAYOUT_FEATURE_HOSTNAME, &self->all));
	EXPECT_EQ(68, self->out.len);
	memset(self->all.hostname, 'x', 64);
	ASSERT_EQ(1, encode(&self->out, LAYOUT_FEATURE_HOSTNAME, &self->all));
	EXPECT_EQ(132, self->out.len);
	EXPECT_EQ(64, strlen(self->out.data + 4));
}

TEST_F(features, numbers_golden)
{
	ASSERT_EQ(1, encode(&self->out, LAYOUT_FEATURE_NRCPUS, &self->all));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len, "0400000002000000"));
	ASSERT_EQ(1, encode(&self->out, LAYOUT_FEATURE_TOTAL_MEM, &self->all));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len, "0004000000000000"));
	ASSERT_EQ(1, encode(&self->out, LAYOUT_FEATURE_SAMPLE_TIME, &self->all));
	EXPECT_TRUE(
		bytes__equal(self->out.data, self->out.len, "0700000000000000 0800000000000000"));
	ASSERT_EQ(1, encode(&self->out, LAYOUT_FEATURE_CLOCKID, &self->all));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len, "0100000000000000"));
	ASSERT_EQ(1, encode(&self->out, LAYOUT_FEATURE_CLOCK_DATA, &self->all));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len,
				 "0100000001000000 0600000000000000 0500000000000000"));
}

TEST_F(features, command_line_is_a_count_and_strings)
{
	ASSERT_EQ(1, encode(&self->out, LAYOUT_FEATURE_CMDLINE, &self->all));
	ASSERT_EQ(4 + 2 * 68, self->out.len);
	EXPECT_EQ(2, bytes__u64(self->out.data, 0) & 0xffffffff);
	EXPECT_STREQ("denet-record", self->out.data + 8);
	EXPECT_STREQ("-a", self->out.data + 76);
}

TEST_F(features, endless_command_line_is_cut_to_fit_a_record)
{
	const char *many[2000];

	for (int i = 0; i < 2000; i++)
		many[i] = "argument";
	self->all.argv = many;
	self->all.argc = 2000;
	ASSERT_EQ(1, encode(&self->out, LAYOUT_FEATURE_CMDLINE, &self->all));
	EXPECT_EQ(32768 / 68, bytes__u64(self->out.data, 0) & 0xffffffff);
	EXPECT_EQ(4 + 32768 / 68 * 68, self->out.len);
}

TEST_F(features, event_desc_holds_attr_name_and_id)
{
	ASSERT_EQ(1, encode(&self->out, LAYOUT_FEATURE_EVENT_DESC, &self->all));
	ASSERT_EQ(8 + 112 + 4 + 68 + 8, self->out.len);
	EXPECT_EQ(0x7000000001ULL, bytes__u64(self->out.data, 0));
	EXPECT_EQ(1, bytes__u64(self->out.data, 120) & 0xffffffff);
	EXPECT_STREQ("offcpu-time", self->out.data + 128);
	EXPECT_EQ(1, bytes__u64(self->out.data, 192));
}

TEST_F(features, what_is_not_known_is_not_written)
{
	const struct features nothing = { 0 };
	size_t nr;
	const struct feature_kind *kinds = features__kinds(&nr);

	for (size_t i = 0; i < nr; i++) {
		if (kinds[i].bit == LAYOUT_FEATURE_EVENT_DESC)
			continue;
		EXPECT_EQ(0, feature_kind__encode(&kinds[i], &self->out, &nothing));
		EXPECT_EQ(0, self->out.len);
	}
}

TEST_F(features, sections_stand_in_the_order_of_bits_behind_the_room_without_gaps)
{
	uint64_t bits[LAYOUT_FEATURE_BITS / 64];
	uint64_t expected;
	size_t nr;
	const struct feature_kind *kinds = features__kinds(&nr);
	const uint64_t offset = 1000;
	struct layout_section room = { .size = 24 };

	self->all.late = true;
	ASSERT_EQ(0, features__encode(&self->out, &self->all, offset, &room, bits));
	EXPECT_EQ(offset + nr * 16, room.offset);
	expected = room.offset + room.size;
	for (size_t i = 0; i < nr; i++) {
		EXPECT_TRUE(bits[0] >> kinds[i].bit & 1);
		if (i)
			EXPECT_LT(kinds[i - 1].bit, kinds[i].bit);
		EXPECT_EQ(expected, bytes__u64(self->out.data, i * 16));
		expected += bytes__u64(self->out.data, i * 16 + 8);
	}
	EXPECT_EQ(expected, offset + self->out.len);
	EXPECT_EQ(nr, (size_t)__builtin_popcountll(bits[0]));
	EXPECT_EQ(0, bits[1] | bits[2] | bits[3]);
	/* TRACING_DATA comes first: 23 8 68 "t". */
	EXPECT_EQ(0x74440817, bytes__u64(self->out.data, nr * 16 + 24) & 0xffffffff);
}

TEST_F(features, host_tells_what_uname_and_proc_say)
{
	struct features host = { 0 };
	struct utsname name;

	ASSERT_EQ(0, uname(&name));
	features__read_host(&host);
	EXPECT_STREQ(name.nodename, host.hostname);
	EXPECT_STREQ(name.release, host.release);
	EXPECT_STREQ(name.machine, host.machine);
	EXPECT_LT(0, host.cpus_online);
	EXPECT_LE(host.cpus_online, host.cpus_avail);
	EXPECT_LT(1024, host.total_mem_kb);
	EXPECT_LT(0, host.clock_ns);
	EXPECT_LT(host.clock_ns, host.realtime_ns);
	EXPECT_NE(' ', host.cpudesc[0]);
}

TEST_HARNESS_MAIN
