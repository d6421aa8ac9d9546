/* SPDX-License-Identifier: GPL-2.0-only */
/* The earliest sample of a file is one of offcpu-time, without a change of any sum. */
#include "output/perfdata/first_sample.h"

#include <string.h>

#include "common/harness.h"
#include "output/perfdata/layout.h"
#include "output/perfdata/records.h"

static const uint64_t ips[] = { 0xffffffff81000100, 0xffffffff81000200 };

FIXTURE(first)
{
	struct first_sample first;
	struct buffer out;
};

FIXTURE_SETUP(first)
{
	self->first = (struct first_sample){ 0 };
	self->out = (struct buffer){ 0 };
}

FIXTURE_TEARDOWN(first)
{
	first_sample__free(&self->first);
	buffer__free(&self->out);
}

static int note(struct first_sample *first, bool is_offcpu, uint64_t time, uint32_t tid)
{
	const struct sample sample = {
		.time = time, .period = 77, .count = 1, .pid = tid, .tid = tid,
		.kernel = { ips, 2, false },
	};

	return first_sample__note(first, is_offcpu, &sample, false, false);
}

TEST_F(first, a_waker_that_comes_first_has_a_sample_of_no_time_before_it)
{
	struct layout_sample sample;

	ASSERT_EQ(0, note(&self->first, false, 500, 8));
	ASSERT_EQ(0, note(&self->first, true, 600, 7));
	/* The next round may still hold something older. */
	ASSERT_EQ(0, first_sample__round(&self->first, false, &self->out));
	EXPECT_EQ(0, self->out.len);
	ASSERT_EQ(0, note(&self->first, false, 400, 9));
	ASSERT_EQ(0, first_sample__round(&self->first, false, &self->out));
	ASSERT_EQ(sizeof(sample) + 5 * sizeof(uint64_t), self->out.len);
	memcpy(&sample, self->out.data, sizeof(sample));
	EXPECT_EQ(PERF_RECORD_SAMPLE, sample.header.type);
	EXPECT_EQ(WRITER_OFFCPU_TIME, sample.id);
	EXPECT_EQ(399, sample.time);
	EXPECT_EQ(0, sample.period);
	EXPECT_EQ(3, sample.nr);
	/* Of a thread that offcpu-time has anyway. */
	EXPECT_EQ(7, sample.tid);
	/* Once. */
	ASSERT_EQ(0, note(&self->first, false, 300, 9));
	ASSERT_EQ(0, first_sample__round(&self->first, true, &self->out));
	EXPECT_EQ(sizeof(sample) + 5 * sizeof(uint64_t), self->out.len);
}

TEST_F(first, nothing_is_put_before_a_sample_of_offcpu_time)
{
	ASSERT_EQ(0, note(&self->first, false, 600, 8));
	ASSERT_EQ(0, note(&self->first, true, 500, 7));
	/* A block's two parts have one time, and the first part is of offcpu-time. */
	ASSERT_EQ(0, note(&self->first, false, 500, 7));
	ASSERT_EQ(0, first_sample__round(&self->first, true, &self->out));
	EXPECT_EQ(0, self->out.len);
}

TEST_F(first, a_tracepoint_counts_and_a_file_without_offcpu_time_has_one_sample_of_it)
{
	struct layout_sample sample;

	first_sample__note_time(&self->first, 200);
	ASSERT_EQ(0, note(&self->first, false, 500, 8));
	ASSERT_EQ(0, first_sample__round(&self->first, true, &self->out));
	ASSERT_LT(sizeof(sample), self->out.len);
	memcpy(&sample, self->out.data, sizeof(sample));
	EXPECT_EQ(199, sample.time);
	EXPECT_EQ(8, sample.tid);
}

TEST_F(first, a_file_without_samples_stays_one)
{
	first_sample__note_time(&self->first, 200);
	ASSERT_EQ(0, first_sample__round(&self->first, false, &self->out));
	ASSERT_EQ(0, first_sample__round(&self->first, true, &self->out));
	EXPECT_EQ(0, self->out.len);
}

TEST_HARNESS_MAIN
