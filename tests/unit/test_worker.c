/* SPDX-License-Identifier: GPL-2.0-only */
/* The process that unwinds for us: its results, and the results of samples when it fails. */
#include "unwind/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "common/harness.h"
#include "common/machine_events.h"
#include "common/process_state.h"
#include "common/stopped.h"
#include "common/tolerance.h"
#include "unwind/blame.h"

#define COPY 8192
#define MAX_SAMPLES 20000

/* Result of a sample. */
struct given {
	enum unwind_status status;
	uint32_t nr;
	uint64_t sum; /* of the frames */
};

FIXTURE(worker)
{
	struct stopped stopped;
	struct machine *machine;
	struct unwind_worker *worker;
	struct unwind_worker_stats stats;
	struct given *given;
	size_t nr;	 /* results */
	bool disordered; /* a result that was not its turn */
	const char *refused;
};

static int take_result(void *ctx, void *cookie, const struct unwind_result *result)
{
	FIXTURE_DATA(worker) *self = ctx;
	struct given *given = &self->given[self->nr];

	if ((uintptr_t)cookie != self->nr)
		self->disordered = true;
	*given = (struct given){ .status = result->status, .nr = result->nr };
	for (uint32_t i = 0; i < result->nr; i++)
		given->sum += result->ips[i] * (i + 1);
	self->nr++;
	return 0;
}

/* A program that is stopped where it pauses, and its stack. */
static int begin(FIXTURE_DATA(worker) *self, const char *program, int deadline_ms)
{
	const struct unwind_worker_options options = {
		.max_bytes = 1 << 20,
		.deadline_ms = tolerance__slowness() * deadline_ms,
	};
	const char *const argv[] = { program, "nested", NULL };
	int err;

	self->machine = machine__new();
	if (!self->machine)
		return -ENOMEM;
	self->worker = unwind_worker__new(&options, self->machine, take_result, self);
	if (!self->worker)
		return -ENOMEM;
	err = stopped__start(&self->stopped, argv);
	if (!err)
		err = stopped__await(&self->stopped, STOPPED_IN_PAUSE, false);
	if (!err)
		err = stopped__take(&self->stopped, COPY);
	if (err != -EPERM)
		return err;
	self->refused = "another process's registers must not be read here";
	return 0;
}

FIXTURE_SETUP(worker)
{
	memset(self, 0, sizeof(*self));
	self->given = calloc(MAX_SAMPLES, sizeof(*self->given));
	ASSERT_EQ(0, begin(self, "nofp", 200));
}

static void end(FIXTURE_DATA(worker) *self)
{
	unwind_worker__delete(self->worker);
	machine__delete(self->machine);
	stopped__free(&self->stopped);
}

FIXTURE_TEARDOWN(worker)
{
	end(self);
	free(self->given);
}

typedef FIXTURE_DATA(worker) data;

static int tell(void *ctx, const struct task_event *event)
{
	data *self = ctx;
	int ret = machine__handle(self->machine, event);

	unwind_worker__tell(self->worker, event);
	return ret < 0 ? ret : 0;
}

static int tell_maps(data *self)
{
	return stopped__each_map(&self->stopped, 0, tell, self);
}

static int put(data *self, size_t number)
{
	const struct unwind_sample sample = {
		.pid = self->stopped.pid,
		.time = UINT64_C(1) << 60, /* after the birth of every process */
		.regs = self->stopped.regs,
		.stack = self->stopped.stack,
		.stack_bytes = self->stopped.stack_bytes,
		.max_frames = 127,
	};

	return unwind_worker__put(self->worker, &sample, (void *)(uintptr_t)number);
}

/* Polls until so many results are there. */
static int await_results(data *self, size_t nr)
{
	uint64_t end = tolerance__deadline();
	int err = 0;

	while (!err && self->nr < nr && clock__now_ns() < end)
		err = unwind_worker__poll(self->worker, 50);
	unwind_worker__stats(self->worker, &self->stats);
	return err ? err : self->nr == nr ? 0 : -ETIMEDOUT;
}

/* Puts all, with as many polls as it takes. */
static int put_all(data *self, size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		while ((err = put(self, i)) == -ENOSPC && !unwind_worker__poll(self->worker, 50))
			;
	}
	return err;
}

static bool are_all_complete(const data *self, size_t from)
{
	for (size_t i = from; i < self->nr; i++) {
		if (self->given[i].status != UNWIND_COMPLETE || self->given[i].nr < 22 ||
		    self->given[i].sum != self->given[self->nr - 1].sum)
			return false;
	}
	return self->nr > from && !self->disordered;
}

static ssize_t copy_file(const char *from, int to)
{
	int fd = open(from, O_RDONLY);
	ssize_t len = sendfile(to, fd, NULL, 64 << 20);

	close(fd);
	return len;
}

TEST_F(worker, samples_come_back_in_order_with_all_their_frames)
{
	SKIP_FOR(self->refused);
	ASSERT_EQ(0, tell_maps(self));
	ASSERT_EQ(0, put_all(self, 3000));
	ASSERT_EQ(0, await_results(self, 3000));
	EXPECT_TRUE(are_all_complete(self, 0));
	EXPECT_EQ(3000, self->stats.status[UNWIND_COMPLETE]);
	EXPECT_EQ(0, self->stats.restarts);
	/* Charged as it is used: the process that used it is still there. */
	EXPECT_LT(0, self->stats.cpu_ns);
	EXPECT_EQ(0, self->stats.gone_ns);
	EXPECT_EQ(0, unwind_worker__pending(self->worker));
}

TEST_F(worker, what_is_told_after_the_start_is_heard_in_its_turn)
{
	const struct task_event exec = { .kind = TASK_EVENT_EXEC, .pid = self->stopped.pid,
					 .tid = self->stopped.pid, .comm = "other" };

	SKIP_FOR(self->refused);
	ASSERT_EQ(0, put(self, 0));
	ASSERT_EQ(0, await_results(self, 1));
	EXPECT_EQ(UNWIND_NO_MAPS, self->given[0].status);
	ASSERT_EQ(0, put(self, 1));
	ASSERT_EQ(0, tell_maps(self));
	ASSERT_EQ(0, put(self, 2));
	ASSERT_EQ(0, tell(self, &exec));
	unwind_worker__forget(self->worker, 5);
	ASSERT_EQ(0, put(self, 3));
	ASSERT_EQ(0, await_results(self, 4));
	EXPECT_EQ(UNWIND_NO_MAPS, self->given[1].status);
	EXPECT_EQ(UNWIND_COMPLETE, self->given[2].status);
	EXPECT_EQ(UNWIND_NO_MAPS, self->given[3].status);
}

TEST_F(worker, no_more_than_fits_is_taken_and_the_rest_is_counted)
{
	size_t nr = 0;

	SKIP_FOR(self->refused);
	ASSERT_EQ(0, tell_maps(self));
	while (nr < 1000 && !put(self, nr))
		nr++;
	/* A megabyte, of which an eighth is kept for events; each takes more than its stack. */
	EXPECT_GT((1u << 20) / 8 * 7, nr * self->stopped.stack_bytes);
	EXPECT_LT((1u << 20) / 2, nr * (self->stopped.stack_bytes + 2048));
	EXPECT_EQ(-ENOSPC, put(self, nr));
	ASSERT_EQ(0, await_results(self, nr));
	EXPECT_TRUE(are_all_complete(self, 0));
	EXPECT_EQ(2, self->stats.full);
}

TEST_F(worker, more_events_than_fit_are_not_lost)
{
	struct task_event event;

	SKIP_FOR(self->refused);
	/* Answered before the next ones are put: a process made later knows the later maps, too. */
	ASSERT_EQ(0, put(self, 0));
	ASSERT_EQ(0, await_results(self, 1));
	for (int i = 0; i < 20000; i++) {
		event = mapping(100000 + i % 100, 0x1000, 0x1000, "/x", (uint64_t)i);
		ASSERT_EQ(0, tell(self, &event));
	}
	ASSERT_EQ(0, tell_maps(self));
	ASSERT_EQ(0, put(self, 1));
	ASSERT_EQ(0, await_results(self, 2));
	EXPECT_EQ(UNWIND_NO_MAPS, self->given[0].status);
	EXPECT_EQ(UNWIND_COMPLETE, self->given[1].status);
}

/* Polls until the process is another one or none, some seconds at most. */
static bool is_another(data *self, pid_t pid)
{
	uint64_t end = tolerance__deadline();

	while (unwind_worker__pid(self->worker) == pid && clock__now_ns() < end) {
		if (unwind_worker__poll(self->worker, 1))
			return false;
	}
	return unwind_worker__pid(self->worker) != pid;
}

TEST_F(worker, a_process_that_dies_costs_one_sample_at_most)
{
	pid_t pid;

	SKIP_FOR(self->refused);
	ASSERT_EQ(0, tell_maps(self));
	for (int i = 0; i < 5; i++) {
		for (int n = 0; n < 60; n++)
			ASSERT_EQ(0, put(self, self->nr + unwind_worker__pending(self->worker)));
		pid = unwind_worker__pid(self->worker);
		ASSERT_LT(0, pid);
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(0, await_results(self, (size_t)(i + 1) * 60));
		/* It may have been quicker than the signal: its end is seen a little later. */
		EXPECT_TRUE(is_another(self, pid));
	}
	EXPECT_FALSE(self->disordered);
	EXPECT_GE(5, self->stats.status[UNWIND_FAILED]);
	EXPECT_EQ(300, self->stats.status[UNWIND_FAILED] + self->stats.status[UNWIND_COMPLETE]);
	EXPECT_GE(5, self->stats.restarts);
}

TEST_F(worker, a_process_that_gets_stuck_is_replaced)
{
	SKIP_FOR(self->refused);
	ASSERT_EQ(0, tell_maps(self));
	ASSERT_EQ(0, unwind_worker__start(self->worker));
	ASSERT_EQ(0, kill(unwind_worker__pid(self->worker), SIGSTOP));
	for (size_t i = 0; i < 50; i++)
		ASSERT_EQ(0, put(self, i));
	ASSERT_EQ(0, await_results(self, 50));
	EXPECT_EQ(1, self->stats.restarts);
	EXPECT_GE(1, self->stats.status[UNWIND_FAILED]);
	EXPECT_TRUE(are_all_complete(self, 1));
}

TEST_F(worker, it_pauses_when_every_process_dies)
{
	size_t nr = 0;

	SKIP_FOR(self->refused);
	while (put(self, nr) == 0 && nr < 1000) {
		nr++;
		kill(unwind_worker__pid(self->worker), SIGKILL);
		ASSERT_EQ(0, await_results(self, nr));
	}
	EXPECT_EQ(-ESHUTDOWN, put(self, nr));
	EXPECT_LE(BLAME_BURST, self->stats.restarts);
	EXPECT_EQ(nr, self->nr);
}

/* The CPU time that session/rate_control.c charges: of reaped children and of the living one. */
static uint64_t charged_ns(data *self)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	unwind_worker__stats(self->worker, &self->stats);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NSEC_PER_SEC +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * NSEC_PER_USEC +
	       self->stats.cpu_ns - self->stats.gone_ns;
}

/*
 * Waits until the process has nothing to do: what the kernel tells of the CPU time of one that runs
 * is that of the last tick. False: it does not rest.
 */
static bool rests(pid_t pid)
{
	uint64_t end = tolerance__deadline();

	while (process_state__of(pid) != 'S' && clock__now_ns() < end)
		sched_yield();
	return process_state__of(pid) == 'S';
}

TEST_F(worker, cpu_time_is_charged_as_it_is_used_and_once_when_a_process_is_replaced)
{
	uint64_t began, first, before, after, start;
	pid_t pid;

	SKIP_FOR(self->refused);
	ASSERT_EQ(0, tell_maps(self));
	began = charged_ns(self);
	ASSERT_EQ(0, put_all(self, 5000));
	first = charged_ns(self) - began;
	ASSERT_EQ(0, await_results(self, 5000));
	pid = unwind_worker__pid(self->worker);
	ASSERT_TRUE(rests(pid));
	start = clock__now_ns();
	before = charged_ns(self) - began;
	/* Most of it before the results were waited for: not at the end only. */
	EXPECT_LT(0, first);
	EXPECT_LE(first, before);
	EXPECT_EQ(0, self->stats.gone_ns);
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_TRUE(is_another(self, pid));
	after = charged_ns(self) - began;
	EXPECT_LE(before, after + TOLERANCE_REAPED_NS);
	/* Two processes cannot have used more since then than both CPUs have had. */
	EXPECT_GE(before + 2 * (clock__now_ns() - start) + TOLERANCE_REAPED_NS, after);
	EXPECT_LT(0, self->stats.gone_ns);
	/* It goes on, and so does the account. */
	ASSERT_EQ(0, put(self, 5000));
	ASSERT_EQ(0, await_results(self, 5001));
	EXPECT_LE(after, charged_ns(self) - began + TOLERANCE_REAPED_NS);
}

static void limit_descriptors(rlim_t nr)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = nr;
	setrlimit(RLIMIT_NOFILE, &limit);
}

TEST_F(worker, a_process_that_cannot_be_made_for_a_moment_is_made_later)
{
	size_t nr = 0;
	uint64_t end;

	SKIP_FOR(self->refused);
	ASSERT_EQ(0, tell_maps(self));
	limit_descriptors(0);
	EXPECT_GT(0, unwind_worker__start(self->worker));
	EXPECT_EQ(-EAGAIN, put(self, 0));
	EXPECT_EQ(-EAGAIN, put(self, 0));
	limit_descriptors(256);
	end = tolerance__deadline();
	while (put(self, 0) && clock__now_ns() < end)
		usleep(1000);
	ASSERT_EQ(0, await_results(self, 1));
	EXPECT_EQ(UNWIND_COMPLETE, self->given[0].status);
	/* The process dies while none can be made: pending samples come back without frames. */
	ASSERT_EQ(0, kill(unwind_worker__pid(self->worker), SIGSTOP));
	for (nr = 1; nr < 5; nr++)
		ASSERT_EQ(0, put(self, nr));
	ASSERT_EQ(0, kill(unwind_worker__pid(self->worker), SIGKILL));
	limit_descriptors(0);
	EXPECT_EQ(0, await_results(self, 5));
	limit_descriptors(256);
	EXPECT_FALSE(self->disordered);
	EXPECT_LT(0U, self->stats.refused);
}

/* Cuts the library that the stopped program waits in, as its owner may. */
TEST_F(worker, a_file_that_is_cut_while_it_is_read_costs_one_sample_and_no_process)
{
	char name[] = "/tmp/denet-cut-XXXXXX", from[4096];
	const char *const argv[] = { "nofp", "libraries", name, NULL };
	int fd = mkstemp(name);

	SKIP_FOR(self->refused);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, stopped__path("large.so", from, sizeof(from)));
	ASSERT_LT(0, copy_file(from, fd));
	stopped__free(&self->stopped);
	memset(&self->stopped, 0, sizeof(self->stopped));
	ASSERT_EQ(0, stopped__start(&self->stopped, argv));
	ASSERT_EQ(0, stopped__await(&self->stopped, SYS_read, false));
	ASSERT_EQ(0, stopped__take(&self->stopped, COPY));
	ASSERT_EQ(0, tell_maps(self));
	ASSERT_EQ(0, put(self, 0));
	ASSERT_EQ(0, await_results(self, 1));
	EXPECT_EQ(UNWIND_COMPLETE, self->given[0].status);
	/* To nothing: its frame information may lie in its first page. */
	ASSERT_EQ(0, ftruncate(fd, 0));
	for (size_t i = 1; i < 20; i++)
		ASSERT_EQ(0, put(self, i));
	ASSERT_EQ(0, await_results(self, 20));
	EXPECT_EQ(0, self->stats.restarts);
	EXPECT_EQ(UNWIND_FAILED, self->given[1].status);
	EXPECT_EQ(1, self->stats.status[UNWIND_FAILED]);
	EXPECT_FALSE(self->disordered);
	unlink(name);
	close(fd);
}

TEST_F(worker, what_is_abandoned_comes_back_without_frames)
{
	SKIP_FOR(self->refused);
	ASSERT_EQ(0, tell_maps(self));
	ASSERT_EQ(0, unwind_worker__start(self->worker));
	ASSERT_EQ(0, kill(unwind_worker__pid(self->worker), SIGSTOP));
	for (size_t i = 0; i < 10; i++)
		ASSERT_EQ(0, put(self, i));
	EXPECT_EQ(10, unwind_worker__pending(self->worker));
	ASSERT_EQ(0, unwind_worker__abandon(self->worker));
	ASSERT_EQ(10, self->nr);
	EXPECT_FALSE(self->disordered);
	for (size_t i = 0; i < 10; i++)
		EXPECT_EQ(0, self->given[i].nr);
	/* It can be used again. */
	ASSERT_EQ(0, put(self, 10));
	ASSERT_EQ(0, await_results(self, 11));
	EXPECT_EQ(UNWIND_COMPLETE, self->given[10].status);
}

/* Another program than the others have. */
static int begin_anew(data *self, const char *program, int deadline_ms)
{
	int err;

	end(self);
	memset(&self->stopped, 0, sizeof(self->stopped));
	err = begin(self, program, deadline_ms);
	return err || self->refused ? err : tell_maps(self);
}

TEST_F(worker, a_file_that_unpacks_to_gigabytes_takes_a_limited_part_of_the_memory)
{
	struct rusage usage;

#ifdef __SANITIZE_ADDRESS__
	SKIP_FOR("the address sanitizer maps all there is");
#endif
	/* Patient, so that memory alone can end it. */
	ASSERT_EQ(0, begin_anew(self, "nofp_bomb", 20000));
	SKIP_FOR(self->refused);
	for (size_t i = 0; i < 2; i++)
		ASSERT_EQ(0, put(self, i));
	ASSERT_EQ(0, await_results(self, 2));
	unwind_worker__delete(self->worker);
	self->worker = NULL;
	ASSERT_EQ(0, getrusage(RUSAGE_CHILDREN, &usage));
	EXPECT_GT(330 << 10, usage.ru_maxrss);
	/* The file was read: otherwise the limit did not end the process. */
	EXPECT_LT(64 << 10, usage.ru_maxrss);
	EXPECT_FALSE(self->disordered);
}

TEST_F(worker, a_process_that_computes_for_too_long_is_replaced_and_its_file_left_alone)
{
	struct rusage usage;
	long cpu;

	ASSERT_EQ(0, begin_anew(self, "nofp_bomb", 50));
	SKIP_FOR(self->refused);
	for (size_t i = 0; i < 10; i++)
		ASSERT_EQ(0, put(self, i));
	ASSERT_EQ(0, await_results(self, 10));
	EXPECT_EQ(1, self->stats.restarts);
	EXPECT_EQ(1, self->stats.status[UNWIND_FAILED]);
	EXPECT_FALSE(self->disordered);
	unwind_worker__delete(self->worker);
	self->worker = NULL;
	ASSERT_EQ(0, getrusage(RUSAGE_CHILDREN, &usage));
	cpu = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec;
	cpu = cpu * 1000 + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
	/* The deadline of a process that only waits for a CPU is ten times 50 ms. */
	EXPECT_GT(tolerance__slowness() * 400, cpu);
}

TEST_HARNESS_MAIN
