/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The programs' own walk of kernel stacks finds what the kernel's finds, frame for frame:
 * kernel_walk.bpf.c does both for each task that gets a CPU, whatever runs on the machine. The
 * loads are those of other tests, and some more with waits that these have not.
 * tests: parallel
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/harness.h"

#include "base/clock.h"
#include "common/test_capture.h"
#include "common/tolerance.h"
#include "tests/bpf/comparison.h"

/* Modules that come and go beside other loads. */
struct module_load {
	pthread_t thread;
	struct orc *orc;      /* NULL: there are none */
	unsigned int nr_read; /* how often their tables were read again */
	int err;
};

FIXTURE(walk)
{
	struct workload workload;
	struct comparison comparison;
	struct module_load modules;
	uint64_t wanted; /* how many switches are to be compared at least */
};

FIXTURE_SETUP(walk)
{
	SKIP_FOR(test_capture__refused());
}

FIXTURE_TEARDOWN(walk)
{
	comparison__end(&self->comparison);
	workload__free(&self->workload);
}

/* Seconds for a test: in level guests, loads alone may go on for twelve minutes and a half. */
#define COMPARE_SECONDS 1000

#define SWITCHES 10000
/* How often the tables of modules are read while modules come and go. */
#define READ_MODULES_MS 50
/*
 * One in so many of the wanted switches comes from waits of many kinds, the others from one that is
 * quicker: half of the soak's two millions.
 */
#define MIXED_SHARE 10
#define MIXED_SHARE_OF_MANY 2

/* How many switches a test compares at least: more than usual in a guest, and in the soak. */
static uint64_t wanted_switches(void)
{
	const char *wanted = getenv("DENET_TEST_SWITCHES");

	return wanted ? strtoull(wanted, NULL, 10) : SWITCHES;
}

/* How many of so many are to come from waits of many kinds. */
static uint64_t wanted_mixed(uint64_t wanted)
{
	return wanted / (wanted > 10 * SWITCHES ? MIXED_SHARE_OF_MANY : MIXED_SHARE);
}

/* Waits of many kinds, births and deaths, full CPUs. */
static int run_mixed(struct workload *workload)
{
	static const char *const loads[][6] = {
		{ "waits", "--wait", NULL },
		{ "forks", "--wait", NULL },
		{ "threads", "--wait", NULL },
		{ "preempt", "--wait", NULL },
		{ "kinds", "--wait", "--ms", "1500", NULL },
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]) && !err; i++) {
		err = workload__run(workload, loads[i]);
		if (err)
			fprintf(stderr, "# %s: %s\n", loads[i][0], strerror(-err));
	}
	return err;
}

/*
 * As many short waits as switches are wanted, each of which is one switch or two; of many, a tenth,
 * so that the workload is not taken for one that hangs.
 */
static int run_short(struct workload *workload, uint64_t wanted)
{
	char rounds[24];
	const char *const argv[] = { "short", "--wait", "--rounds", rounds, NULL };
	int err;

	snprintf(rounds, sizeof(rounds), "%" PRIu64, wanted > SWITCHES ? wanted / 10 : wanted);
	err = workload__run(workload, argv);
	if (err)
		fprintf(stderr, "# %s: %s\n", argv[0], strerror(-err));
	return err;
}

/* Until when loads go on at most: four times as long for many switches. */
static uint64_t loads_deadline(bool many)
{
	return clock__now_ns() + (many ? 4 : 1) * tolerance__wait_seconds() * NSEC_PER_SEC;
}

/* How often tables of modules were read again while they come and go. */
static unsigned int nr_modules_read(FIXTURE_DATA(walk) *self)
{
	return __atomic_load_n(&self->modules.nr_read, __ATOMIC_RELAXED);
}

/*
 * Runs the mixed loads, as often as it takes for their share of switches and for modules that come
 * and go, and then the short waits, until enough switches were the same; how many of them the
 * former had is in *mixed. 0, -ETIMEDOUT, or what went wrong.
 */
static int run_all(FIXTURE_DATA(walk) *self, uint64_t *mixed)
{
	const volatile struct walk_counts *counts = comparison__counts(&self->comparison);
	uint64_t wanted = self->wanted, before = counts->same;
	uint64_t deadline = loads_deadline(wanted > 10 * SWITCHES);
	bool enough;
	int err;

	do {
		err = run_mixed(&self->workload);
		*mixed = counts->same - before;
		enough = *mixed >= wanted_mixed(wanted) &&
			 (!self->modules.orc || nr_modules_read(self));
	} while (!err && !enough && clock__now_ns() < deadline);
	comparison__print(&self->comparison, "waits of many kinds");
	deadline = loads_deadline(wanted > SWITCHES);
	while (!err) {
		err = run_short(&self->workload, wanted);
		if (counts->same >= wanted)
			break;
		if (!err && clock__now_ns() >= deadline)
			err = -ETIMEDOUT;
	}
	return err;
}

/* Brings the tables of modules up to date, as a recorder does. */
static void read_modules(struct module_load *modules)
{
	uint32_t epoch = modules->orc->epoch;

	modules->err = orc__update(modules->orc);
	if (modules->orc->epoch != epoch)
		__atomic_add_fetch(&modules->nr_read, 1, __ATOMIC_RELAXED);
}

/*
 * Runs in a thread of its own: modules come and go, twice where few switches are wanted, and their
 * tables are read again. After an error they are not, but the script is waited for all the same.
 */
static void *load_modules(void *arg)
{
	const char *times = wanted_switches() < SWITCHES ? "2" : "6";
	char *const argv[] = { (char *)"tests/guest/modules.sh", (char *)times, NULL };
	struct pollfd end = { .events = POLLIN };
	struct module_load *modules = arg;
	int status = 0;
	pid_t pid;

	modules->err = posix_spawn(&pid, argv[0], NULL, NULL, argv, environ);
	if (modules->err)
		return NULL;
	end.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (end.fd < 0)
		modules->err = -errno;
	while (!modules->err && !poll(&end, 1, READ_MODULES_MS))
		read_modules(modules);
	if (end.fd >= 0)
		close(end.fd);
	waitpid(pid, &status, 0);
	if (!modules->err)
		modules->err = status;
	return NULL;
}

/* In a guest whose kernel's modules are at hand. 0, or what went wrong. */
static int begin_modules(FIXTURE_DATA(walk) *self)
{
	if (!getenv("DENET_TEST_GUEST") || !getenv("GUEST_MODULES"))
		return 0;
	self->modules.orc = &self->comparison.orc;
	return pthread_create(&self->modules.thread, NULL, load_modules, &self->modules);
}

/* Called when the other loads have ended. The files of a guest lie on 9p, which is a module. */
static void end_modules(struct __test_metadata *_metadata, FIXTURE_DATA(walk) *self)
{
	unsigned int nr_read = nr_modules_read(self);

	if (!self->modules.orc)
		return;
	comparison__print(&self->comparison, "loads beside modules that come and go");
	pthread_join(self->modules.thread, NULL);
	fprintf(stderr, "# tables of modules were read again %u times, %u of them meanwhile\n",
		self->modules.nr_read, nr_read);
	ASSERT_EQ(0, self->modules.err);
	/* They came or went while the other loads ran. */
	EXPECT_LT(0, nr_read);
	EXPECT_LT(0, comparison__counts(&self->comparison)->in_modules);
}

static void compare(struct __test_metadata *_metadata, FIXTURE_DATA(walk) *self, uint64_t wanted,
		    bool at_switch_in, bool copies)
{
	const volatile struct walk_counts *counts;
	const char *more = getenv("KERNEL_WALK_LOAD");
	uint64_t mixed = 0;
	int err = comparison__begin(&self->comparison, at_switch_in, copies);

	SKIP_FOR(comparison__refused(err));
	ASSERT_EQ(0, err);
	self->wanted = wanted;
	counts = comparison__counts(&self->comparison);
	ASSERT_EQ(0, begin_modules(self));
	err = run_all(self, &mixed);
	end_modules(_metadata, self);
	ASSERT_EQ(0, err);
	EXPECT_LE(wanted_mixed(wanted), mixed);
	/* For runs by hand: a command whose switches are compared as well. */
	if (more)
		ASSERT_EQ(0, system(more));
	/* Modules may have been loaded or removed meanwhile: brings their tables up to date. */
	EXPECT_EQ(0, orc__update(&self->comparison.orc));
	comparison__print(&self->comparison, "loads");
	comparison__show_differences(&self->comparison);
	EXPECT_EQ(0, counts->differ);
	EXPECT_LE(wanted, counts->same);
	/* Threads that are born, and modules that come and go, leave less to be recognized. */
	EXPECT_LE(self->comparison.recognizes ? counts->same / 10 : 0, counts->recognized);
	EXPECT_EQ(self->comparison.recognizes, counts->recognized > 0);
	/* Left to the kernel: stacks that begin in a BPF program, or that are deep. */
	EXPECT_LT(counts->left, counts->same / 10)
	{
		comparison__show_refusals(&self->comparison);
	}
}

TEST_F_TIMEOUT(walk, of_a_task_that_is_going_to_run_finds_what_the_kernels_finds, COMPARE_SECONDS)
{
	SKIP_FOR(test_capture__refused());
	compare(_metadata, self, wanted_switches(), false, false);
}

TEST_F_TIMEOUT(walk, of_a_task_that_runs_again_finds_what_the_kernels_finds, COMPARE_SECONDS)
{
	SKIP_FOR(test_capture__refused());
	compare(_metadata, self, wanted_switches(), true, false);
}

/* As before Linux 6.17, on kernels that are newer. */
TEST_F_TIMEOUT(walk, of_a_stack_that_is_copied_finds_what_the_kernels_finds, COMPARE_SECONDS)
{
	uint64_t wanted;

	SKIP_FOR(test_capture__refused());
	wanted = wanted_switches();
	compare(_metadata, self, wanted < SWITCHES ? wanted : SWITCHES, true, true);
}

TEST_HARNESS_MAIN
