/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The programs' own walk of user frames finds what the kernel's finds, frame for frame:
 * frames.bpf.c does both whenever a workload leaves its CPU.
 * tests: parallel
 */
#include <bpf/libbpf.h>
#include <errno.h>

#include "common/harness.h"

#include "common/test_capture.h"
#include "tests/bpf/frames.skel.h"

#define MAX_FRAMES 127

#if defined(__x86_64__)
FIXTURE(frames)
{
	struct workload workload;
	struct frames_bpf *skel;
};

FIXTURE_SETUP(frames)
{
	SKIP_FOR(test_capture__refused());
}

FIXTURE_TEARDOWN(frames)
{
	frames_bpf__destroy(self->skel);
	workload__free(&self->workload);
}

/* Runs a workload under the comparison. 0 or a negative errno. */
static int compare(struct frames_bpf **skel, struct workload *workload, const char *const *argv)
{
	int err;

	*skel = frames_bpf__open();
	if (!*skel)
		return -errno;
	(*skel)->rodata->quick_frames = 1;
	err = frames_bpf__load(*skel);
	if (!err)
		err = frames_bpf__attach(*skel);
	if (!err)
		err = workload__start(workload, argv);
	if (!err)
		err = workload__await(workload, "READY");
	if (err)
		return err;
	(*skel)->bss->pid = (__u32)workload->pid;
	err = workload__go(workload);
	return err ? err : workload__finish(workload);
}

/* How often its threads have left their CPUs, by the kernel's count: each time was compared. */
static uint64_t switches(const struct workload *workload)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < workload->nr_truths; i++)
		sum += workload->truths[i].voluntary + workload->truths[i].involuntary;
	return sum;
}

#define EXPECT_SAME(least)                                                                         \
	do {                                                                                       \
		const struct frames_bpf__bss *bss = self->skel->bss;                               \
                                                                                                   \
		EXPECT_LE((least), bss->result.same);                                              \
		EXPECT_EQ(0, bss->result.refused);                                                 \
		EXPECT_EQ(0, bss->result.differ)                                                   \
		TH_LOG("frame %llu: ours %llx of %llu, the kernel's %llx of %llu",                 \
		       bss->result.differ_at, bss->result.ours, bss->result.nr_ours,               \
		       bss->result.kernels, bss->result.nr_kernels);                               \
	} while (0)

TEST_F(frames, of_chains_that_lead_astray_are_those_that_the_kernel_finds)
{
	const char *const argv[] = { "oddframes", "--wait", "--rounds", "20", NULL };

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, compare(&self->skel, &self->workload, argv));
	EXPECT_LT(0, switches(&self->workload));
	EXPECT_SAME(switches(&self->workload));
	EXPECT_EQ(MAX_FRAMES, self->skel->bss->result.deepest);
}

TEST_F(frames, of_many_switches_are_those_that_the_kernel_finds)
{
	const char *const argv[] = { "short",   "--wait", "--rounds", "5000",
				     "--depth", "17",	  NULL };

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, compare(&self->skel, &self->workload, argv));
	EXPECT_LT(0, switches(&self->workload));
	EXPECT_SAME(switches(&self->workload));
	EXPECT_LE(17, self->skel->bss->result.deepest);
}

TEST_F(frames, of_a_process_that_the_kernel_has_just_made_are_those_that_it_finds)
{
	const char *const argv[] = { "forks", "--wait", NULL };

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, compare(&self->skel, &self->workload, argv));
	EXPECT_SAME(1);
}
#else
TEST(frames_are_walked_by_the_kernel_on_this_architecture)
{
	SKIP(return, "only x86-64 has a walk of our own");
}
#endif

TEST_HARNESS_MAIN
