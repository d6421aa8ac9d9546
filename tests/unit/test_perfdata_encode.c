/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/perfdata/encode.h"

#include <errno.h>

#include "common/bytes.h"
#include "common/harness.h"
#include "output/perfdata/time_kind.h"

/* The dumps are those of a little-endian machine, as all are that we run on. */

static const uint64_t kernel_ips[] = { 0xffffffff81000010, 0xffffffff81000020 };
static const uint64_t user_ips[] = { 0x401000, 0x402000 };

/* Each register is its DWARF number. */
static const uint64_t regs[] = { 0,  1,	 2,  3,	 4,  5,	 6,  7,	 8,  9,	 10, 11, 12, 13, 14, 15, 16,
				 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32 };

#ifdef __aarch64__
#define SIZE_WITH_REGS "a001"
#define REGS_IN_ORDER \
	"0000000000000000 0100000000000000 0200000000000000 " \
	"0300000000000000 0400000000000000 0500000000000000 " \
	"0600000000000000 0700000000000000 0800000000000000 " \
	"0900000000000000 0a00000000000000 0b00000000000000 " \
	"0c00000000000000 0d00000000000000 0e00000000000000 " \
	"0f00000000000000 1000000000000000 1100000000000000 " \
	"1200000000000000 1300000000000000 1400000000000000 " \
	"1500000000000000 1600000000000000 1700000000000000 " \
	"1800000000000000 1900000000000000 1a00000000000000 " \
	"1b00000000000000 1c00000000000000 1d00000000000000 " \
	"1e00000000000000 1f00000000000000 2000000000000000 "
#else
#define SIZE_WITH_REGS "2001"
#define REGS_IN_ORDER \
	"0000000000000000 0300000000000000 0200000000000000 " \
	"0100000000000000 0400000000000000 0500000000000000 " \
	"0600000000000000 0700000000000000 1000000000000000 " \
	"0800000000000000 0900000000000000 0a00000000000000 " \
	"0b00000000000000 0c00000000000000 0d00000000000000 " \
	"0e00000000000000 0f00000000000000 "
#endif

FIXTURE(encode)
{
	struct buffer out;
	struct sample sample;
};

FIXTURE_SETUP(encode)
{
	self->out = (struct buffer){ 0 };
	self->sample = (struct sample){
		.time = 0x1122334455667788,
		.period = 5000,
		.count = 1,
		.state = 'S',
		.cgroup = 0x2a,
		.pid = 100,
		.tid = 101,
		.cpu = 3,
		.kernel = { .ips = kernel_ips, .nr = 2 },
		.user = { .ips = user_ips, .nr = 2 },
	};
}

FIXTURE_TEARDOWN(encode)
{
	buffer__free(&self->out);
}

TEST_F(encode, sample_of_both_sides_starts_in_the_kernel)
{
	ASSERT_EQ(0, encode__sample(&self->out, 1, false, &self->sample));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len,
				 "0900000001008000 0100000000000000 "
				 "10000081ffffffff 6400000065000000 "
				 "8877665544332211 0300000000000000 "
				 "8813000000000000 0600000000000000 "
				 "80ffffffffffffff 10000081ffffffff "
				 "20000081ffffffff 00feffffffffffff "
				 "0010400000000000 0020400000000000 "
				 "0100000000000000 0400000053000000"));
}

TEST_F(encode, registers_and_stack_stand_behind_the_chain_in_the_order_of_perf)
{
	static const unsigned char stack[16] = { 0xa0, 0xa1, [15] = 0xaf };
	struct user_copy copy = { regs, stack, sizeof(stack) };

	self->sample.copy = &copy;
	ASSERT_EQ(0, encode__stack_sample(&self->out, 1, true, &self->sample));
	/* The kernel frames only: perf puts the user frames that it unwinds behind them. */
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len,
				 "090000000100" SIZE_WITH_REGS " 0100000000000000 "
				 "10000081ffffffff 6400000065000000 "
				 "8877665544332211 0300000000000000 "
				 "8813000000000000 0300000000000000 "
				 "80ffffffffffffff 10000081ffffffff 20000081ffffffff "
				 "0200000000000000 "
				 REGS_IN_ORDER
				 "1000000000000000 a0a1000000000000 00000000000000af "
				 "1000000000000000 "
				 "0100000000000000 0400000053000000 "
				 "2a00000000000000"));
}

TEST_F(encode, without_a_copy_there_are_no_registers_and_the_frames_stay)
{
	ASSERT_EQ(0, encode__stack_sample(&self->out, 1, false, &self->sample));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len,
				 "0900000001009000 0100000000000000 "
				 "10000081ffffffff 6400000065000000 "
				 "8877665544332211 0300000000000000 "
				 "8813000000000000 0600000000000000 "
				 "80ffffffffffffff 10000081ffffffff "
				 "20000081ffffffff 00feffffffffffff "
				 "0010400000000000 0020400000000000 "
				 "0000000000000000 0000000000000000 "
				 "0100000000000000 0400000053000000"));
}

TEST_F(encode, a_stack_is_cut_where_the_record_is_full)
{
	static const unsigned char stack[65536];
	struct layout_sample *record;

	/* 64 fixed, 24 of chain, registers with 8, sizes 16, count and state 16: rest is stack. */
	const uint32_t most = 65400 - 8 * USER_COPY_REGS;

	for (uint32_t nr = most - 8; nr <= most + 8; nr += 8) {
		struct user_copy copy = { regs, stack, nr };
		uint64_t size;

		self->out.len = 0;
		self->sample.copy = &copy;
		ASSERT_EQ(0, encode__stack_sample(&self->out, 1, false, &self->sample));
		record = (struct layout_sample *)(void *)self->out.data;
		EXPECT_EQ(nr < most ? nr + 65528 - most : 65528, self->out.len);
		EXPECT_EQ(self->out.len, record->header.size);
		memcpy(&size, self->out.data + 64 + 24 + 8 + 8 * USER_COPY_REGS, sizeof(size));
		EXPECT_EQ(nr < most ? nr : most, size);
		memcpy(&size, self->out.data + self->out.len - 24, sizeof(size));
		EXPECT_EQ(nr < most ? nr : most, size);
	}
}

TEST_F(encode, count_and_state_stand_behind_the_chain)
{
	static const struct {
		char state;
		bool preempted;
		uint64_t transaction;
	} states[] = {
		{ 'S', false, 0x5300000004 }, { 'D', false, 0x4400000004 },
		{ 'R', true, 0x5200000008 },  { 'R', false, 0x5200000004 },
	};

	self->sample.count = 0x123456789;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		self->out.len = 0;
		self->sample.state = states[i].state;
		self->sample.preempted = states[i].preempted;
		ASSERT_EQ(0, encode__sample(&self->out, 1, true, &self->sample));
		EXPECT_EQ(0x123456789, bytes__u64(self->out.data, self->out.len - 24));
		EXPECT_EQ(states[i].transaction, bytes__u64(self->out.data, self->out.len - 16));
	}
}

TEST_F(encode, cgroup_stands_behind_the_chain)
{
	ASSERT_EQ(0, encode__sample(&self->out, 1, true, &self->sample));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len,
				 "0900000001008800 0100000000000000 "
				 "10000081ffffffff 6400000065000000 "
				 "8877665544332211 0300000000000000 "
				 "8813000000000000 0600000000000000 "
				 "80ffffffffffffff 10000081ffffffff "
				 "20000081ffffffff 00feffffffffffff "
				 "0010400000000000 0020400000000000 "
				 "0100000000000000 0400000053000000 "
				 "2a00000000000000"));
}

TEST_F(encode, sample_of_user_frames_has_user_misc_and_one_marker)
{
	self->sample.kernel.nr = 0;
	ASSERT_EQ(0, encode__sample(&self->out, 1, false, &self->sample));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len,
				 "0900000002006800 0100000000000000 "
				 "0010400000000000 6400000065000000 "
				 "8877665544332211 0300000000000000 "
				 "8813000000000000 0300000000000000 "
				 "00feffffffffffff 0010400000000000 "
				 "0020400000000000 "
				 "0100000000000000 0400000053000000"));
}

TEST_F(encode, sample_without_frames_has_ip_0_and_an_empty_chain)
{
	self->sample.kernel = (struct frames){ 0 };
	self->sample.user = (struct frames){ 0 };
	ASSERT_EQ(0, encode__sample(&self->out, 1, false, &self->sample));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len,
				 "0900000002005000 0100000000000000 "
				 "0000000000000000 6400000065000000 "
				 "8877665544332211 0300000000000000 "
				 "8813000000000000 0000000000000000 "
				 "0100000000000000 0400000053000000"));
}

/* Frames numbered from 1, so that a frame out of place shows. */
static void number_frames(uint64_t *ips, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		ips[i] = i + 1;
}

static unsigned int record_size(const struct buffer *out)
{
	return (unsigned int)(bytes__u64(out->data, 0) >> 48);
}

TEST_F(encode, deepest_stacks_of_both_sides_come_back_frame_by_frame)
{
	uint64_t ips[127];

	number_frames(ips, 127);
	self->sample.kernel = (struct frames){ .ips = ips, .nr = 127 };
	self->sample.user = (struct frames){ .ips = ips, .nr = 127 };
	ASSERT_EQ(0, encode__sample(&self->out, 1, true, &self->sample));
	ASSERT_EQ(64 + (127 + 127 + 2) * 8 + 24, self->out.len);
	EXPECT_EQ(self->out.len, record_size(&self->out));
	EXPECT_EQ(256, bytes__u64(self->out.data, 56));
	EXPECT_EQ((uint64_t)PERF_CONTEXT_KERNEL, bytes__u64(self->out.data, 64));
	EXPECT_EQ((uint64_t)PERF_CONTEXT_USER, bytes__u64(self->out.data, 64 + 128 * 8));
	for (uint64_t i = 0; i < 127; i++) {
		EXPECT_EQ(i + 1, bytes__u64(self->out.data, 64 + (1 + i) * 8));
		EXPECT_EQ(i + 1, bytes__u64(self->out.data, 64 + (129 + i) * 8));
	}
	EXPECT_EQ(0x2a, bytes__u64(self->out.data, self->out.len - 8));
}

/* Entries of a chain that a record without cgroup has room for: 8181 in 65,528 bytes. */
#define MOST_ENTRIES ((LAYOUT_RECORD_MAX - 64 - 16) / 8)

TEST_F(encode, chain_that_just_fits_is_whole_and_one_beyond_loses_its_root)
{
	uint64_t ips[MOST_ENTRIES];

	number_frames(ips, MOST_ENTRIES);
	self->sample.kernel = (struct frames){ .ips = ips, .nr = 100 };
	self->sample.user = (struct frames){ .ips = ips, .nr = MOST_ENTRIES - 102 };
	ASSERT_EQ(0, encode__sample(&self->out, 1, false, &self->sample));
	EXPECT_EQ(LAYOUT_RECORD_MAX, self->out.len);
	EXPECT_EQ(MOST_ENTRIES - 102, bytes__u64(self->out.data, self->out.len - 24));

	self->out.len = 0;
	self->sample.user.nr++;
	ASSERT_EQ(0, encode__sample(&self->out, 1, false, &self->sample));
	EXPECT_EQ(LAYOUT_RECORD_MAX, self->out.len);
	EXPECT_EQ(LAYOUT_RECORD_MAX, record_size(&self->out));
	EXPECT_EQ(MOST_ENTRIES - 102, bytes__u64(self->out.data, self->out.len - 24));
}

TEST_F(encode, kernel_side_alone_is_cut_at_the_record_limit_too)
{
	uint64_t ips[MOST_ENTRIES + 1];

	number_frames(ips, MOST_ENTRIES + 1);
	for (uint32_t nr = MOST_ENTRIES - 3; nr <= MOST_ENTRIES + 1; nr++) {
		uint64_t entries;

		self->out.len = 0;
		self->sample.kernel = (struct frames){ .ips = ips, .nr = nr };
		ASSERT_EQ(0, encode__sample(&self->out, 1, true, &self->sample));
		entries = bytes__u64(self->out.data, 56);
		EXPECT_LE(self->out.len, LAYOUT_RECORD_MAX);
		EXPECT_EQ(self->out.len, record_size(&self->out));
		EXPECT_EQ(64 + entries * 8 + 24, self->out.len);
		EXPECT_EQ(0x2a, bytes__u64(self->out.data, self->out.len - 8));
		/* No marker stands alone at the end. */
		EXPECT_LT(bytes__u64(self->out.data, 64 + (entries - 1) * 8),
			  (uint64_t)PERF_CONTEXT_MAX);
	}
}

TEST_F(encode, a_root_stands_behind_the_user_side_with_a_marker_of_its_own)
{
	const uint64_t root = time_kind__address(TIME_KIND_IDLE);

	ASSERT_EQ(0, encode__rooted_sample(&self->out, 1, false, root, &self->sample));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len,
				 "0900000001009000 0100000000000000 "
				 "10000081ffffffff 6400000065000000 "
				 "8877665544332211 0300000000000000 "
				 "8813000000000000 0800000000000000 "
				 "80ffffffffffffff 10000081ffffffff "
				 "20000081ffffffff 00feffffffffffff "
				 "0010400000000000 0020400000000000 "
				 "80ffffffffffffff 0010e0ffffffffff "
				 "0100000000000000 0400000053000000"));
	/* It is all that a sample without frames has. */
	self->out.len = 0;
	self->sample.kernel.nr = self->sample.user.nr = 0;
	ASSERT_EQ(0, encode__rooted_sample(&self->out, 1, false, root, &self->sample));
	EXPECT_EQ(64 + 16 + 16, self->out.len);
	EXPECT_EQ(root, bytes__u64(self->out.data, 16));
	EXPECT_EQ(PERF_RECORD_MISC_KERNEL, bytes__u64(self->out.data, 0) >> 32 & 7);
}

TEST_F(encode, a_root_is_the_last_of_the_frames_that_perf_shows)
{
	static const uint32_t sides[][4] = {
		{ 127, 127, 126, 0 }, { 100, 127, 100, 26 }, { 0, 127, 0, 126 }, { 60, 66, 60, 66 },
	};
	uint64_t ips[127];

	number_frames(ips, 127);
	for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
		const uint32_t kernel = sides[i][2], user = sides[i][3];
		uint64_t entries = kernel + !!kernel + user + !!user;

		self->out.len = 0;
		self->sample.kernel = (struct frames){ .ips = ips, .nr = sides[i][0] };
		self->sample.user = (struct frames){ .ips = ips, .nr = sides[i][1] };
		ASSERT_EQ(0, encode__rooted_sample(&self->out, 1, true, 77, &self->sample));
		EXPECT_EQ(entries + 2, bytes__u64(self->out.data, 56));
		EXPECT_EQ((uint64_t)PERF_CONTEXT_KERNEL,
			  bytes__u64(self->out.data, 64 + entries * 8));
		EXPECT_EQ(77, bytes__u64(self->out.data, 64 + entries * 8 + 8));
		EXPECT_EQ(64 + (entries + 2) * 8 + 24, self->out.len);
	}
}

TEST_F(encode, a_kernel_symbol_has_its_name_and_the_id_behind_it)
{
	ASSERT_EQ(0, encode__kernel_symbol(&self->out, 1, time_kind__address(TIME_KIND_BLOCKED),
					   TIME_KIND_SIZE, "[blocked]"));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len,
				 "1100000000004800 0000e0ffffffffff "
				 "0010000002000000 5b626c6f636b6564 5d00000000000000 "
				 "ffffffff00000000 0000000000000000 "
				 "0000000000000000 0100000000000000"));
}

static int encode_comm(struct buffer *out, const char *name)
{
	const struct task_event event = { .kind = TASK_EVENT_COMM, .pid = 100, .tid = 101,
					  .comm = name };

	return encode__task_event(out, 1, &event);
}

TEST_F(encode, comm_golden)
{
	ASSERT_EQ(0, encode_comm(&self->out, "worker"));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len,
				 "0300000000003800 6400000065000000 "
				 "776f726b65720000 6400000065000000 "
				 "0000000000000000 0000000000000000 "
				 "0100000000000000"));
}

TEST_F(encode, comm_of_more_than_15_bytes_is_cut)
{
	ASSERT_EQ(0, encode_comm(&self->out, "0123456789abcdefghi"));
	EXPECT_EQ(16 + 16 + 32, self->out.len);
	EXPECT_STREQ("0123456789abcde", self->out.data + 16);
}

TEST_F(encode, fork_golden_is_reported_by_the_parent)
{
	const struct task_event event = { .kind = TASK_EVENT_FORK, .pid = 100, .tid = 101,
					  .ppid = 99, .ptid = 98 };

	ASSERT_EQ(0, encode__task_event(&self->out, 1, &event));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len,
				 "0700000000004000 6400000063000000 "
				 "6500000062000000 0000000000000000 "
				 "6300000062000000 0000000000000000 "
				 "0000000000000000 0100000000000000"));
}

static const struct task_event mapping = {
	.kind = TASK_EVENT_MMAP,
	.pid = 100,
	.tid = 101,
	.map = { .start = 0x400000,
		 .len = 0x1000,
		 .pgoff = 0x2000,
		 .maj = 8,
		 .min = 1,
		 .ino = 77,
		 .generation = 5,
		 .prot = 5,
		 .flags = 2,
		 .path = "/bin/a" },
};

TEST_F(encode, mmap2_golden)
{
	ASSERT_EQ(0, encode__task_event(&self->out, 1, &mapping));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len,
				 "0a00000002007000 6400000065000000 "
				 "0000400000000000 0010000000000000 "
				 "0020000000000000 0800000001000000 "
				 "4d00000000000000 0500000000000000 "
				 "0500000002000000 2f62696e2f610000 "
				 "6400000065000000 0000000000000000 "
				 "0000000000000000 0100000000000000"));
}

TEST_F(encode, mmap2_of_data_says_so_in_misc)
{
	struct task_event event = mapping;

	event.map.data = true;
	ASSERT_EQ(0, encode__task_event(&self->out, 1, &event));
	EXPECT_EQ(PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA,
		  (bytes__u64(self->out.data, 0) >> 32) & 0xffff);
}

/* A path of len bytes has want bytes in an mmap2, a kernel mmap and a cgroup record. */
static void check_path(struct __test_metadata *_metadata, struct buffer *out, size_t len,
		       size_t want)
{
	size_t room = (want + 8) & ~(size_t)7;
	struct task_event event = mapping;
	char path[10001];

	memset(path, 'x', len);
	path[len] = '\0';
	event.map.path = path;
	out->len = 0;
	ASSERT_EQ(0, encode__task_event(out, 1, &event));
	EXPECT_EQ(72 + room + 32, out->len);
	EXPECT_EQ(want, strnlen(out->data + 72, room));
	EXPECT_EQ(1, bytes__u64(out->data, out->len - 8));
	out->len = 0;
	event.kind = TASK_EVENT_KERNEL_MMAP;
	ASSERT_EQ(0, encode__task_event(out, 1, &event));
	EXPECT_EQ(40 + room + 32, out->len);
	EXPECT_EQ(want, strnlen(out->data + 40, room));
	out->len = 0;
	event.kind = TASK_EVENT_CGROUP;
	event.cgroup.path = path;
	ASSERT_EQ(0, encode__task_event(out, 1, &event));
	EXPECT_EQ(16 + room + 32, out->len);
	EXPECT_EQ(want, strnlen(out->data + 16, room));
	EXPECT_EQ(record_size(out), out->len);
}

TEST_F(encode, paths_end_in_a_nul_at_every_length)
{
	check_path(_metadata, &self->out, 0, 0);
	check_path(_metadata, &self->out, 7, 7);
	check_path(_metadata, &self->out, 8, 8);
	check_path(_metadata, &self->out, 4095, 4095);
	check_path(_metadata, &self->out, 4096, 4095);
	check_path(_metadata, &self->out, 10000, 4095);
}

TEST_F(encode, kernel_mmap_golden)
{
	const struct task_event event = { .kind = TASK_EVENT_KERNEL_MMAP,
					  .pid = -1,
					  .map = { .start = 0xffffffff81000000,
						   .len = 0x1000,
						   .pgoff = 0xffffffff81000000,
						   .path = "[kernel.kallsyms]_text" } };

	ASSERT_EQ(0, encode__task_event(&self->out, 1, &event));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len,
				 "0100000001006000 ffffffff00000000 "
				 "00000081ffffffff 0010000000000000 "
				 "00000081ffffffff 5b6b65726e656c2e "
				 "6b616c6c73796d73 5d5f746578740000 "
				 "ffffffff00000000 0000000000000000 "
				 "0000000000000000 0100000000000000"));
}

TEST_F(encode, cgroup_golden)
{
	const struct task_event event = { .kind = TASK_EVENT_CGROUP,
					  .cgroup = { .id = 42, .path = "/a/b" } };

	ASSERT_EQ(0, encode__task_event(&self->out, 1, &event));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len,
				 "1300000000003800 2a00000000000000 "
				 "2f612f6200000000 0000000000000000 "
				 "0000000000000000 0000000000000000 "
				 "0100000000000000"));
}

TEST_F(encode, lost_golden)
{
	ASSERT_EQ(0, encode__lost(&self->out, 1, 7, 9, 3));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len,
				 "0200000000003800 0100000000000000 "
				 "0700000000000000 0000000000000000 "
				 "0900000000000000 0300000000000000 "
				 "0100000000000000"));
}

TEST_F(encode, finished_round_golden)
{
	ASSERT_EQ(0, encode__finished_round(&self->out));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len, "4400000000000800"));
}

TEST_F(encode, event_name_golden)
{
	ASSERT_EQ(0, encode__event_name(&self->out, 1, "offcpu-time"));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len,
				 "4e00000000002800 0200000000000000 "
				 "0100000000000000 6f66666370752d74 "
				 "696d650000000000"));
}

TEST_F(encode, header_attr_golden)
{
	unsigned char attr[LAYOUT_ATTR_SIZE];

	memset(attr, 0x5a, sizeof(attr));
	ASSERT_EQ(0, encode__header_attr(&self->out, 9, attr));
	ASSERT_EQ(128, self->out.len);
	EXPECT_EQ(0x0080000000000040ULL, bytes__u64(self->out.data, 0));
	EXPECT_EQ(0, memcmp(self->out.data + 8, attr, sizeof(attr)));
	EXPECT_EQ(9, bytes__u64(self->out.data, 120));
}

TEST_F(encode, header_feature_golden)
{
	ASSERT_EQ(0, encode__header_feature(&self->out, 3, "abc", 3));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len,
				 "5000000000001800 0300000000000000 "
				 "6162630000000000"));
}

TEST_F(encode, header_feature_that_just_fits_is_taken_and_one_beyond_refused)
{
	static const char bytes[LAYOUT_RECORD_MAX];

	EXPECT_EQ(0, encode__header_feature(&self->out, 3, bytes, LAYOUT_RECORD_MAX - 16));
	EXPECT_EQ(LAYOUT_RECORD_MAX, record_size(&self->out));
	self->out.len = 0;
	EXPECT_EQ(-E2BIG, encode__header_feature(&self->out, 3, bytes, LAYOUT_RECORD_MAX - 15));
	EXPECT_EQ(0, self->out.len);
}

TEST_F(encode, tracing_data_golden)
{
	ASSERT_EQ(0, encode__tracing_data(&self->out, "abcdefghi", 9));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len,
				 "4200000000000c00 10000000 "
				 "6162636465666768 6900000000000000"));
}

static const unsigned char id[21] = { 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
				      12, 13, 14, 15, 16, 17, 18, 19, 20, 21 };

TEST_F(encode, build_id_golden)
{
	ASSERT_EQ(0, encode__build_id(&self->out, false, "/bin/a", id, 20));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len,
				 "4300000002803000 ffffffff01020304 "
				 "05060708090a0b0c 0d0e0f1011121314 "
				 "140000002f62696e 2f61000000000000"));
	self->out.len = 0;
	ASSERT_EQ(0, encode__build_id(&self->out, false, "/bin/abc", id, 20));
	EXPECT_TRUE(bytes__equal(self->out.data, self->out.len,
				 "4300000002803800 ffffffff01020304 "
				 "05060708090a0b0c 0d0e0f1011121314 "
				 "140000002f62696e 2f61626300000000 "
				 "0000000000000000"));
}

/* The reader of pprof's converter takes a record for cut off that has less room for its path. */
TEST_F(encode, build_id_has_room_for_its_path_in_whole_words)
{
	char path[4097];

	for (size_t len = 1; len < sizeof(path); len++) {
		size_t path_len, room;

		memset(path, 'x', len);
		path[len] = '\0';
		self->out.len = 0;
		ASSERT_EQ(0, encode__build_id(&self->out, false, path, id, 20));
		path_len = strlen((const char *)self->out.data + 36);
		room = (path_len + 1 + 7) / 8 * 8;
		ASSERT_LE(36 + room, record_size(&self->out));
		ASSERT_EQ(0, record_size(&self->out) % 8);
		ASSERT_LE(record_size(&self->out) - 36, 4096);
	}
}

TEST_F(encode, build_id_of_a_wrong_length_is_refused)
{
	EXPECT_EQ(-EINVAL, encode__build_id(&self->out, false, "/bin/a", id, 21));
	EXPECT_EQ(-EINVAL, encode__build_id(&self->out, false, "/bin/a", id, 0));
	EXPECT_EQ(0, self->out.len);
	ASSERT_EQ(0, encode__build_id(&self->out, true, "/bin/a", id, 16));
	EXPECT_EQ(16, self->out.data[32]);
	EXPECT_EQ(0, self->out.data[28]);
}

TEST_F(encode, build_id_path_fits_the_buffer_of_perf)
{
	char path[10001];

	memset(path, 'x', 10000);
	path[10000] = '\0';
	ASSERT_EQ(0, encode__build_id(&self->out, false, path, id, 20));
	EXPECT_EQ(0, self->out.len % 8);
	/* perf reads what follows the 36 bytes into PATH_MAX bytes. */
	EXPECT_LE(self->out.len - 36, 4096);
	EXPECT_EQ('\0', self->out.data[self->out.len - 1]);
}

TEST_F(encode, whole_records_are_counted_and_a_part_is_not)
{
	size_t first;

	ASSERT_EQ(0, encode_comm(&self->out, "a"));
	first = self->out.len;
	ASSERT_EQ(0, encode__lost(&self->out, 1, 7, 9, 3));
	for (size_t size = 0; size <= self->out.len; size++) {
		size_t want = size < first ? 0 : size < self->out.len ? first : self->out.len;

		EXPECT_EQ(want, encode__whole_records(self->out.data, size));
	}
	/* A size of nothing would never end. */
	memset(self->out.data + 6, 0, 2);
	EXPECT_EQ(0, encode__whole_records(self->out.data, self->out.len));
}

TEST_HARNESS_MAIN
