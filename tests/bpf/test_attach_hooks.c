/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All attach hooks that the kernel loads give the same folded stacks with the same time. Blocks
 * that a hook cannot keep are counted.
 */
#include "common/harness.h"

#include "base/units.h"
#include "bpf/kernel_features.h"
#include "bpf_skel/wire.h"
#include "common/test_capture.h"

#define MAX_FOLDS 256
#define MAX_TEXT 1024

/* One folded stack: names of functions, leaf first, without what lies above main's thread. */
struct fold {
	char text[MAX_TEXT];
	uint64_t count;
	uint64_t ns;
};

struct profile {
	struct fold folds[MAX_FOLDS];
	size_t nr;
	enum attach_hook hook;
	uint64_t bracket_ns; /* of all waits together, as the workload measured them */
	int64_t missed;	     /* blocks by the kernel's own count that are in no sample */
	int64_t invented;    /* blocks in known waits that the kernel did not count */
	int64_t unseen;	     /* and those whose end was not shown, as the capture says */
	uint64_t orc_walks;  /* kernel stacks that were walked by ORC tables */
	uint64_t orc_fallbacks;
};

FIXTURE(hooks)
{
	struct workload workload;
	struct test_capture test_capture;
	struct symbols *kernel;
	struct profile *profiles; /* indexed by way */
};

FIXTURE_SETUP(hooks)
{
	SKIP_FOR(test_capture__refused());
	self->kernel = symbols__of_kernel();
	self->profiles = calloc(ATTACH_HOOK_MAX, sizeof(*self->profiles));
	ASSERT_TRUE(self->kernel && self->profiles);
}

FIXTURE_TEARDOWN(hooks)
{
	test_capture__free(&self->test_capture);
	workload__free(&self->workload);
	symbols__free(self->kernel);
	free(self->profiles);
}

static void add_frames(char *text, const struct frames *frames, const struct symbols *symbols,
		       const char *unknown)
{
	for (uint32_t i = 0; i < frames->nr; i++) {
		size_t len = strlen(text);
		const char *name = symbols__name(symbols, frames->ips[i]);

		/* Libraries are not looked up: one word for all of their frames. */
		snprintf(text + len, MAX_TEXT - len, "%s;", name ? name : unknown);
	}
}

static int add_sample(struct profile *profile, const struct sample *sample,
		      const struct symbols *kernel, const struct symbols *user)
{
	char text[MAX_TEXT] = "";
	struct fold *fold;
	size_t i = 0;

	add_frames(text, &sample->kernel, kernel, "[kernel]");
	add_frames(text, &sample->user, user, "[library]");
	while (i < profile->nr && strcmp(profile->folds[i].text, text))
		i++;
	if (i == MAX_FOLDS)
		return -E2BIG;
	fold = &profile->folds[i];
	if (i == profile->nr) {
		profile->nr++;
		snprintf(fold->text, sizeof(fold->text), "%s", text);
	}
	fold->count += sample->count;
	fold->ns += sample->period;
	return 0;
}

static void add_truths(FIXTURE_DATA(hooks) * self, struct profile *profile,
		       const struct symbols *user)
{
	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		const struct truth *truth = &self->workload.truths[i];
		struct session_filter filter = { .tid = truth->tid,
						 .states = "SD",
						 .function = truth->function,
						 .user = user };
		int64_t counted = (int64_t)truth->voluntary;

		profile->bracket_ns += truth->bracket_ns;
		/* The chain of this one is not known: libc is around the call. */
		if (!strcmp(truth->function, "-"))
			continue;
		profile->invented +=
			(int64_t)test_capture__sum(&self->test_capture, &filter).count - counted;
		/* It may wait for a page beside the wait that is known. */
		filter.function = "start_waiting";
		profile->missed +=
			counted - (int64_t)test_capture__sum(&self->test_capture, &filter).count;
	}
}

/* Records the workload's known waits with one hook. -EOPNOTSUPP: the kernel refuses the hook. */
static int take_profile(FIXTURE_DATA(hooks) * self, enum attach_hook hook)
{
	const char *const argv[] = { "waits", "--wait", "--count", "10", "--ms", "20", NULL };
	struct profile *profile = &self->profiles[hook];
	struct capture_options options;
	struct symbols *user;
	int err;

	capture_options__init(&options);
	options.stacks.hook = hook;
	/* At switch-out there is no walk by tables: all walk along frame pointers. */
	options.stacks.copies = (struct capture_copies){ 0 };
	err = workload__start(&self->workload, argv);
	if (!err)
		err = workload__await(&self->workload, "READY");
	if (!err)
		err = test_capture__open_process(&self->test_capture, &options, &self->workload);
	if (err) {
		workload__free(&self->workload);
		test_capture__free(&self->test_capture);
		/* Switch-out always loads; each of the others is refused by some kernels. */
		return hook != ATTACH_HOOK_SWITCH_OUT ? -EOPNOTSUPP : err;
	}
	profile->hook = capture__attach_hook(self->test_capture.capture);
	user = symbols__of_process(self->workload.pid);
	err = test_capture__run(&self->test_capture, &self->workload, 100);
	if (!err)
		err = test_capture__close(&self->test_capture);
	for (size_t i = 0; !err && i < self->test_capture.nr; i++) {
		const struct sample *sample = &self->test_capture.samples[i];

		/* The rest is start and end of threads, which no two runs have alike. */
		if (sample->state == 'S' && frames__call(&sample->user, user, "repeat_wait"))
			err = add_sample(profile, sample, self->kernel, user);
	}
	add_truths(self, profile, user);
	profile->unseen = (int64_t)self->test_capture.stats.unseen_switches;
	profile->orc_walks = self->test_capture.stats.orc_walks;
	profile->orc_fallbacks = self->test_capture.stats.orc_fallbacks;
	if (self->test_capture.stats.unseen_switches > test_capture__hidden(&self->test_capture)) {
		stats__print(&self->test_capture.stats);
		err = -ENODATA;
	}
	symbols__free(user);
	workload__free(&self->workload);
	test_capture__free(&self->test_capture);
	return err;
}

static const struct fold *find_fold(const struct profile *profile, const char *text)
{
	for (size_t i = 0; i < profile->nr; i++) {
		if (!strcmp(profile->folds[i].text, text))
			return &profile->folds[i];
	}
	return NULL;
}

static void expect_same(struct __test_metadata *_metadata, const struct profile *a,
			const struct profile *b)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < a->nr; i++) {
		const struct fold *one = &a->folds[i], *other = find_fold(b, one->text);

		ASSERT_TRUE(other != NULL)
		TH_LOG("by %s, but not by %s: %s", attach_hook__name(a->hook),
		       attach_hook__name(b->hook), one->text);
		/* 20 ms each, but for threads that come late into a wait. */
		EXPECT_LE(one->count * 10 * NSEC_PER_MSEC, one->ns)
		TH_LOG("%s", one->text);
		ns += one->ns;
	}
	EXPECT_LE(ns, a->bracket_ns * 101 / 100);
	/*
	 * Fewer than ten in each run: a thread preempted on the way into a wait may be too late for
	 * it.
	 */
	EXPECT_LE(a->invented, 0)
	TH_LOG("%s", attach_hook__name(a->hook));
	EXPECT_LE(a->missed, a->unseen)
	TH_LOG("%s", attach_hook__name(a->hook));
}

/* Known waits have no frame that the tables do not describe; another thread's may have one. */
static void expect_orc_walks(struct __test_metadata *_metadata, const struct profile *profile)
{
	struct kernel_features features;
	bool can = !kernel_features__read(&features) && features.orc.known &&
		   features.quick_frames;

	EXPECT_EQ(can, profile->orc_walks > 0)
	TH_LOG("%s", attach_hook__name(profile->hook));
	EXPECT_LE(profile->orc_fallbacks, profile->orc_walks / 10)
	TH_LOG("%s: %llu of %llu walks fell back", attach_hook__name(profile->hook),
	       (unsigned long long)profile->orc_fallbacks,
	       (unsigned long long)(profile->orc_walks + profile->orc_fallbacks));
}

TEST_F(hooks, all_that_load_give_the_same_folded_stacks)
{
	const struct profile *first = NULL;
	size_t compared = 0;

	SKIP_FOR(test_capture__refused());
	for (enum attach_hook hook = ATTACH_HOOK_AUTO + 1; hook < ATTACH_HOOK_MAX; hook++) {
		int err = take_profile(self, hook);

		if (err == -EOPNOTSUPP)
			continue;
		ASSERT_EQ(0, err)
		TH_LOG("%s", attach_hook__name(hook));
		ASSERT_EQ(hook, self->profiles[hook].hook);
		EXPECT_LE(5, self->profiles[hook].nr);
		expect_orc_walks(_metadata, &self->profiles[hook]);
		if (first) {
			expect_same(_metadata, first, &self->profiles[hook]);
			expect_same(_metadata, &self->profiles[hook], first);
			compared++;
		} else {
			first = &self->profiles[hook];
		}
	}
	if (!compared)
		SKIP(return, "this kernel loads one way only: nothing to compare");
}

/* By default, where the verifier takes the programs for it: on Linux 5.17 and later. */
TEST_F(hooks, user_stacks_are_walked_by_tables_where_they_can_be)
{
	const char *const argv[] = { "waits", "--wait", "--count", "10", "--ms", "5", NULL };
	struct kernel_features features;
	struct capture_options options;
	enum attach_hook hook;
	bool can;

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, kernel_features__read(&features));
	capture_options__init(&options);
	options.stacks.copies.tables = true;
	ASSERT_EQ(0, workload__start(&self->workload, argv));
	ASSERT_EQ(0, workload__await(&self->workload, "READY"));
	ASSERT_EQ(0, test_capture__open_process(&self->test_capture, &options, &self->workload));
	hook = capture__attach_hook(self->test_capture.capture);
	can = features.quick_frames && features.has_find_vma && hook != ATTACH_HOOK_SWITCH_OUT;
	EXPECT_EQ(can, capture__walks_by_tables(self->test_capture.capture));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 0));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
}

/* Blocks from before the recording: their user stacks could not be walked. */
TEST_F(hooks, a_block_from_before_the_start_has_its_kernel_stack_at_least)
{
	const char *const argv[] = { "waits", "--wait", "--count", "1", "--ms", "10", NULL };
	struct capture_options options;
	size_t old = 0;

	SKIP_FOR(test_capture__refused());
	capture_options__init(&options);
	options.stacks.hook = ATTACH_HOOK_SWITCH_OUT;
	options.threshold_ns = 0;
	ASSERT_EQ(0, workload__start(&self->workload, argv));
	ASSERT_EQ(0, workload__await(&self->workload, "READY"));
	ASSERT_EQ(0, test_capture__open_process(&self->test_capture, &options, &self->workload));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 0));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	for (size_t i = 0; i < self->test_capture.nr; i++) {
		const struct sample *sample = &self->test_capture.samples[i];

		EXPECT_LT(0, sample->kernel.nr);
		if (sample->time - sample->period != self->test_capture.stats.start_ns)
			continue;
		EXPECT_EQ(0, sample->user.nr);
		old++;
	}
	EXPECT_LE(6, old);
	EXPECT_EQ(0, self->test_capture.stats.lost_stack.count);
	EXPECT_EQ(0, stats__unaccounted_count(&self->test_capture.stats));
}

/* More threads than stacks that can be parked: said, and none of their time is lost. */
TEST_F(hooks, stacks_that_find_no_room_are_counted_with_their_time)
{
	const char *const argv[] = { "threads", "--wait", "--hold", "--count", "17500",
				     "--us",	"1000",	  "--parallel", "17500", NULL };
	const struct capture_stats *stats = &self->test_capture.stats;
	struct capture_tally without = { 0 };
	struct capture_options options;

	SKIP_FOR(test_capture__refused());
	if (getenv("DENET_TEST_SMALL"))
		SKIP(return, "17,500 threads are too many here: DENET_TEST_SMALL is set");
	capture_options__init(&options);
	options.stacks.hook = ATTACH_HOOK_SWITCH_OUT;
	options.threshold_ns = 0;
	options.ring_pages = 4096;
	ASSERT_EQ(0, workload__start(&self->workload, argv));
	ASSERT_EQ(0, workload__await(&self->workload, "READY"));
	ASSERT_EQ(0, test_capture__open_process(&self->test_capture, &options, &self->workload));
	/* However long it takes to make them: all but the last few sleep at once. */
	ASSERT_EQ(0, test_capture__run_until(&self->test_capture, &self->workload, 0, "RESTING"));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 0));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	for (size_t i = 0; i < self->test_capture.nr; i++) {
		const struct sample *sample = &self->test_capture.samples[i];

		/* A block that began before the recording has no user frames either. */
		if (sample->user.nr || sample->time - sample->period == stats->start_ns)
			continue;
		without.count++;
		without.ns += sample->period;
	}
	EXPECT_LT(0, without.count);
	EXPECT_EQ(stats->lost_stack.count, without.count);
	EXPECT_EQ(stats->lost_stack.ns, without.ns);
	EXPECT_EQ(0, stats__unaccounted_count(stats));
	EXPECT_EQ(0, stats__unaccounted_ns(stats));
}

TEST_HARNESS_MAIN
