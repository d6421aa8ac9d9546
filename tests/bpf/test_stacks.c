/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * More stacks than profilers' tables hold: 64 threads sleep once in each of 2^16, and with
 * DENET_TEST_WHOLE=1 of 2^18. Nearly all of the time must keep its stack.
 */
#include "common/harness.h"

#include "base/units.h"
#include "common/test_capture.h"

#define THREADS "64"
#define MAX_MAP_BYTES (64 << 20)

/*
 * The threads fill a ring with some 6 MB a second, and none is read while a window is drained:
 * these 16 MB for each CPU last for seconds.
 */
#define RING_PAGES 4096

/* The ring of a CPU holds at least so many blocks, each of less than a kilobyte. */
#define HELD_BY_A_RING (RING_PAGES * 4096 / 1024)

FIXTURE(stacks)
{
	struct workload workload;
	struct test_capture test_capture;
	struct symbols *user;
};

static const struct size {
	unsigned int bits;
	const char *text;
	const char *us; /* a sleep: all of them together take some seconds */
} sizes[] = {
	{ .bits = 16, .text = "16", .us = "4000" },
	{ .bits = 18, .text = "18", .us = "2000" },
};

FIXTURE_SETUP(stacks)
{
	SKIP_FOR(test_capture__refused());
}

static void let_go(FIXTURE_DATA(stacks) * self)
{
	test_capture__free(&self->test_capture);
	workload__free(&self->workload);
	symbols__free(self->user);
	self->user = NULL;
}

FIXTURE_TEARDOWN(stacks)
{
	let_go(self);
}

/* The whole path down to the sleep, from the function that the thread began in. */
static bool has_its_stack(const struct sample *sample, const struct symbols *user, uint32_t depth)
{
	return sample->kernel.nr && sample->user.nr >= depth &&
	       frames__call(&sample->user, user, "wait_bottom") &&
	       frames__call(&sample->user, user, "start_walking");
}

/* The voluntary switches of all threads, by the kernel's count. */
static uint64_t voluntary(const struct workload *workload)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < workload->nr_truths; i++)
		sum += workload->truths[i].voluntary;
	return sum;
}

static void expect_stacks(struct __test_metadata *_metadata, FIXTURE_DATA(stacks) * self,
			  const struct size *size)
{
	const char *const argv[] = { "stacks",	 "--wait", "--threads", THREADS,
				     "--bits",	 size->text, "--us",	size->us,
				     "--split",	 "1",	   NULL };
	const struct capture_stats *stats = &self->test_capture.stats;
	struct capture_tally slept = { 0 }, with = { 0 };
	struct capture_options options;

	ASSERT_EQ(0, workload__start(&self->workload, argv));
	ASSERT_EQ(0, workload__await(&self->workload, "READY"));
	self->user = symbols__of_process(self->workload.pid);
	ASSERT_TRUE(self->user != NULL);
	capture_options__init(&options);
	options.ring_pages = RING_PAGES;
	ASSERT_EQ(0, test_capture__open_process(&self->test_capture, &options, &self->workload));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 1000));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	for (size_t i = 0; i < self->test_capture.nr; i++) {
		const struct sample *sample = &self->test_capture.samples[i];

		slept.ns += sample->period;
		slept.count += sample->count;
		/* Blocks before the first sleep and after the last have other stacks. */
		if (has_its_stack(sample, self->user, size->bits) ||
		    (sample->user.nr && !frames__call(&sample->user, self->user, "wait_bottom"))) {
			with.ns += sample->period;
			with.count += sample->count;
		}
	}
	/* Each block is recorded, or counted as lost or unseen. */
	EXPECT_LE(voluntary(&self->workload),
		  slept.count + stats->lost_ring.count + stats->unseen_switches);
	EXPECT_LE(HELD_BY_A_RING, slept.count);
	EXPECT_LE(slept.count * 995 / 1000, with.count);
	EXPECT_LE(slept.ns / 1000 * 995, with.ns)
	TH_LOG("%llu of %llu ns", (unsigned long long)with.ns, (unsigned long long)slept.ns);
	EXPECT_GE(MAX_MAP_BYTES, stats->bpf_map_bytes);
	EXPECT_EQ(0, stats__unaccounted_count(stats));
	EXPECT_EQ(0, stats__unaccounted_ns(stats));
	if (stats->lost_ring.count || stats->lost_stack.count)
		stats__print(stats);
}

TEST_F(stacks, time_has_its_stack_however_many_stacks_there_are)
{
	size_t nr = tolerance__whole() ? 2 : 1;

	SKIP_FOR(test_capture__refused());
	for (size_t i = 0; i < nr; i++) {
		expect_stacks(_metadata, self, &sizes[i]);
		let_go(self);
	}
}

TEST_HARNESS_MAIN
