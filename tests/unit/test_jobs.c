/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "base/clock.h"
#include "base/jobs.h"
#include "base/units.h"
#include "common/tolerance.h"

static int block_for_ever(void)
{
	while (pause())
		;
	return 0;
}

#define PATIENCE_MS 100

/* Takes twice as much CPU time as a job may take to answer. */
static void compute(void)
{
	struct timespec used = { 0 };

	while ((uint64_t)used.tv_sec * NSEC_PER_SEC + (uint64_t)used.tv_nsec <
	       2 * PATIENCE_MS * NSEC_PER_MSEC)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
}

/* Behaviour of a job. */
enum kind { GOOD, BAD, HANGS, DIES, HANGS_LATE, BUSY };

struct job_test {
	const enum kind *kinds;
	int answers[64];
	int status[64];
	int dones;
	int answer_error;
};

static int job__run(void *ctx, size_t index, struct child_out *out)
{
	struct job_test *test = ctx;

	switch (test->kinds[index]) {
	case HANGS:
		return block_for_ever();
	case HANGS_LATE:
		child_out__put(out, 5, &index, sizeof(index));
		child_out__flush(out);
		return block_for_ever();
	case DIES:
		_exit(3);
	case BAD:
		return -EACCES;
	case BUSY:
		compute();
		/* fall through */
	default:
		return child_out__put(out, 5, &index, sizeof(index));
	}
}

static int job__answer(void *ctx, size_t index, const struct child_message *message)
{
	struct job_test *test = ctx;
	size_t sent;

	if (message->type == 5) {
		memcpy(&sent, message->data, sizeof(sent));
		test->answers[index] += sent == index;
	}
	return test->answer_error;
}

static void job__done(void *ctx, size_t index, int status)
{
	struct job_test *test = ctx;

	test->status[index] = status;
	test->dones++;
}

static int run_jobs(struct job_test *test, size_t nr, int deadline_ms)
{
	struct jobs jobs = { .nr = nr, .ctx = test, .run = job__run,
			     .answer = job__answer, .done = job__done };

	memset(test->status, 0x55, sizeof(test->status));
	return jobs__run(&jobs, deadline_ms);
}

TEST(jobs_that_hang_or_die_cost_only_themselves)
{
	static const enum kind kinds[] = { GOOD, HANGS, GOOD, BAD, HANGS_LATE, DIES, GOOD, HANGS };
	struct job_test test = { .kinds = kinds };

	ASSERT_EQ(0, run_jobs(&test, 8, 4000));
	EXPECT_EQ(8, test.dones);
	EXPECT_EQ(0, test.status[0]);
	EXPECT_EQ(-ETIMEDOUT, test.status[1]);
	EXPECT_EQ(0, test.status[2]);
	EXPECT_EQ(-EACCES, test.status[3]);
	EXPECT_EQ(-ETIMEDOUT, test.status[4]);
	EXPECT_EQ(-ECHILD, test.status[5]);
	EXPECT_EQ(0, test.status[6]);
	EXPECT_EQ(-ETIMEDOUT, test.status[7]);
	EXPECT_EQ(1, test.answers[0]);
	EXPECT_EQ(1, test.answers[4]);
	EXPECT_EQ(1, test.answers[6]);
}

TEST(many_hanging_jobs_leave_time_for_the_last)
{
	enum kind kinds[21];
	struct job_test test = { .kinds = kinds };

	for (int i = 0; i < 20; i++)
		kinds[i] = HANGS;
	kinds[20] = GOOD;
	ASSERT_EQ(0, run_jobs(&test, 21, tolerance__slowness() * 2000));
	EXPECT_EQ(21, test.dones);
	EXPECT_EQ(0, test.status[20]);
}

TEST(jobs_not_begun_at_the_deadline_are_told_apart_from_those_that_hang)
{
	static const enum kind kinds[] = { GOOD, GOOD };
	struct job_test test = { .kinds = kinds };

	ASSERT_EQ(0, run_jobs(&test, 2, 0));
	EXPECT_EQ(2, test.dones);
	EXPECT_EQ(-ECANCELED, test.status[0]);
	EXPECT_EQ(-ECANCELED, test.status[1]);
	ASSERT_EQ(0, run_jobs(&test, 0, 1000));
}

/* Its processes may have so many descriptors: a pipe cannot be had. */
static void limit_descriptors(rlim_t nr)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = nr;
	setrlimit(RLIMIT_NOFILE, &limit);
}

TEST(jobs_without_a_process_say_so_and_are_no_error)
{
	static const enum kind kinds[] = { GOOD, GOOD };
	struct job_test test = { .kinds = kinds };

	limit_descriptors(0);
	ASSERT_EQ(0, run_jobs(&test, 2, 100));
	EXPECT_EQ(2, test.dones);
	EXPECT_EQ(-EAGAIN, test.status[0]);
	EXPECT_EQ(-EAGAIN, test.status[1]);
}

static void raise_limit(int signal)
{
	(void)signal;
	limit_descriptors(256);
}

TEST(a_process_that_cannot_be_had_for_a_moment_is_asked_for_again)
{
	const struct itimerval soon = { .it_value.tv_usec = 20000 };
	static const enum kind kinds[] = { GOOD, GOOD };
	struct job_test test = { .kinds = kinds };

	signal(SIGALRM, raise_limit);
	limit_descriptors(0);
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &soon, NULL));
	ASSERT_EQ(0, run_jobs(&test, 2, 60000));
	EXPECT_EQ(0, test.status[0]);
	EXPECT_EQ(0, test.status[1]);
}

TEST(error_of_an_answer_ends_the_jobs)
{
	static const enum kind kinds[] = { GOOD, GOOD };
	struct job_test test = { .kinds = kinds, .answer_error = -ENOSPC };

	EXPECT_EQ(-ENOSPC, run_jobs(&test, 2, 4000));
	EXPECT_EQ(0, test.dones);
}

/* Until no job is left; -1: it took too long. */
static int advance_all(struct job_test *test, size_t nr, int patience_ms)
{
	struct jobs jobs = { .nr = nr, .ctx = test, .run = job__run,
			     .answer = job__answer, .done = job__done };
	struct jobs_task *task = jobs__begin(&jobs, patience_ms);
	uint64_t deadline = clock__now_ns() + 60 * NSEC_PER_SEC;
	int ret = 1;

	while (task && ret == 1 && clock__now_ns() < deadline) {
		struct pollfd poll_fd = { .fd = jobs__fd(task), .events = POLLIN };

		poll(&poll_fd, 1, poll_fd.fd < 0 ? 0 : patience_ms);
		ret = jobs__advance(task, clock__now_ns());
	}
	jobs__end(task);
	return ret == 1 ? -1 : ret;
}

TEST(jobs_beside_other_work_that_hang_or_die_cost_only_themselves)
{
	static const enum kind kinds[] = { GOOD, HANGS, GOOD, BAD, HANGS_LATE, DIES, GOOD, HANGS };
	struct job_test test = { .kinds = kinds };

	ASSERT_EQ(0, advance_all(&test, 8, PATIENCE_MS));
	EXPECT_EQ(8, test.dones);
	EXPECT_EQ(0, test.status[0]);
	EXPECT_EQ(-ETIMEDOUT, test.status[1]);
	EXPECT_EQ(0, test.status[2]);
	EXPECT_EQ(-EACCES, test.status[3]);
	EXPECT_EQ(-ETIMEDOUT, test.status[4]);
	EXPECT_EQ(-ECHILD, test.status[5]);
	EXPECT_EQ(0, test.status[6]);
	EXPECT_EQ(-ETIMEDOUT, test.status[7]);
	EXPECT_EQ(1, test.answers[0]);
	EXPECT_EQ(1, test.answers[4]);
	EXPECT_EQ(1, test.answers[6]);
}

TEST(a_job_beside_other_work_that_computes_for_longer_does_not_hang)
{
	static const enum kind kinds[] = { BUSY, GOOD };
	struct job_test test = { .kinds = kinds };

	ASSERT_EQ(0, advance_all(&test, 2, PATIENCE_MS));
	EXPECT_EQ(2, test.dones);
	EXPECT_EQ(0, test.status[0]);
	EXPECT_EQ(1, test.answers[0]);
	EXPECT_EQ(0, test.status[1]);
}

TEST(a_look_at_jobs_that_hang_does_not_wait_for_them)
{
	static const enum kind kinds[] = { HANGS };
	struct job_test test = { .kinds = kinds };
	struct jobs jobs = { .nr = 1, .ctx = &test, .run = job__run,
			     .answer = job__answer, .done = job__done };
	struct jobs_task *task = jobs__begin(&jobs, 3600 * 1000);

	ASSERT_NE(NULL, task);
	/* It would not come back. */
	for (int i = 0; i < 10; i++)
		EXPECT_EQ(1, jobs__advance(task, clock__now_ns()));
	EXPECT_EQ(0, test.dones);
	jobs__end(task);
}

TEST(jobs_beside_other_work_without_a_process_say_so)
{
	static const enum kind kinds[] = { GOOD, GOOD };
	struct job_test test = { .kinds = kinds };

	limit_descriptors(0);
	EXPECT_EQ(0, advance_all(&test, 2, 100));
	EXPECT_EQ(2, test.dones);
	EXPECT_EQ(-EAGAIN, test.status[0]);
	EXPECT_EQ(-EAGAIN, test.status[1]);
}

TEST_HARNESS_MAIN
