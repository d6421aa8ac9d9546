/* SPDX-License-Identifier: GPL-2.0-only */
/* Which way of capture is taken, on kernels that have or refuse what this one may not. */
#include <errno.h>

#include "common/harness.h"

#include "bpf/kernel_features.h"
#include "bpf/attach_hook.h"

/* A kernel that answers each way with an error of its own; tried holds a bit for each. */
struct kernel {
	int errors[CAPTURE_WAY_MAX];
	unsigned int tried;
};

static int try_way(void *ctx, enum capture_way way)
{
	struct kernel *kernel = ctx;

	kernel->tried |= 1U << way;
	return kernel->errors[way];
}

static const struct offer all = { .has_exit_tp = true, .has_sched_in = true };
static const struct offer none;

TEST(the_first_way_that_works_is_taken_and_no_other_tried)
{
	struct kernel kernel = { .errors = { [CAPTURE_WAY_EXIT_TP] = -EPERM } };

	EXPECT_EQ(0, way__take(CAPTURE_WAY_AUTO, &all, try_way, &kernel));
	EXPECT_EQ(1U << CAPTURE_WAY_EXIT_TP | 1U << CAPTURE_WAY_FENTRY, kernel.tried);
}

TEST(what_the_kernel_does_not_have_is_not_tried)
{
	struct kernel kernel = { 0 };

	EXPECT_EQ(0, way__take(CAPTURE_WAY_AUTO, &none, try_way, &kernel));
	EXPECT_EQ(1U << CAPTURE_WAY_SWITCH_OUT, kernel.tried);
}

TEST(a_way_that_was_asked_for_has_no_substitute)
{
	for (enum capture_way way = CAPTURE_WAY_AUTO + 1; way < CAPTURE_WAY_MAX; way++) {
		struct kernel kernel = { 0 };

		kernel.errors[way] = -EINVAL;
		EXPECT_EQ(-EINVAL, way__take(way, &all, try_way, &kernel));
		EXPECT_EQ(1U << way, kernel.tried);
	}
}

TEST(switch_in_is_either_of_two_and_never_switch_out)
{
	struct kernel kernel = { 0 };

	EXPECT_EQ(-EOPNOTSUPP, way__take(CAPTURE_WAY_SWITCH_IN, &none, try_way, &kernel));
	EXPECT_EQ(0U, kernel.tried);
	kernel.errors[CAPTURE_WAY_EXIT_TP] = -ENOENT;
	EXPECT_EQ(0, way__take(CAPTURE_WAY_SWITCH_IN, &all, try_way, &kernel));
	EXPECT_EQ(1U << CAPTURE_WAY_EXIT_TP | 1U << CAPTURE_WAY_FENTRY, kernel.tried);
}

TEST(what_was_refused_first_is_told_rather_than_what_is_not_there)
{
	const struct offer fentry = { .has_sched_in = true };
	struct kernel kernel = { .errors = { [CAPTURE_WAY_FENTRY] = -EPERM,
					     [CAPTURE_WAY_SWITCH_OUT] = -EINVAL } };

	EXPECT_EQ(-EPERM, way__take(CAPTURE_WAY_AUTO, &fentry, try_way, &kernel));
}

TEST(each_way_has_a_name_and_what_is_none_has_no_wild_one)
{
	for (enum capture_way way = CAPTURE_WAY_AUTO; way < CAPTURE_WAY_MAX; way++)
		EXPECT_NE(NULL, capture_way__name(way));
	EXPECT_STREQ("unknown", capture_way__name(CAPTURE_WAY_MAX));
}

TEST_HARNESS_MAIN
