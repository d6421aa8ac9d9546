/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The programs' own walk of kernel stacks finds what the kernel's finds, frame for frame:
 * kernel_walk.bpf.c does both for each task that gets a CPU, whatever runs on the machine. The
 * loads are those of other tests, and some more with waits that these have not.
 * tests: parallel
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/harness.h"

#include "bpf/kernel_features.h"
#include "common/test_capture.h"
#include "host/kallsyms.h"
#include "tests/bpf/kernel_walk.h"
#include "tests/bpf/kernel_walk.skel.h"
#include "tests/bpf/trampolines.skel.h"

#define SHOWN 3
#define SWITCHES 10000

FIXTURE(walk)
{
	struct workload workload;
	struct kernel_walk_bpf *skel;
	struct trampolines_bpf *trampolines;
	struct kallsyms *kallsyms;
	struct orc orc;
};

FIXTURE_SETUP(walk)
{
	SKIP_FOR(test_capture__refused());
}

FIXTURE_TEARDOWN(walk)
{
	trampolines_bpf__destroy(self->trampolines);
	kernel_walk_bpf__destroy(self->skel);
	kallsyms__delete(self->kallsyms);
	workload__free(&self->workload);
}

/* Loads the comparison and has it walk. 0, -EOPNOTSUPP where there is no such walk, or as it is. */
static int begin(FIXTURE_DATA(walk) *self, bool at_switch_in)
{
	struct kernel_features features;
	int err = kernel_features__read(&features);

	if (err)
		return err;
	self->kallsyms = kallsyms__new(NULL, &err);
	self->skel = kernel_walk_bpf__open();
	if (!self->kallsyms || !self->skel)
		return err ? err : -errno;
	bpf_program__set_autoload(self->skel->progs.compare_next, !at_switch_in);
	bpf_program__set_autoload(self->skel->progs.compare_current, at_switch_in);
	if (at_switch_in && !features.has_exit_tp)
		return -ENOENT;
	bpf_program__set_autoload(self->skel->progs.module_came, features.has_modules);
	bpf_program__set_autoload(self->skel->progs.module_gone, features.has_modules);
	bpf_program__set_autoload(self->skel->progs.orc_module, features.has_modules);
	self->skel->rodata->has_kernel_walk = 1;
	err = kernel_walk_bpf__load(self->skel);
	if (err)
		return err;
	self->orc = (struct orc){
		.shared = (volatile struct wire_orc *)(void *)&self->skel->bss->orc,
		.rules = (uint64_t *)self->skel->bss->orc_rules,
		.modules = self->skel->maps.orc_modules,
		.sleepers = self->skel->progs.orc_sleepers,
		.check = self->skel->progs.orc_check,
		.read_module = self->skel->progs.orc_module,
		.same = (const volatile uint64_t *)&self->skel->bss->orc_same,
		.differ = (const volatile uint64_t *)&self->skel->bss->orc_differ,
	};
	err = orc__start(&self->orc, &features.orc, self->kallsyms);
	if (err)
		return err;
	return kernel_walk_bpf__attach(self->skel);
}

static void show(const FIXTURE_DATA(walk) *self, const char *what, const __u64 *ips, uint32_t nr)
{
	uint64_t offset = 0;

	for (uint32_t i = 0; i < nr && i < 40; i++) {
		const char *name = kallsyms__lookup(self->kallsyms, ips[i], &offset);

		fprintf(stderr, "#   %s %2u %llx %s+%#llx\n", what, i, ips[i], name ? name : "?",
			(unsigned long long)offset);
	}
}

#define SHOW(self, kind)                                                                           \
	for (uint32_t i = 0; i < (self)->skel->bss->nr_##kind && i < SHOWN; i++) {                 \
		fprintf(stderr, "# %s, %.16s: ours %u, the kernel's %u\n", #kind,                  \
			(self)->skel->bss->kind[i].comm, (self)->skel->bss->kind[i].nr_ours,       \
			(self)->skel->bss->kind[i].nr_kernel);                                     \
		show(self, "ours", (self)->skel->bss->kind[i].ours,                                \
		     (self)->skel->bss->kind[i].nr_ours);                                          \
		show(self, "kernel", (self)->skel->bss->kind[i].kernels,                           \
		     (self)->skel->bss->kind[i].nr_kernel);                                        \
		show(self, "word", (self)->skel->bss->kind[i].words, 40);                          \
	}

static void print_counts(const FIXTURE_DATA(walk) *self, const char *after)
{
	const struct walk_counts *counts = &self->skel->bss->result;

	fprintf(stderr,
		"# after %s: %llu same (%llu in modules), %llu differ, %llu left, %llu none\n",
		after, counts->same, counts->in_modules, counts->differ, counts->left,
		counts->none);
}

/* Runs one of the tests' workloads to its end. */
static int run(struct workload *workload, const char *const *argv)
{
	int err;

	workload__free(workload);
	err = workload__start(workload, argv);
	if (!err)
		err = workload__await(workload, "READY");
	if (!err)
		err = workload__go(workload);
	return err ? err : workload__finish(workload);
}

/*
 * As many short waits as switches are wanted, each of which is one switch or two; waits of many
 * kinds, births and deaths, full CPUs. Of more than 100,000 it runs a tenth, so that the workload
 * ends before it is taken for one that hangs: the caller calls this until there are enough.
 */
static int run_all(struct workload *workload, uint64_t wanted)
{
	char rounds[24];
	const char *const loads[][6] = {
		{ "short", "--wait", "--rounds", rounds, NULL },
		{ "waits", "--wait", NULL },
		{ "forks", "--wait", NULL },
		{ "threads", "--wait", NULL },
		{ "preempt", "--wait", NULL },
		{ "kinds", "--wait", "--ms", "1500", NULL },
	};
	int err = 0;

	snprintf(rounds, sizeof(rounds), "%" PRIu64, wanted > 10 * SWITCHES ? wanted / 10 : wanted);
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]) && !err; i++) {
		err = run(workload, loads[i]);
		if (err)
			fprintf(stderr, "# %s: %s\n", loads[i][0], strerror(-err));
	}
	return err;
}

/* Loads the program that needs a BPF trampoline as well, if the kernel has these. 0 or -errno. */
static int load_trampolines(FIXTURE_DATA(walk) *self, bool bpf_trampoline)
{
	int err;

	self->trampolines = trampolines_bpf__open();
	if (!self->trampolines)
		return -errno;
	bpf_program__set_autoload(self->trampolines->progs.leave_nanosleep, bpf_trampoline);
	err = trampolines_bpf__load(self->trampolines);
	if (err) {
		trampolines_bpf__destroy(self->trampolines);
		self->trampolines = NULL;
	}
	return err;
}

/* Attaches what the kernel takes of both programs. Their number. */
static int attach_trampolines(FIXTURE_DATA(walk) *self)
{
	struct bpf_link **nanosleep, **timeout;

	if (load_trampolines(self, true) && load_trampolines(self, false))
		return 0;
	nanosleep = &self->trampolines->links.leave_nanosleep;
	timeout = &self->trampolines->links.leave_timeout;
	if (bpf_program__autoload(self->trampolines->progs.leave_nanosleep))
		*nanosleep = bpf_program__attach(self->trampolines->progs.leave_nanosleep);
	*timeout = bpf_program__attach(self->trampolines->progs.leave_timeout);
	return (*nanosleep != NULL) + (*timeout != NULL);
}

/* Frames of a BPF trampoline, and return addresses that were replaced, are left to the kernel. */
static void compare_trampolines(struct __test_metadata *_metadata, FIXTURE_DATA(walk) *self)
{
	static const char *const argv[] = { "kinds", "--wait", "--ms", "500", NULL };
	uint64_t left = self->skel->bss->result.left;

	if (!attach_trampolines(self)) {
		fprintf(stderr, "# this kernel has neither BPF trampolines nor kretprobes\n");
		return;
	}
	ASSERT_EQ(0, run(&self->workload, argv));
	EXPECT_LT(0, self->trampolines->bss->nr_returns);
	EXPECT_LT(left, self->skel->bss->result.left);
	print_counts(self, "trampolines");
	EXPECT_EQ(0, self->skel->bss->result.differ);
	SHOW(self, differences);
}

/* How many switches are to be compared at least: more than usual in a guest, and in the soak. */
static uint64_t wanted_switches(void)
{
	const char *wanted = getenv("DENET_TEST_SWITCHES");

	return wanted ? strtoull(wanted, NULL, 10) : SWITCHES;
}

/*
 * Modules come and go, twice where few switches are wanted, and their tables are read again as by a
 * recorder. 0, or what went wrong.
 */
static int load_modules(FIXTURE_DATA(walk) *self)
{
	const char *times = wanted_switches() < SWITCHES ? "2" : "10";
	char *const argv[] = { (char *)"tests/guest/modules.sh", (char *)times, NULL };
	int err, status;
	pid_t pid;

	err = posix_spawn(&pid, argv[0], NULL, NULL, argv, environ);
	if (err)
		return err;
	while (!waitpid(pid, &status, WNOHANG) && !err) {
		usleep(50000);
		err = orc__update(&self->orc);
	}
	return err ? err : status;
}

/* In a guest whose kernel's modules are at hand. Its files lie on 9p, which is one of them. */
static void compare_modules(struct __test_metadata *_metadata, FIXTURE_DATA(walk) *self)
{
	uint64_t in_modules = self->skel->bss->result.in_modules;

	if (!getenv("DENET_TEST_GUEST") || !getenv("GUEST_MODULES"))
		return;
	print_counts(self, "loads without modules that come and go");
	EXPECT_LT(0, in_modules);
	ASSERT_EQ(0, load_modules(self));
	print_counts(self, "modules");
	EXPECT_LT(in_modules, self->skel->bss->result.in_modules);
}

static void compare(struct __test_metadata *_metadata, FIXTURE_DATA(walk) *self, bool at_switch_in)
{
	const char *more = getenv("KERNEL_WALK_LOAD");
	int err = begin(self, at_switch_in);

	if (err == -EOPNOTSUPP)
		SKIP(return, "this kernel has no ORC tables that we know");
	if (err == -ENOENT)
		SKIP(return, "this kernel has no tracepoint sched_exit_tp");
	ASSERT_EQ(0, err);
	do {
		ASSERT_EQ(0, run_all(&self->workload, wanted_switches()));
	} while (self->skel->bss->result.same < wanted_switches());
	/* For runs by hand: a command whose switches are compared as well. */
	if (more)
		ASSERT_EQ(0, system(more));
	compare_modules(_metadata, self);
	/* Modules may have been loaded or removed meanwhile: brings their tables up to date. */
	EXPECT_EQ(0, orc__update(&self->orc));
	print_counts(self, "loads");
	SHOW(self, differences);
	EXPECT_EQ(0, self->skel->bss->result.differ);
	EXPECT_LE(wanted_switches(), self->skel->bss->result.same);
	/* Left to the kernel: stacks that begin in a BPF program, and tasks that have never run. */
	EXPECT_LT(self->skel->bss->result.left, self->skel->bss->result.same / 10)
	{
		SHOW(self, refusals);
	}
	compare_trampolines(_metadata, self);
}

TEST_F(walk, of_a_task_that_is_going_to_run_finds_what_the_kernels_finds)
{
	SKIP_FOR(test_capture__refused());
	compare(_metadata, self, false);
}

TEST_F(walk, of_a_task_that_runs_again_finds_what_the_kernels_finds)
{
	SKIP_FOR(test_capture__refused());
	compare(_metadata, self, true);
}

TEST_HARNESS_MAIN
