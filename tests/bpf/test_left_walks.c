/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stacks that the ORC walk cannot unwind are left to bpf_get_stack(), and the ORC walk never finds
 * other frames: stacks with frames of BPF trampolines, and with return addresses that kretprobes or
 * function_graph have replaced. All threads of the machine meet these, so this program runs alone.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/harness.h"

#include "common/graph_tracer.h"
#include "common/test_capture.h"
#include "common/tolerance.h"
#include "tests/bpf/comparison.h"
#include "tests/bpf/trampolines.skel.h"

FIXTURE(left)
{
	struct workload workload;
	struct comparison comparison;
	struct trampolines_bpf *trampolines;
	bool traces; /* with function_graph */
};

FIXTURE_VARIANT(left)
{
	bool at_switch_in;
};

FIXTURE_VARIANT_ADD(left, of_a_task_that_is_going_to_run)
{
	.at_switch_in = false,
};
FIXTURE_VARIANT_ADD(left, of_a_task_that_runs_again)
{
	.at_switch_in = true,
};

FIXTURE_SETUP(left)
{
	SKIP_FOR(test_capture__refused());
	/* A test that was killed has left it set. */
	if (getenv("DENET_TEST_GUEST"))
		graph_tracer__end();
}

FIXTURE_TEARDOWN(left)
{
	if (self->traces)
		graph_tracer__end();
	trampolines_bpf__destroy(self->trampolines);
	comparison__end(&self->comparison);
	workload__free(&self->workload);
}

/* How many stacks are left to the kernel while threads wait in many ways; none differs. */
static uint64_t count_left(struct __test_metadata *_metadata, FIXTURE_DATA(left) *self,
			   const char *beside)
{
	const volatile struct walk_counts *counts = comparison__counts(&self->comparison);
	char ms[16];
	const char *const argv[] = { "kinds", "--wait", "--ms", ms, NULL };
	uint64_t before;

	/* A guest has few switches in that time. */
	snprintf(ms, sizeof(ms), "%d", 500 * tolerance__slowness());
	EXPECT_EQ(0, orc__update(&self->comparison.orc));
	before = counts->left;
	EXPECT_EQ(0, workload__run(&self->workload, argv));
	comparison__print(&self->comparison, beside);
	EXPECT_EQ(0, counts->differ)
	{
		comparison__show_differences(&self->comparison);
	}
	return counts->left - before;
}

/*
 * Many more than the usual ones, which begin in a BPF program or are deep: had no walk met what is
 * to be on the stacks, the test would show nothing.
 */
static void expect_more_left(struct __test_metadata *_metadata, FIXTURE_DATA(left) *self,
			     uint64_t usual, const char *beside)
{
	uint64_t left = count_left(_metadata, self, beside);

	fprintf(stderr, "# %" PRIu64 " left, and %" PRIu64 " beside %s\n", usual, left, beside);
	EXPECT_LT(2 * usual + 20, left);
}

/* Loads the program that needs a BPF trampoline as well, if the kernel has these. 0 or -errno. */
static int load_trampolines(FIXTURE_DATA(left) *self, bool bpf_trampoline)
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
static int attach_trampolines(FIXTURE_DATA(left) *self)
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

TEST_F(left, hardly_any_stack_where_nothing_is_on_them)
{
	uint64_t left;
	int err;

	SKIP_FOR(test_capture__refused());
	err = comparison__begin(&self->comparison, variant->at_switch_in, false);
	SKIP_FOR(comparison__refused(err));
	ASSERT_EQ(0, err);
	left = count_left(_metadata, self, "nothing");
	EXPECT_LE(left, comparison__counts(&self->comparison)->same / 1000);
}

TEST_F(left, stacks_with_trampolines_and_with_return_addresses_of_kretprobes)
{
	uint64_t usual;
	int err;

	SKIP_FOR(test_capture__refused());
	err = comparison__begin(&self->comparison, variant->at_switch_in, false);
	SKIP_FOR(comparison__refused(err));
	ASSERT_EQ(0, err);
	usual = count_left(_metadata, self, "nothing");
	if (!attach_trampolines(self))
		SKIP(return, "this kernel has neither trampolines nor kretprobes");
	expect_more_left(_metadata, self, usual, "trampolines");
	EXPECT_LT(0, self->trampolines->bss->nr_returns);
}

TEST_F(left, stacks_with_return_addresses_that_function_graph_has_replaced)
{
	uint64_t usual;
	int err;

	SKIP_FOR(test_capture__refused());
	if (!getenv("DENET_TEST_GUEST"))
		SKIP(return, "the tracer function_graph is the whole machine's: only in a guest");
	if (!graph_tracer__exists())
		SKIP(return, "this kernel has no tracer function_graph");
	err = comparison__begin(&self->comparison, variant->at_switch_in, false);
	SKIP_FOR(comparison__refused(err));
	ASSERT_EQ(0, err);
	usual = count_left(_metadata, self, "nothing");
	ASSERT_EQ(0, graph_tracer__begin());
	self->traces = true;
	expect_more_left(_metadata, self, usual, "function_graph");
}

TEST_HARNESS_MAIN
