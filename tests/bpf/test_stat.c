/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The programs of denet-stat count in the kernel what the threads of a workload know: their waits
 * and how long these were, their calls, and all of their time.
 * tests: parallel
 */
#include "common/harness.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "bpf/stat.h"
#include "capture/reason.h"
#include "capture/settings.h"
#include "common/test_capture.h"
#include "stat/collect.h"
#include "stat/typed_calls.h"

#define CROWD 3
#define NAP_NS 100000

FIXTURE(counts)
{
	pid_t crowd[CROWD]; /* processes that run and wake up all the time */
	struct workload workload;
	struct stat_programs *programs;
	struct stat_data data;
};

FIXTURE_VARIANT(counts)
{
	bool times;
	bool crowded;
};

FIXTURE_VARIANT_ADD(counts, calls_with_times) { .times = true };
FIXTURE_VARIANT_ADD(counts, calls_alone) { .times = false };
/*
 * A thread that exits on a busy CPU may have to wait for it again before its last switch, when
 * nobody finds it any more.
 */
FIXTURE_VARIANT_ADD(counts, on_a_crowded_cpu) { .crowded = true };

static pid_t spin_and_nap(void)
{
	pid_t pid = fork();
	uint64_t end;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		end = clock__now_ns() + NAP_NS;
		while (clock__now_ns() < end)
			;
		usleep(1);
	}
}

/* Starts a workload on one CPU with others. 0 or -errno. */
static int start_in_crowd(FIXTURE_DATA(counts) *self, const char *const *argv)
{
	cpu_set_t own, one;
	int err;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_getaffinity(0, sizeof(own), &own) || sched_setaffinity(0, sizeof(one), &one))
		return -errno;
	for (int i = 0; i < CROWD; i++) {
		self->crowd[i] = spin_and_nap();
		if (self->crowd[i] < 0)
			return -errno;
	}
	err = workload__start(&self->workload, argv);
	return !err && sched_setaffinity(0, sizeof(own), &own) ? -errno : err;
}

FIXTURE_TEARDOWN(counts)
{
	for (int i = 0; i < CROWD; i++) {
		if (self->crowd[i] <= 0)
			continue;
		kill(self->crowd[i], SIGKILL);
		waitpid(self->crowd[i], NULL, 0);
	}
	stat_data__free(&self->data);
	stat_programs__delete(self->programs);
	workload__free(&self->workload);
}

/* Tasks as they are listed at the start: all are wanted. */
static int take_task(void *ctx, const void *record, size_t size)
{
	(void)ctx;
	(void)record;
	(void)size;
	return 0;
}

/* Loads the programs, with all that they count, for the process of the workload. */
static int load(FIXTURE_DATA(counts) *self, bool times)
{
	struct ksyms_cache symbols = { 0 };
	__u8 typed[WIRE_MAX_CALLS], sockets[WIRE_MAX_CALLS];
	struct capture_options options;
	struct offcpu_config config;
	int err;

	capture_options__init(&options);
	options.filter.states = capture__all_states();
	options.targets.pids = &self->workload.pid;
	options.targets.nr_pids = 1;
	err = settings__make(&config, &options, &symbols);
	ksyms_cache__drop(&symbols);
	if (err)
		return err;
	typed_calls__mark(typed, WIRE_MAX_CALLS);
	typed_calls__mark_sockets(sockets, WIRE_MAX_CALLS);
	reason__classify(config.calls);
	self->programs = stat_programs__new(
		&(struct stat_programs_config){
			.settings = &config.settings,
			.nr_targets = config.nr_targets,
			.calls = true,
			.call_times = times,
			.sigreturn = typed_calls__sigreturn(),
			.locks = true,
			.io = true,
			.sockets = true,
			.typed = typed,
			.classes = config.calls,
			.socket_calls = sockets,
		},
		&err);
	if (!self->programs)
		return err;
	return settings__add_targets(&options.targets, stat_programs__targets(self->programs));
}

/* Counts from before the workload is let go until it has ended. 0, -errno or its exit status. */
static int count(FIXTURE_DATA(counts) *self, bool times)
{
	uint64_t start = 0, end = 0;
	int err = load(self, times);

	if (!err)
		err = stat_programs__attach(self->programs);
	if (!err)
		err = stat_programs__enlist(self->programs, take_task, NULL);
	if (!err)
		err = stat_programs__begin(self->programs, &start);
	if (!err)
		err = workload__go(&self->workload);
	if (!err)
		err = workload__finish(&self->workload);
	if (!err)
		err = stat_programs__end(self->programs, &end);
	if (!err)
		err = stat_collect(self->programs, &self->data);
	return err;
}

FIXTURE_SETUP(counts)
{
	const char *const argv[] = { "waits", "--wait", "--count", "10", "--ms", "20", NULL };

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, variant->crowded ? start_in_crowd(self, argv) :
					workload__start(&self->workload, argv));
	ASSERT_EQ(0, workload__await(&self->workload, "READY"));
	ASSERT_EQ(0, count(self, variant->times));
	ASSERT_LT(0, self->workload.nr_truths);
}

/* The threads of that name: each of the workload has one of its own. */
static const struct stat_task *command_of(const struct stat_data *data, const char *comm)
{
	for (size_t i = 0; i < data->nr_commands; i++) {
		if (!strcmp(data->commands[i].comm, comm))
			return &data->commands[i];
	}
	return NULL;
}

CHECK_F(counts, waits_are_as_many_and_as_long_as_their_threads_know)
{
	EXPECT_EQ(0, self->data.losses.threads);
	for (size_t i = 0; i < self->workload.nr_truths; i++) {
		const struct truth *truth = &self->workload.truths[i];
		const struct stat_task *task = command_of(&self->data, truth->comm);

		ASSERT_TRUE(task != NULL) TH_LOG("%s", truth->comm);
		/* A timer may be over before its thread has gone: then there is no block. */
		EXPECT_LE(truth->voluntary, task->offcpu.count + self->data.losses.unseen_switches)
		TH_LOG("%s", truth->comm);
		if (!self->data.losses.unseen_switches) {
			EXPECT_LE(truth->requested_ns * (100 - TOLERANCE_PERCENT) / 100,
				  task->offcpu.total_ns)
			TH_LOG("%s", truth->comm);
		}
		EXPECT_LE(task->blocked_ns, task->offcpu.total_ns);
	}
}

CHECK_F(counts, running_runnable_and_blocked_time_is_the_life_of_each_thread)
{
	for (size_t i = 0; i < self->data.nr_commands; i++) {
		const struct stat_task *task = &self->data.commands[i];

		EXPECT_LT(0, task->wall_ns);
		EXPECT_EQ(task->wall_ns, task->running_ns + task->runnable_ns + task->blocked_ns +
						 task->filtered_ns)
		TH_LOG("%s", task->comm);
		if (!self->data.losses.unseen_switches)
			EXPECT_EQ(0, task->filtered_ns) TH_LOG("%s", task->comm);
	}
}

static uint64_t calls_of(const struct stat_task *task, uint32_t nr)
{
	uint64_t calls = 0;

	for (size_t i = 0; task && i < task->nr_calls; i++)
		calls += task->calls[i].nr == nr ? task->calls[i].times.count : 0;
	return calls;
}

CHECK_F(counts, each_call_of_a_thread)
{
	const struct truth *naps = workload__truth(&self->workload, "w-nanosleep");
	const struct stat_task *task = command_of(&self->data, "w-nanosleep");

	ASSERT_TRUE(naps && task);
	EXPECT_EQ(naps->count, calls_of(task, SYS_clock_nanosleep) + calls_of(task, SYS_nanosleep));
	EXPECT_EQ(0, self->data.losses.calls);
	EXPECT_EQ(0, self->data.losses.missed_calls);
}

TEST_F(counts, are_what_the_threads_know)
{
	SKIP_FOR(test_capture__refused());
	waits_are_as_many_and_as_long_as_their_threads_know(_metadata, self, variant);
	running_runnable_and_blocked_time_is_the_life_of_each_thread(_metadata, self, variant);
	each_call_of_a_thread(_metadata, self, variant);
}

TEST_HARNESS_MAIN
