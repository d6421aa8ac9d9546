/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tasks that a recording covers: targets, their threads and their descendants.
 * tests: parallel
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/harness.h"

#include "base/clock.h"
#include "base/units.h"
#include "common/test_capture.h"

FIXTURE(targets)
{
	struct workload workload;
	struct workload other;
	struct test_capture test_capture;
	struct symbols *user;
	struct capture_options options;
};

FIXTURE_SETUP(targets)
{
	SKIP_FOR(test_capture__refused());
	capture_options__init(&self->options);
	self->options.threshold_ns = 0;
}

FIXTURE_TEARDOWN(targets)
{
	test_capture__free(&self->test_capture);
	workload__free(&self->workload);
	workload__free(&self->other);
	symbols__free(self->user);
}

static const char *const waits_argv[] = { "waits", "--wait", "--count", "5", "--ms", "10", NULL };

static int start(struct workload *workload, const char *const *argv)
{
	int err = workload__start(workload, argv);

	return err ? err : workload__await(workload, "READY");
}

/* A thread's waits are there, as many as the kernel counted and for as long as it tells. */
static void expect_waits(struct __test_metadata *_metadata, const FIXTURE_DATA(targets) * self,
			 const struct truth *truth)
{
	struct session_filter filter = { .pid = truth->pid, .tid = truth->tid };
	struct capture_tally sum = test_capture__sum(&self->test_capture, &filter);
	uint64_t unseen = self->test_capture.stats.unseen_switches;

	EXPECT_LT(0, sum.count)
	TH_LOG("%s", truth->comm);
	/* A block whose end was not shown is missing, and counted. */
	EXPECT_LE(truth->voluntary, sum.count + unseen)
	TH_LOG("%s", truth->comm);
	if (unseen)
		return;
	EXPECT_LE(truth->requested_ns, sum.ns * 101 / 100)
	TH_LOG("%s", truth->comm);
}

TEST_F(targets, one_of_two_like_processes_is_recorded_and_the_other_is_not)
{
	pid_t pid;

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, start(&self->workload, waits_argv));
	ASSERT_EQ(0, start(&self->other, waits_argv));
	pid = self->workload.pid;
	ASSERT_EQ(0,
		  test_capture__open_process(&self->test_capture, &self->options, &self->workload));
	ASSERT_EQ(0, workload__go(&self->other));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 100));
	ASSERT_EQ(0, workload__finish(&self->other));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	for (size_t i = 0; i < self->test_capture.nr; i++)
		EXPECT_EQ((uint32_t)pid, self->test_capture.samples[i].pid);
	EXPECT_EQ(6, self->workload.nr_truths);
	for (size_t i = 0; i < self->workload.nr_truths; i++)
		expect_waits(_metadata, self, &self->workload.truths[i]);
}

TEST_F(targets, named_threads_are_recorded_and_their_siblings_are_not)
{
	const char *const names[2] = { "w-pipe", "w-nanosleep" };
	pid_t tids[2];

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, start(&self->workload, waits_argv));
	for (int i = 0; i < 2; i++)
		tids[i] = workload__thread(&self->workload, names[i]);
	ASSERT_TRUE(tids[0] && tids[1]);
	self->options.targets.tids = tids;
	self->options.targets.nr_tids = 2;
	ASSERT_EQ(0, test_capture__open(&self->test_capture, &self->options));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 100));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	for (size_t i = 0; i < self->test_capture.nr; i++) {
		uint32_t tid = self->test_capture.samples[i].tid;

		EXPECT_TRUE(tid == (uint32_t)tids[0] || tid == (uint32_t)tids[1]);
	}
	for (int i = 0; i < 2; i++) {
		const struct truth *truth = workload__truth(&self->workload, names[i]);

		ASSERT_TRUE(truth != NULL);
		EXPECT_EQ(tids[i], truth->tid);
		expect_waits(_metadata, self, truth);
	}
}

/* Blocks in a function of the threads that the workload tells of. */
static uint64_t blocks_in(const FIXTURE_DATA(targets) * self, const char *function)
{
	uint64_t blocks = 0;

	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		struct session_filter filter = { .pid = self->workload.truths[i].pid,
						 .tid = self->workload.truths[i].tid,
						 .states = "SD",
						 .function = function,
						 .user = self->user };

		blocks += test_capture__sum(&self->test_capture, &filter).count;
	}
	return blocks;
}

/* As the kernel counted them: a timer may be over before its process has gone to sleep. */
static uint64_t counted(const struct workload *workload)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < workload->nr_truths; i++)
		sum += workload->truths[i].voluntary;
	return sum;
}

/* The sleep is in wait_once; in the function around it one may wait for a page as well. */
static void expect_blocks(struct __test_metadata *_metadata, const FIXTURE_DATA(targets) * self,
			  const char *around)
{
	EXPECT_LT(0, blocks_in(self, "wait_once"));
	EXPECT_LE(blocks_in(self, "wait_once"), counted(&self->workload));
	EXPECT_LE(counted(&self->workload),
		  blocks_in(self, around) + self->test_capture.stats.unseen_switches);
}

static const char *const forks_argv[] = { "forks", "--wait", "--count", "30", NULL };

TEST_F(targets, children_of_targets_are_recorded)
{
	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, start(&self->workload, forks_argv));
	self->user = symbols__of_process(self->workload.pid);
	ASSERT_EQ(0,
		  test_capture__open_process(&self->test_capture, &self->options, &self->workload));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 100));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	EXPECT_EQ(30, self->workload.nr_truths);
	expect_blocks(_metadata, self, "sleep_and_exit");
}

TEST_F(targets, children_are_not_recorded_with_no_inherit)
{
	pid_t pid;

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, start(&self->workload, forks_argv));
	pid = self->workload.pid;
	self->options.targets.no_inherit = true;
	ASSERT_EQ(0,
		  test_capture__open_process(&self->test_capture, &self->options, &self->workload));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 100));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	EXPECT_EQ(30, self->workload.nr_truths);
	EXPECT_LT(0, self->test_capture.nr);
	for (size_t i = 0; i < self->test_capture.nr; i++)
		EXPECT_EQ((uint32_t)pid, self->test_capture.samples[i].pid);
}

TEST_F(targets, threads_started_during_the_recording_are_recorded)
{
	const char *const argv[] = { "threads", "--wait", "--count", "40", NULL };

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, start(&self->workload, argv));
	self->user = symbols__of_process(self->workload.pid);
	ASSERT_EQ(0,
		  test_capture__open_process(&self->test_capture, &self->options, &self->workload));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 100));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	EXPECT_EQ(40, self->workload.nr_truths);
	expect_blocks(_metadata, self, "start_sleeping");
}

TEST_F(targets, targets_are_alive_until_the_last_one_has_ended)
{
	uint64_t limit;

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, start(&self->workload, waits_argv));
	ASSERT_EQ(0,
		  test_capture__open_process(&self->test_capture, &self->options, &self->workload));
	EXPECT_TRUE(capture__targets_alive(self->test_capture.capture));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 100));
	/* Its storage goes with the task, which the kernel frees a little later. */
	limit = tolerance__deadline();
	while (capture__targets_alive(self->test_capture.capture) && clock__now_ns() < limit)
		ASSERT_EQ(0, test_capture__poll(&self->test_capture, 10, -1));
	EXPECT_FALSE(capture__targets_alive(self->test_capture.capture));
}

/* Whether fd is the link by which the kernel calls the program of that name. */
static bool is_link_of(int fd, const char *program)
{
	char name[64], target[64] = "";
	struct bpf_link_info link = { 0 };
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(link);
	int prog_fd;
	bool found;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (readlink(name, target, sizeof(target) - 1) < 0 || !strstr(target, "bpf") ||
	    !strstr(target, "link") || bpf_obj_get_info_by_fd(fd, &link, &size))
		return false;
	prog_fd = bpf_prog_get_fd_by_id(link.prog_id);
	size = sizeof(info);
	found = prog_fd >= 0 && !bpf_obj_get_info_by_fd(prog_fd, &info, &size) &&
		!strcmp(info.name, program);
	close(prog_fd);
	return found;
}

/* Replaces the descriptor of the link to that program: the kernel calls it no more. */
static int unhook(const char *program)
{
	DIR *dir = opendir("/proc/self/fd");
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), ret = -1;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		int fd = (int)strtol(entry->d_name, NULL, 10);

		if (is_link_of(fd, program))
			ret = dup2(null, fd) == fd ? 0 : -1;
	}
	if (dir)
		closedir(dir);
	close(null);
	return ret;
}

TEST_F(targets, the_end_of_targets_whose_deaths_were_not_seen_is_noticed)
{
	uint64_t limit;

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, start(&self->workload, waits_argv));
	ASSERT_EQ(0,
		  test_capture__open_process(&self->test_capture, &self->options, &self->workload));
	ASSERT_EQ(0, unhook("task_gone"));
	/* The periodic count does not take live targets for dead. */
	limit = clock__now_ns() + (CAPTURE_RECOUNT_MS + 300) * NSEC_PER_MSEC;
	while (clock__now_ns() < limit) {
		ASSERT_EQ(0, test_capture__poll(&self->test_capture, 100, -1));
		ASSERT_TRUE(capture__targets_alive(self->test_capture.capture));
	}
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 100));
	EXPECT_TRUE(capture__targets_alive(self->test_capture.capture));
	limit = tolerance__deadline();
	while (capture__targets_alive(self->test_capture.capture) && clock__now_ns() < limit)
		ASSERT_EQ(0, test_capture__poll(&self->test_capture, 10, -1));
	EXPECT_FALSE(capture__targets_alive(self->test_capture.capture));
}

TEST_F(targets, own_process_is_never_recorded)
{
	struct session_filter own = { .pid = getpid() };

	SKIP_FOR(test_capture__refused());
	self->options.targets.all = true;
	ASSERT_EQ(0, start(&self->workload, waits_argv));
	ASSERT_EQ(0, test_capture__open(&self->test_capture, &self->options));
	ASSERT_EQ(0, test_capture__run(&self->test_capture, &self->workload, 100));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	EXPECT_LT(0, self->test_capture.nr);
	EXPECT_EQ(0, test_capture__sum(&self->test_capture, &own).count);
}

TEST_HARNESS_MAIN
