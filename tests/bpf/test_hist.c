/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The histogram of block lengths: held against sleeps that are known one by one, and against
 * the count of all blocks that were seen.
 * tests: parallel
 */
#include "common/harness.h"

#include "base/units.h"
#include "capture/hist.h"
#include "common/test_capture.h"
#include "common/tolerance.h"
#include "common/switches.h"

static int close_with_hist(struct test_capture *test_capture, struct capture_hist *hist)
{
	int err = capture__stop(test_capture->capture, 2000);

	if (!err)
		err = capture__hist(test_capture->capture, hist);
	return err ? err : test_capture__close(test_capture);
}

static const struct capture_tally *buckets_of(const struct capture_hist *hist, char state)
{
	for (size_t i = 0; i < CAPTURE_HIST_STATES; i++) {
		if (hist->rows[i].state == state)
			return hist->rows[i].buckets;
	}
	return NULL;
}

static struct capture_tally sum_states(const struct capture_hist *hist, const char *states)
{
	struct capture_tally sum = { 0 };

	for (; *states; states++) {
		for (size_t i = 0; i < CAPTURE_HIST_BUCKETS; i++) {
			sum.count += buckets_of(hist, *states)[i].count;
			sum.ns += buckets_of(hist, *states)[i].ns;
		}
	}
	return sum;
}

FIXTURE(lengths)
{
	struct workload workload;
	struct test_capture test_capture;
	struct capture_hist hist;
	struct capture_tally sure[CAPTURE_HIST_BUCKETS]; /* naps whose bucket is beyond doubt */
	uint64_t bracket[CAPTURE_HIST_BUCKETS];          /* of these */
	uint64_t stolen_ns; /* at most that much, while it was recorded */
	uint64_t unsure;    /* blocks whose bucket is not known: of other naps, and one for stdin */
	uint64_t slept;     /* naps in which the thread left the CPU by itself */
	uint64_t voluntary; /* how often it did */
};

/* A nap that was disturbed, or outgrew its bucket, still has its blocks, but in no bucket. */
static void sort_naps(FIXTURE_DATA(lengths) * self)
{
	self->unsure = 1;
	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		const struct truth *truth = &self->workload.truths[i];
		size_t bucket = hist__bucket(truth->requested_ns);

		self->slept += truth->voluntary != 0;
		self->voluntary += truth->voluntary;
		if (truth->voluntary != 1 || truth->involuntary ||
		    hist__bucket(truth->bracket_ns) != bucket) {
			self->unsure += truth->voluntary;
			continue;
		}
		self->sure[bucket].count++;
		self->sure[bucket].ns += truth->requested_ns;
		self->bracket[bucket] += truth->bracket_ns;
	}
}

/*
 * How many naps are not in their bucket. The kernel does not lay stolen time to a thread that was
 * on its CPU, so such a nap may be shorter than its clocks say: *stolen_ns is what it takes.
 */
static uint64_t misplaced(const FIXTURE_DATA(lengths) * self, uint64_t *stolen_ns)
{
	const struct capture_tally *asleep = buckets_of(&self->hist, 'S');
	uint64_t sum = 0;

	*stolen_ns = 0;
	for (size_t i = 0; i < CAPTURE_HIST_BUCKETS; i++) {
		const struct capture_tally *sure = &self->sure[i];
		/* A block whose end was not shown is in none, and counted. */
		uint64_t there = asleep[i].count + self->test_capture.stats.unseen_switches;

		if (there >= sure->count)
			continue;
		sum += sure->count - there;
		*stolen_ns += (sure->count - there) * (sure->ns / sure->count - hist__bound(i));
	}
	return sum;
}

FIXTURE_SETUP(lengths)
{
	const char *const argv[] = { "lengths", "--wait", "--count", "5", NULL };
	struct capture_options options;

	SKIP_FOR(test_capture__refused());
	capture_options__init(&options);
	options.histogram = true;
	options.filter.states = capture__all_states();
	ASSERT_EQ(0, workload__start(&self->workload, argv));
	ASSERT_EQ(0, workload__await(&self->workload, "READY"));
	self->stolen_ns = tolerance__stolen_ns();
	ASSERT_EQ(0, test_capture__open_process(&self->test_capture, &options, &self->workload));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 0));
	ASSERT_EQ(0, close_with_hist(&self->test_capture, &self->hist));
	self->stolen_ns = tolerance__stolen_since(self->stolen_ns);
	ASSERT_EQ(40, self->workload.nr_truths);
	sort_naps(self);
}

FIXTURE_TEARDOWN(lengths)
{
	test_capture__free(&self->test_capture);
	workload__free(&self->workload);
}

CHECK_F(lengths, each_nap_is_in_the_bucket_of_its_length)
{
	const struct capture_tally *asleep;
	uint64_t sure = 0, moved, stolen_ns;

	asleep = buckets_of(&self->hist, 'S');
	moved = misplaced(self, &stolen_ns);
	EXPECT_LE(stolen_ns, self->stolen_ns);
	for (size_t i = 0; i < CAPTURE_HIST_BUCKETS; i++) {
		sure += self->sure[i].count;
		EXPECT_LE(asleep[i].count, self->sure[i].count + self->unsure + moved)
		TH_LOG("bucket %zu", i);
	}
	/* The clocks of a machine that is too busy for most of the naps tell nothing. */
	EXPECT_LE(20, sure);
}

CHECK_F(lengths, a_bucket_has_the_time_of_its_naps)
{
	const struct capture_tally *asleep;
	uint64_t missing_ns = 0;
	size_t compared = 0;

	if (self->test_capture.stats.unseen_switches) {
		TH_LOG("not compared: a block is missing whose end was not shown");
		return;
	}
	asleep = buckets_of(&self->hist, 'S');
	for (size_t i = 0; i < CAPTURE_HIST_BUCKETS; i++) {
		if (!self->sure[i].count || asleep[i].count != self->sure[i].count)
			continue;
		compared++;
		if (asleep[i].ns < self->sure[i].ns * (100 - TOLERANCE_PERCENT) / 100)
			missing_ns += self->sure[i].ns - asleep[i].ns;
		EXPECT_LE(asleep[i].ns, self->bracket[i])
		TH_LOG("bucket %zu", i);
	}
	EXPECT_LE(missing_ns, self->stolen_ns);
	EXPECT_LE(1, compared);
}

CHECK_F(lengths, no_sleep_is_missing_and_none_is_counted_twice)
{
	const struct capture_stats *stats = &self->test_capture.stats;
	struct capture_tally all = sum_states(&self->hist, "RSDTtIP?");

	/*
	 * The kernel's own count, and the wait for the word to begin. A page that is not there
	 * makes a thread wait, too, but not in this state.
	 */
	EXPECT_LE(self->slept + 1, sum_states(&self->hist, "S").count + stats->unseen_switches);
	EXPECT_LE(sum_states(&self->hist, "S").count, self->voluntary + 1);
	EXPECT_EQ(stats->seen.count, all.count + stats->in_flight.count);
	EXPECT_EQ(stats->seen.ns, all.ns + stats->in_flight.ns);
	EXPECT_EQ(0, stats->direct.count + stats->accumulated.count);
	EXPECT_EQ(0, self->test_capture.nr);
	EXPECT_EQ(0, self->test_capture.sideband + stats->lost_records);
	/* A recording takes 23 MB of maps. */
	EXPECT_LT(stats->bpf_map_bytes, 4 << 20);
}

/* All that is checked in one recording. */
TEST_F(lengths, each_nap_is_in_its_bucket_with_its_time_and_none_is_missing)
{
	SKIP_FOR(test_capture__refused());
	each_nap_is_in_the_bucket_of_its_length(_metadata, self, variant);
	a_bucket_has_the_time_of_its_naps(_metadata, self, variant);
	no_sleep_is_missing_and_none_is_counted_twice(_metadata, self, variant);
}

FIXTURE(filters)
{
	struct workload workload;
	struct test_capture test_capture;
	struct capture_hist hist;
};

FIXTURE_VARIANT(filters)
{
	const char *letters;
	uint64_t min_ns;
	uint64_t max_ns;
};

FIXTURE_VARIANT_ADD(filters, none){ .letters = "RSDTtIP?", .max_ns = UINT64_MAX };
FIXTURE_VARIANT_ADD(filters, sleeps){ .letters = "S", .max_ns = UINT64_MAX };
FIXTURE_VARIANT_ADD(filters, runnable){ .letters = "R", .max_ns = UINT64_MAX };
FIXTURE_VARIANT_ADD(filters, long_ones){ .letters = "RSDTtIP?",
					 .min_ns = 250 * NSEC_PER_USEC,
					 .max_ns = UINT64_MAX };
FIXTURE_VARIANT_ADD(filters, short_ones){ .letters = "RSDTtIP?",
					  .max_ns = 250 * NSEC_PER_USEC - 1 };

static uint32_t state_bits(const char *letters)
{
	uint32_t bits = 0;

	if (!strcmp(letters, "RSDTtIP?"))
		return capture__all_states();
	for (; *letters; letters++)
		bits |= capture__state_bit(*letters);
	return bits;
}

FIXTURE_SETUP(filters)
{
	const char *const argv[] = { "stacks", "--wait", "--threads", "3",  "--bits", "5",
				     "--us",   "60",     "--rounds",  "10", NULL };
	struct capture_options options;

	SKIP_FOR(test_capture__refused());
	capture_options__init(&options);
	options.histogram = true;
	options.filter.states = state_bits(variant->letters);
	options.filter.min_ns = variant->min_ns;
	options.filter.max_ns = variant->max_ns;
	ASSERT_EQ(0, workload__start(&self->workload, argv));
	ASSERT_EQ(0, workload__await(&self->workload, "READY"));
	ASSERT_EQ(0, test_capture__open_process(&self->test_capture, &options, &self->workload));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 0));
	ASSERT_EQ(0, close_with_hist(&self->test_capture, &self->hist));
}

FIXTURE_TEARDOWN(filters)
{
	test_capture__free(&self->test_capture);
	workload__free(&self->workload);
}

static uint64_t count_between(const struct capture_hist *hist, size_t first, size_t end)
{
	uint64_t count = 0;

	for (size_t state = 0; state < CAPTURE_HIST_STATES; state++) {
		for (size_t i = first; i < end; i++)
			count += hist->rows[state].buckets[i].count;
	}
	return count;
}

/* Where a limit is the bound of a bucket, what lies beyond it is empty, to the last block. */
static void expect_limits(struct __test_metadata *_metadata, const struct capture_hist *hist,
			  uint64_t unseen, const FIXTURE_VARIANT(filters) * variant)
{
	size_t limit = hist__bucket(250 * NSEC_PER_USEC);
	uint64_t below = count_between(hist, 0, limit);
	uint64_t above = count_between(hist, limit, CAPTURE_HIST_BUCKETS);

	if (variant->min_ns) {
		EXPECT_EQ(0, below);
		/* There may be two: the waits for the word to begin and for the others. */
		EXPECT_LT(0, above + unseen);
	}
	if (variant->max_ns != UINT64_MAX) {
		EXPECT_LT(0, below);
		EXPECT_EQ(0, above);
	}
}

TEST_F(filters, every_seen_block_is_in_the_histogram_or_filtered)
{
	const struct capture_stats *stats = &self->test_capture.stats;
	struct capture_tally all, wanted;

	SKIP_FOR(test_capture__refused());
	all = sum_states(&self->hist, "RSDTtIP?");
	wanted = sum_states(&self->hist, variant->letters);
	EXPECT_EQ(0, stats__unaccounted_count(stats));
	EXPECT_EQ(0, stats__unaccounted_ns(stats));
	EXPECT_EQ(all.count, stats->in_histogram.count);
	EXPECT_EQ(all.ns, stats->in_histogram.ns);
	EXPECT_EQ(all.count, wanted.count);
	EXPECT_LT(500, stats->seen.count);
	EXPECT_EQ(0, stats->lost_internal.count);
	EXPECT_LE(stats->unseen_switches, test_capture__hidden(&self->test_capture));
	if (!variant->min_ns && variant->max_ns == UINT64_MAX && strlen(variant->letters) > 1)
		EXPECT_EQ(stats->seen.count, all.count + stats->in_flight.count);
	expect_limits(_metadata, &self->hist, stats->unseen_switches, variant);
}

FIXTURE(blocked)
{
	struct workload workload;
	struct test_capture test_capture;
	struct capture_hist hist;
};

FIXTURE_SETUP(blocked)
{
	const char *const argv[] = { "deadlock", NULL };
	struct capture_options options;
	struct switches leader;

	SKIP_FOR(test_capture__refused());
	capture_options__init(&options);
	options.histogram = true;
	options.stacks.kernel = options.stacks.user = false;
	ASSERT_EQ(0, workload__start(&self->workload, argv));
	ASSERT_EQ(0, workload__await(&self->workload, "READY"));
	/* The others sleep by then; the leader has just said so, and may be on its way. */
	ASSERT_EQ(0, switches__of_sleeper(self->workload.pid, &leader));
	ASSERT_EQ(0, test_capture__open_process(&self->test_capture, &options, &self->workload));
	ASSERT_EQ(0, test_capture__pass_time(&self->test_capture, 100));
	ASSERT_EQ(0, close_with_hist(&self->test_capture, &self->hist));
}

FIXTURE_TEARDOWN(blocked)
{
	test_capture__free(&self->test_capture);
	workload__free(&self->workload);
}

TEST_F(blocked, threads_that_are_still_blocked_come_as_samples_without_stacks)
{
	const struct capture_stats *stats = &self->test_capture.stats;

	SKIP_FOR(test_capture__refused());
	/* Two in the deadlock, one asleep, and the leader that waits for the test. */
	EXPECT_EQ(4, self->test_capture.nr);
	EXPECT_EQ(4, stats->in_flight.count);
	EXPECT_EQ(0, stats__unaccounted_count(stats));
	for (size_t i = 0; i < self->test_capture.nr; i++) {
		const struct sample *sample = &self->test_capture.samples[i];

		EXPECT_TRUE(sample->still_blocked);
		EXPECT_TRUE(sample->never_ran);
		EXPECT_EQ(0, sample->kernel.nr + sample->user.nr);
		EXPECT_LE(sample->period, stats->end_ns - stats->start_ns);
		EXPECT_LE((stats->end_ns - stats->start_ns) * 99 / 100, sample->period);
	}
	EXPECT_EQ(0, stats->in_histogram.count);
}

TEST_HARNESS_MAIN
