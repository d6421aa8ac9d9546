/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/perfdata/sideband.h"

#include <errno.h>

#include "common/bytes.h"
#include "common/harness.h"
#include "output/perfdata/encode.h"

/* Records as the kernel makes them: ours have the same form, with another id. */
FIXTURE(sideband)
{
	struct buffer in;
	struct buffer out;
};

FIXTURE_SETUP(sideband)
{
	self->in = (struct buffer){ 0 };
	self->out = (struct buffer){ 0 };
}

FIXTURE_TEARDOWN(sideband)
{
	buffer__free(&self->in);
	buffer__free(&self->out);
}

#define KERNEL_ID 0x4711

static const struct writer_mmap map = { .pid = 1, .tid = 2, .path = "/bin/a", .executable = true };

static int make(struct buffer *in, int kind)
{
	in->len = 0;
	switch (kind) {
	case 0:
		return encode__comm(in, KERNEL_ID, 1, 2, "comm");
	case 1:
		return encode__fork(in, KERNEL_ID, 1, 2, 3, 4);
	case 2:
		return encode__mmap2(in, KERNEL_ID, &map);
	case 3:
		return encode__kernel_mmap(in, KERNEL_ID, 1, 2, 3, "[kernel.kallsyms]_text");
	default:
		return encode__cgroup(in, KERNEL_ID, 1, "/a");
	}
}

#define NR_KINDS 5

static void set_u16(struct buffer *buffer, size_t offset, uint16_t value)
{
	memcpy(buffer->data + offset, &value, sizeof(value));
}

static void set_u32(struct buffer *buffer, size_t offset, uint32_t value)
{
	memcpy(buffer->data + offset, &value, sizeof(value));
}

TEST_F(sideband, every_kind_keeps_its_bytes_but_for_the_id)
{
	for (int kind = 0; kind < NR_KINDS; kind++) {
		ASSERT_EQ(0, make(&self->in, kind));
		self->out.len = 0;
		ASSERT_EQ(0, sideband__encode(&self->out, 1, self->in.data, self->in.len));
		ASSERT_EQ(self->in.len, self->out.len);
		EXPECT_EQ(0, memcmp(self->in.data, self->out.data, self->in.len - 8));
		EXPECT_EQ(1, bytes__u64(self->out.data, self->out.len - 8));
	}
}

TEST_F(sideband, exit_is_taken_as_fork_is)
{
	ASSERT_EQ(0, make(&self->in, 1));
	set_u32(&self->in, 0, PERF_RECORD_EXIT);
	EXPECT_EQ(0, sideband__check(self->in.data, self->in.len));
}

/* Each size but the true one is copied to memory of that size, so that a sanitizer sees
 * a byte too far. */
TEST_F(sideband, record_cut_anywhere_is_refused)
{
	for (int kind = 0; kind < NR_KINDS; kind++) {
		ASSERT_EQ(0, make(&self->in, kind));
		for (size_t size = 0; size < self->in.len; size++) {
			char *part = malloc(size ? size : 1);

			ASSERT_NE(NULL, part);
			memcpy(part, self->in.data, size);
			EXPECT_EQ(-EINVAL, sideband__encode(&self->out, 1, part, size));
			if (size >= 8) {
				/* Now the size field agrees, and what is missing does not. */
				uint16_t claimed = (uint16_t)size;

				memcpy(part + 6, &claimed, sizeof(claimed));
				if (size < self->in.len - 8)
					EXPECT_EQ(-EINVAL, sideband__check(part, size & ~7UL));
			}
			free(part);
		}
	}
	EXPECT_EQ(0, self->out.len);
}

TEST_F(sideband, size_field_that_lies_is_refused)
{
	ASSERT_EQ(0, make(&self->in, 2));
	set_u16(&self->in, 6, (uint16_t)(self->in.len + 8));
	EXPECT_EQ(-EINVAL, sideband__check(self->in.data, self->in.len));
	set_u16(&self->in, 6, (uint16_t)(self->in.len - 8));
	EXPECT_EQ(-EINVAL, sideband__check(self->in.data, self->in.len));
	set_u16(&self->in, 6, 0);
	EXPECT_EQ(-EINVAL, sideband__check(self->in.data, self->in.len));
	set_u16(&self->in, 6, (uint16_t)self->in.len);
	EXPECT_EQ(0, sideband__check(self->in.data, self->in.len));
}

TEST_F(sideband, name_without_nul_is_refused)
{
	ASSERT_EQ(0, make(&self->in, 0));
	memset(self->in.data + 16, 'x', self->in.len - 16 - 32);
	EXPECT_EQ(-EINVAL, sideband__check(self->in.data, self->in.len));
}

TEST_F(sideband, name_longer_than_a_path_is_refused)
{
	size_t size = sizeof(struct layout_mmap2) + PATH_MAX + sizeof(struct layout_sample_id);
	char record[sizeof(struct layout_mmap2) + PATH_MAX + sizeof(struct layout_sample_id) +
		    8] = { 0 };
	struct perf_event_header header = { .type = PERF_RECORD_MMAP2, .size = (uint16_t)size };

	memcpy(record, &header, sizeof(header));
	EXPECT_EQ(0, sideband__check(record, size));
	header.size += 8;
	memcpy(record, &header, sizeof(header));
	EXPECT_EQ(-EINVAL, sideband__check(record, size + 8));
}

TEST_F(sideband, build_id_longer_than_its_room_is_refused)
{
	ASSERT_EQ(0, make(&self->in, 2));
	set_u16(&self->in, 4, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	self->in.data[40] = 20;
	EXPECT_EQ(0, sideband__check(self->in.data, self->in.len));
	self->in.data[40] = 21;
	EXPECT_EQ(-EINVAL, sideband__check(self->in.data, self->in.len));
}

TEST_F(sideband, kinds_that_old_readers_do_not_know_are_refused)
{
	ASSERT_EQ(0, make(&self->in, 2));
	for (uint32_t type = 0; type < 100; type++) {
		bool known = type == PERF_RECORD_MMAP2 || type == PERF_RECORD_MMAP ||
			     type == PERF_RECORD_CGROUP;

		set_u32(&self->in, 0, type);
		/* The body is an mmap2's: kinds with a shorter front find their name in it. */
		if (!known && type != PERF_RECORD_COMM)
			EXPECT_EQ(-EINVAL, sideband__check(self->in.data, self->in.len));
	}
}

TEST_HARNESS_MAIN
