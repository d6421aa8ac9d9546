/* SPDX-License-Identifier: GPL-2.0-only */
/* The user side of samples: garbage goes, and nobody is judged by maps that are yet to come. */
#include "common/harness.h"

#include "perfdata/layout.h"
#include "record/chains.h"

#define MOST 16

struct given {
	struct sample samples[MOST];
	uint64_t leaf[MOST];
	size_t nr;
};

FIXTURE(chains)
{
	struct chains chains;
	struct given given;
};

static int give(void *ctx, const struct sample *sample)
{
	struct given *given = ctx;

	if (given->nr == MOST)
		return -1;
	given->leaf[given->nr] = sample->user.nr ? sample->user.ips[0] : 0;
	given->samples[given->nr++] = *sample;
	return 0;
}

FIXTURE_SETUP(chains)
{
	const struct space_map map = { .start = 0x1000, .len = 0x1000, .path = "/bin/a" };

	self->given = (struct given){ 0 };
	ASSERT_EQ(0, chains__init(&self->chains, CHAINS_FP, give, &self->given));
	ASSERT_EQ(0, chains__map(&self->chains, 42, &map));
}

FIXTURE_TEARDOWN(chains)
{
	chains__free(&self->chains);
}

static struct sample make_sample(uint64_t time, const uint64_t *ips, uint32_t nr)
{
	return (struct sample){ .time = time, .pid = 42, .tid = 42, .user = { ips, nr, false } };
}

/* The kernel's record of a mapping of 0x1000 bytes. */
static int map_code(struct chains *chains, uint64_t start, uint64_t time)
{
	struct {
		struct layout_mmap2 map;
		char path[8];
		struct layout_sample_id trailer;
	} event = {
		.map = { .header = { .type = PERF_RECORD_MMAP2, .size = sizeof(event) },
			 .pid = 42, .tid = 42, .start = start, .len = 0x1000, .prot = 5 },
		.path = "/lib/b",
		.trailer = { .pid = 42, .tid = 42, .time = time },
	};

	return chains__sideband(chains, &event, sizeof(event), time);
}

TEST_F(chains, a_chain_in_code_comes_at_once_and_whole)
{
	static const uint64_t ips[] = { 0x1100, 0x1200, 0x2000 };
	struct sample sample = make_sample(100, ips, 3);

	ASSERT_EQ(0, chains__sample(&self->chains, &sample));
	ASSERT_EQ(1, self->given.nr);
	/* The last one is the address behind a call at the very end. */
	EXPECT_EQ(3, self->given.samples[0].user.nr);
	EXPECT_FALSE(self->given.samples[0].user.truncated);
	EXPECT_EQ(0, self->chains.stats.cut);
	EXPECT_EQ(UINT64_MAX, chains__oldest(&self->chains));
}

TEST_F(chains, garbage_is_cut_once_the_maps_of_its_time_are_known)
{
	static const uint64_t ips[] = { 0x1100, 0x1200, 0x7, 0x1300 };
	struct sample sample = make_sample(100, ips, 4);

	ASSERT_EQ(0, chains__sample(&self->chains, &sample));
	ASSERT_EQ(0, chains__settled(&self->chains, 100));
	EXPECT_EQ(0, self->given.nr);
	EXPECT_EQ(100, chains__oldest(&self->chains));
	ASSERT_EQ(0, chains__settled(&self->chains, 101));
	ASSERT_EQ(1, self->given.nr);
	EXPECT_EQ(2, self->given.samples[0].user.nr);
	EXPECT_TRUE(self->given.samples[0].user.truncated);
	EXPECT_EQ(1, self->chains.stats.cut);
	/* Sums come when all of their time is known. */
	sample.time = 50;
	ASSERT_EQ(0, chains__sample(&self->chains, &sample));
	ASSERT_EQ(2, self->given.nr);
	EXPECT_EQ(2, self->given.samples[1].user.nr);
}

TEST_F(chains, code_that_was_mapped_before_the_block_ended_is_no_garbage)
{
	static const uint64_t ips[] = { 0x1100, 0x5100 };
	struct sample sample = make_sample(100, ips, 2);

	ASSERT_EQ(0, chains__sample(&self->chains, &sample));
	EXPECT_EQ(0, self->given.nr);
	/* The record was on another CPU, whose ring is read later. */
	ASSERT_EQ(0, map_code(&self->chains, 0x5000, 90));
	ASSERT_EQ(0, chains__settled(&self->chains, 200));
	ASSERT_EQ(1, self->given.nr);
	EXPECT_EQ(2, self->given.samples[0].user.nr);
	EXPECT_EQ(0, self->chains.stats.cut);
}

TEST_F(chains, code_that_was_mapped_afterwards_is_garbage)
{
	static const uint64_t ips[] = { 0x1100, 0x5100 };
	struct sample sample = make_sample(100, ips, 2);

	ASSERT_EQ(0, chains__sample(&self->chains, &sample));
	ASSERT_EQ(0, map_code(&self->chains, 0x5000, 110));
	ASSERT_EQ(0, chains__settled(&self->chains, 200));
	ASSERT_EQ(1, self->given.nr);
	EXPECT_EQ(1, self->given.samples[0].user.nr);
	EXPECT_EQ(1, self->chains.stats.cut);
}

TEST_F(chains, nothing_is_cut_where_maps_may_be_missing)
{
	static const uint64_t ips[] = { 0x1100, 0x7 };
	struct sample sample = make_sample(100, ips, 2);

	/* Nothing is known of this one. */
	sample.pid = 43;
	ASSERT_EQ(0, chains__sample(&self->chains, &sample));
	ASSERT_EQ(1, self->given.nr);
	EXPECT_EQ(2, self->given.samples[0].user.nr);
	/* And here records were lost. */
	sample.pid = 42;
	chains__lost(&self->chains);
	ASSERT_EQ(0, chains__sample(&self->chains, &sample));
	ASSERT_EQ(2, self->given.nr);
	EXPECT_EQ(2, self->given.samples[1].user.nr);
	EXPECT_EQ(0, self->chains.stats.cut);
}

TEST_F(chains, who_has_ended_is_known_until_the_samples_of_its_window_are_in)
{
	static const uint64_t ips[] = { 0x1100, 0x7 };
	struct {
		struct layout_task task;
		struct layout_sample_id trailer;
	} gone = { .task = { .header = { .type = PERF_RECORD_EXIT, .size = sizeof(gone) },
			     .pid = 42, .tid = 42, .ppid = 1, .ptid = 1, .time = 110 } };
	struct sample sample = make_sample(100, ips, 2);

	ASSERT_EQ(0, chains__sideband(&self->chains, &gone, sizeof(gone), 110));
	ASSERT_EQ(0, chains__settled(&self->chains, 200));
	chains__round(&self->chains);
	ASSERT_EQ(0, chains__sample(&self->chains, &sample));
	ASSERT_EQ(1, self->given.nr);
	EXPECT_EQ(1, self->given.samples[0].user.nr);
	/* Two rounds later nobody can ask for it: what is not known is not judged. */
	chains__round(&self->chains);
	ASSERT_EQ(0, chains__sample(&self->chains, &sample));
	EXPECT_EQ(2, self->given.samples[1].user.nr);
}

TEST_HARNESS_MAIN
