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
		return encode__comm(in, KERNEL_ID, 1, 2, 0, "comm");
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

TEST_F(sideband, a_record_that_makes_no_sense_is_not_written)
{
	ASSERT_EQ(0, make(&self->in, 2));
	EXPECT_EQ(-EINVAL, sideband__encode(&self->out, 1, self->in.data, self->in.len - 8));
	EXPECT_EQ(0, self->out.len);
}

TEST_HARNESS_MAIN
