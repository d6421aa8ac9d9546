/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of the unwinding that needs root: a process whose files block every reader. The path of
 * its mapping is marked as replaced, so that the file is opened through the mapping; for this the
 * kernel takes the lock that the process holds for ever.
 */
#include "unwind/worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "common/harness.h"
#include "common/machine_events.h"
#include "common/tolerance.h"
#include "common/workload.h"

#define CODE 0x1000

FIXTURE(unwind)
{
	struct workload workload;
	struct machine *machine;
	struct unwind_worker *worker;
	enum unwind_status status[4];
	size_t nr;
};

static int take_result(void *ctx, void *cookie, const struct unwind_result *result)
{
	FIXTURE_DATA(unwind) *self = ctx;

	(void)cookie;
	self->status[self->nr++] = result->status;
	return 0;
}

FIXTURE_SETUP(unwind)
{
	const struct unwind_worker_options options = { .deadline_ms = 300 };

	memset(self, 0, sizeof(*self));
	self->machine = machine__new();
	ASSERT_NE(NULL, self->machine);
	self->worker = unwind_worker__new(&options, self->machine, take_result, self);
	ASSERT_NE(NULL, self->worker);
}

FIXTURE_TEARDOWN(unwind)
{
	/* Also if the process that unwinds is stuck in the kernel. */
	unwind_worker__delete(self->worker);
	machine__delete(self->machine);
	workload__free(&self->workload);
}

typedef FIXTURE_DATA(unwind) data;

/* The stuck process is the child of the one that was started. */
static pid_t child_of(pid_t pid)
{
	char path[64], text[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	file = fopen(path, "re");
	if (!file || !fgets(text, sizeof(text), file))
		text[0] = '\0';
	if (file)
		fclose(file);
	return (pid_t)strtol(text, NULL, 10);
}

static int tell_map(data *self, pid_t pid, uint64_t ino)
{
	struct task_event event = mapping(pid, CODE, 0x1000, "/replaced (deleted)", 0);
	int ret;

	event.map.maj = 1;
	event.map.ino = ino;
	event.map.pgoff = 0;
	ret = machine__handle(self->machine, &event);
	unwind_worker__tell(self->worker, &event);
	return ret < 0 ? ret : 0;
}

static int put(data *self, pid_t pid)
{
	uint64_t stack[8] = { 0 };
	struct unwind_sample sample = { .pid = pid, .stack = stack, .stack_bytes = sizeof(stack) };

	sample.regs.r[UNWIND_PC] = CODE + 1;
	sample.regs.r[UNWIND_SP] = 0x7f0000000000;
	return unwind_worker__put(self->worker, &sample, NULL);
}

static int await_results(data *self, size_t nr)
{
	uint64_t end = tolerance__deadline();
	int err = 0;

	while (!err && self->nr < nr && clock__now_ns() < end)
		err = unwind_worker__poll(self->worker, 50);
	return err ? err : self->nr == nr ? 0 : -ETIMEDOUT;
}

TEST_F(unwind, a_file_that_hangs_costs_the_sample_that_needs_it)
{
	const char *const argv[] = { "stuck", NULL };
	struct unwind_worker_stats stats;
	pid_t stuck;

	SKIP_FOR(access("/dev/fuse", R_OK | W_OK) ? "no /dev/fuse on this kernel" : NULL);
	ASSERT_EQ(0, workload__start(&self->workload, argv));
	ASSERT_EQ(0, workload__await(&self->workload, "READY"));
	stuck = child_of(self->workload.pid);
	ASSERT_LT(0, stuck);
	ASSERT_EQ(0, tell_map(self, stuck, 1));
	ASSERT_EQ(0, tell_map(self, getpid(), 2));
	ASSERT_EQ(0, put(self, getpid()));
	ASSERT_EQ(0, put(self, stuck));
	ASSERT_EQ(0, put(self, getpid()));
	ASSERT_EQ(0, put(self, stuck));
	ASSERT_EQ(0, await_results(self, 4));
	unwind_worker__stats(self->worker, &stats);
	EXPECT_EQ(UNWIND_CUT_CFI, self->status[0]);
	EXPECT_EQ(UNWIND_FAILED, self->status[1]);
	EXPECT_EQ(UNWIND_CUT_CFI, self->status[2]);
	/* The file is left alone from then on. */
	EXPECT_EQ(UNWIND_CUT_CFI, self->status[3]);
	EXPECT_EQ(1, stats.restarts);
}

TEST_F(unwind, a_mapping_that_is_gone_cuts_and_nothing_else)
{
	ASSERT_EQ(0, tell_map(self, getpid(), 2));
	ASSERT_EQ(0, put(self, getpid()));
	ASSERT_EQ(0, await_results(self, 1));
	EXPECT_EQ(UNWIND_CUT_CFI, self->status[0]);
}

TEST_HARNESS_MAIN
