/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options that narrow or delay the choice of targets, and thousands of targets.
 * tests: parallel
 */
#include "common/harness.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "common/test_capture.h"
#include "host/cgroup.h"
#include "host/cpus.h"

FIXTURE(choice)
{
	struct workload workload;
	struct test_capture test_capture;
	struct capture_options options;
	struct cgroup_mounts mounts;
	char group[256]; /* a cgroup of this test, "": none */
};

FIXTURE_SETUP(choice)
{
	SKIP_FOR(test_capture__refused());
	capture_options__init(&self->options);
	self->options.threshold_ns = 0;
}

FIXTURE_TEARDOWN(choice)
{
	uint64_t limit = tolerance__deadline();

	test_capture__free(&self->test_capture);
	workload__free(&self->workload);
	/* Processes leave their cgroup a little after their end. */
	while (self->group[0] && rmdir(self->group) && clock__now_ns() < limit)
		sched_yield();
	cgroup_mounts__free(&self->mounts);
}

static const char *const waits_argv[] = { "waits", "--wait", "--count", "5", "--ms", "10", NULL };

static int start(struct workload *workload, const char *const *argv)
{
	int err = workload__start(workload, argv);

	return err ? err : workload__await(workload, "READY");
}

/* Samples of the workload in a recording of all processes that is narrowed by options. */
static int count_samples(struct test_capture *test_capture, const struct capture_options *options,
			 struct workload *workload, uint64_t *nr)
{
	struct session_filter filter = { .pid = workload->pid };
	int err = test_capture__open(test_capture, options);

	if (!err)
		err = test_capture__run(test_capture, workload, 100);
	if (!err)
		err = test_capture__close(test_capture);
	*nr = test_capture__sum(test_capture, &filter).count;
	return err;
}

TEST_F(choice, a_user_s_threads_are_recorded_and_others_are_not)
{
	uint32_t uid = geteuid();
	uint64_t nr;

	SKIP_FOR(test_capture__refused());
	self->options.targets.all = true;
	self->options.targets.uids = &uid;
	self->options.targets.nr_uids = 1;
	ASSERT_EQ(0, start(&self->workload, waits_argv));
	ASSERT_EQ(0, count_samples(&self->test_capture, &self->options, &self->workload, &nr));
	EXPECT_LE(30, nr);
	EXPECT_EQ(0, stats__unaccounted_count(&self->test_capture.stats));
	EXPECT_EQ(0, stats__unaccounted_ns(&self->test_capture.stats));
}

TEST_F(choice, nothing_of_other_users_is_seen)
{
	uint32_t uid = 54321;
	uint64_t nr;

	SKIP_FOR(test_capture__refused());
	self->options.targets.all = true;
	self->options.targets.uids = &uid;
	self->options.targets.nr_uids = 1;
	ASSERT_EQ(0, start(&self->workload, waits_argv));
	ASSERT_EQ(0, count_samples(&self->test_capture, &self->options, &self->workload, &nr));
	EXPECT_EQ(0, nr);
	EXPECT_EQ(0, self->test_capture.nr);
	EXPECT_EQ(0, self->test_capture.stats.seen.count);
	EXPECT_EQ(0, self->test_capture.stats.unseen_switches);
}

TEST_F(choice, only_blocks_that_end_on_a_wanted_cpu_are_seen)
{
	struct cpus cpus = { 0 };
	uint64_t nr;

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, cpus__parse(&cpus, "0"));
	self->options.targets.all = true;
	self->options.targets.cpu_bits = cpus.bits;
	ASSERT_EQ(0, start(&self->workload, waits_argv));
	ASSERT_EQ(0, count_samples(&self->test_capture, &self->options, &self->workload, &nr));
	EXPECT_LT(0, self->test_capture.nr);
	for (size_t i = 0; i < self->test_capture.nr; i++)
		EXPECT_EQ(0, self->test_capture.samples[i].cpu);
	EXPECT_EQ(0, stats__unaccounted_count(&self->test_capture.stats));
	EXPECT_EQ(0, stats__unaccounted_ns(&self->test_capture.stats));
}

/* Makes a cgroup of v2 and puts a process in. 0 or -errno. */
static int enter_group(char *group, size_t size, const struct cgroup_mounts *mounts, pid_t pid)
{
	char path[300];
	FILE *file;
	int err;

	snprintf(group, size, "%s/denet-test-bpf-%d", mounts->path[CGROUP_V2], getpid());
	if (mkdir(group, 0755))
		return -errno;
	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	file = fopen(path, "we");
	if (!file)
		return -errno;
	err = fprintf(file, "%d", pid) < 0 ? -EIO : 0;
	return fclose(file) ? -errno : err;
}

TEST_F(choice, a_cgroup_is_recorded_and_its_samples_tell_its_id)
{
	struct cgroup_ref ref = { .hierarchy = CGROUP_V2 };
	struct stat stat_buf;
	uint64_t nr;

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, cgroup_mounts__read(&self->mounts, NULL));
	if (!self->mounts.path[CGROUP_V2])
		SKIP(return, "cgroup v2 is not mounted");
	ASSERT_EQ(0, start(&self->workload, waits_argv));
	ASSERT_EQ(0,
		  enter_group(self->group, sizeof(self->group), &self->mounts, self->workload.pid));
	ASSERT_EQ(0, stat(self->group, &stat_buf));
	ref.id = stat_buf.st_ino;
	self->options.targets.all = true;
	self->options.targets.groups = &ref;
	self->options.targets.nr_groups = 1;
	self->options.cgroups = true;
	ASSERT_EQ(0, count_samples(&self->test_capture, &self->options, &self->workload, &nr));
	EXPECT_LE(30, nr);
	EXPECT_EQ(self->test_capture.nr, nr);
	for (size_t i = 0; i < self->test_capture.nr && !self->mounts.path[CGROUP_PERF_EVENT]; i++)
		EXPECT_EQ(ref.id, self->test_capture.samples[i].cgroup);
	EXPECT_EQ(0, stats__unaccounted_count(&self->test_capture.stats));
	EXPECT_EQ(0, stats__unaccounted_ns(&self->test_capture.stats));
}

TEST_F(choice, a_delayed_capture_records_nothing_before_it_begins)
{
	SKIP_FOR(test_capture__refused());
	self->options.delayed = true;
	ASSERT_EQ(0, start(&self->workload, waits_argv));
	ASSERT_EQ(0,
		  test_capture__open_process(&self->test_capture, &self->options, &self->workload));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 100));
	EXPECT_EQ(0, self->test_capture.nr);
	ASSERT_EQ(0, capture__begin(self->test_capture.capture));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	EXPECT_EQ(0, self->test_capture.stats.seen.count);
}

TEST_F(choice, a_delayed_capture_records_from_its_beginning_what_it_has_followed)
{
	const char *const argv[] = { "waits", "--wait", "--count", "5", "--ms", "10", NULL };
	uint64_t begin;

	SKIP_FOR(test_capture__refused());
	self->options.delayed = true;
	ASSERT_EQ(0, start(&self->workload, argv));
	ASSERT_EQ(0,
		  test_capture__open_process(&self->test_capture, &self->options, &self->workload));
	ASSERT_EQ(0, test_capture__pass_time(&self->test_capture, 50));
	begin = clock__now_ns();
	ASSERT_EQ(0, capture__begin(self->test_capture.capture));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 100));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	EXPECT_LE(30, self->test_capture.nr);
	EXPECT_LE(begin, self->test_capture.stats.start_ns);
	for (size_t i = 0; i < self->test_capture.nr; i++)
		EXPECT_LE(self->test_capture.samples[i].period,
			  self->test_capture.samples[i].time - begin);
}

/* The start of the recording stamps such a child; its first time on a CPU must be seen. */
TEST_F(choice, a_child_that_has_not_run_at_the_beginning_is_no_switch_unseen)
{
	const char *const argv[] = { "newborn", "--wait", NULL };
	int err;

	SKIP_FOR(test_capture__refused());
	self->options.delayed = true;
	ASSERT_EQ(0, workload__start(&self->workload, argv));
	err = workload__await(&self->workload, "READY");
	if (err && workload__finish(&self->workload) == 77)
		SKIP(return, "real-time priorities are not permitted");
	ASSERT_EQ(0, err);
	ASSERT_EQ(0,
		  test_capture__open_process(&self->test_capture, &self->options, &self->workload));
	ASSERT_EQ(0, workload__go(&self->workload));
	ASSERT_EQ(0, workload__await(&self->workload, "BORN"));
	ASSERT_EQ(0, capture__begin(self->test_capture.capture));
	err = test_capture__run(&self->test_capture, &self->workload, 100);
	if (err == -EPIPE)
		SKIP(return, "too slow a machine: the child ran before the recording began");
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	EXPECT_GE(test_capture__hidden(&self->test_capture),
		  self->test_capture.stats.unseen_switches);
	EXPECT_EQ(0, stats__unaccounted_count(&self->test_capture.stats));
}

/* The grandchild of the recorder, which is nothing of its own; its parent has no state. */
static pid_t start_stray(const int *until_closed)
{
	struct pollfd closed = { .fd = until_closed[0] };
	int ends[2];
	pid_t pid, stray = -1;

	if (pipe(ends) < 0)
		return -1;
	pid = fork();
	if (!pid) {
		close(until_closed[1]);
		pid = fork();
		if (!pid) {
			while (!poll(&closed, 1, 10))
				;
		} else if (write(ends[1], &pid, sizeof(pid)) == sizeof(pid)) {
			waitpid(pid, NULL, 0);
		}
		_exit(0);
	}
	if (pid < 0 || read(ends[0], &stray, sizeof(stray)) != sizeof(stray))
		stray = -1;
	close(ends[0]);
	close(ends[1]);
	return stray;
}

TEST_F(choice, a_task_whose_birth_was_missed_is_recorded_once_it_was_seen)
{
	uint64_t limit = clock__now_ns() + 60 * NSEC_PER_SEC;
	struct session_filter stray = { 0 };
	int ends[2];

	SKIP_FOR(test_capture__refused());
	self->options.targets.all = true;
	ASSERT_EQ(0, test_capture__open(&self->test_capture, &self->options));
	ASSERT_EQ(0, pipe2(ends, O_CLOEXEC));
	stray.pid = start_stray(ends);
	ASSERT_LT(0, stray.pid);
	while (!test_capture__sum(&self->test_capture, &stray).count && clock__now_ns() < limit) {
		ASSERT_LE(0, test_capture__poll(&self->test_capture, 100, -1));
		ASSERT_EQ(0, test_capture__drain(&self->test_capture));
	}
	close(ends[1]);
	close(ends[0]);
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	EXPECT_LT(0, test_capture__sum(&self->test_capture, &stray).count);
	EXPECT_LT(0, self->test_capture.stats.unseen_switches);
	EXPECT_EQ(0, stats__unaccounted_count(&self->test_capture.stats));
}

TEST_F(choice, six_thousand_children_are_all_recorded_and_none_is_left)
{
	const char *const argv[] = { "forks", "--wait", "--count", "6000", "--parallel",
				     "16",    "--us",   "500",     NULL };
	uint64_t limit, counted = 0;

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, start(&self->workload, argv));
	ASSERT_EQ(0,
		  test_capture__open_process(&self->test_capture, &self->options, &self->workload));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 100));
	limit = tolerance__deadline();
	while (capture__targets_alive(self->test_capture.capture) && clock__now_ns() < limit)
		ASSERT_EQ(0, test_capture__poll(&self->test_capture, 10, -1));
	EXPECT_FALSE(capture__targets_alive(self->test_capture.capture));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	ASSERT_EQ(6000, self->workload.nr_truths);
	/* A thread whose timer expires before it has left its CPU has no block. */
	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		const struct truth *truth = &self->workload.truths[i];
		struct session_filter child = { .pid = truth->pid };

		counted += truth->voluntary;
		ASSERT_LE(truth->voluntary, test_capture__sum(&self->test_capture, &child).count);
	}
	EXPECT_LT(3000, counted);
	EXPECT_EQ(0, self->test_capture.stats.unseen_switches);
	EXPECT_EQ(0, self->test_capture.stats.lost_ring.count);
}

TEST_HARNESS_MAIN
