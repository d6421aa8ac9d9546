/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/sink.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/harness.h"
#include "output/perfdata/encode.h"
#include "output/perfdata/writer.h"

FIXTURE(sink)
{
	char dir[64];
	char path[80];
	struct sink sink;
	struct capture_sink out;
	struct buffer record;
};

FIXTURE_SETUP(sink)
{
	struct writer_options options = { .path = self->path, .version = "0.1" };
	int err;

	snprintf(self->dir, sizeof(self->dir), "/tmp/denet-sink-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->path, sizeof(self->path), "%s/perf.data", self->dir);
	self->sink = (struct sink){ 0 };
	sink__set_writer(&self->sink, writer__new(&options, &err));
	self->record = (struct buffer){ 0 };
	ASSERT_NE(NULL, self->sink.writer);
	ASSERT_EQ(0, sink__init(&self->sink, &self->out, CALLCHAIN_FP));
}

FIXTURE_TEARDOWN(sink)
{
	sink__free(&self->sink);
	writer__close(self->sink.writer);
	buffer__free(&self->record);
	unlink(self->path);
	rmdir(self->dir);
}

TEST_F(sink, a_record_of_the_kernel_that_makes_no_sense_costs_itself_only)
{
	uint64_t before;

	ASSERT_EQ(0, encode__comm(&self->record, 1, 10, 10, "name"));
	before = writer__bytes(self->sink.writer);
	/* Its last half is not there. */
	EXPECT_EQ(0, self->out.sideband(self->out.ctx, self->record.data, self->record.len / 2, 5));
	EXPECT_EQ(before, writer__bytes(self->sink.writer));
	EXPECT_EQ(1, self->sink.left_out);
	EXPECT_EQ(0, self->out.sideband(self->out.ctx, self->record.data, self->record.len, 6));
	EXPECT_EQ(before + self->record.len, writer__bytes(self->sink.writer));
	EXPECT_EQ(1, self->sink.left_out);
}

TEST_HARNESS_MAIN
