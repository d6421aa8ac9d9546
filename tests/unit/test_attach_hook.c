/* SPDX-License-Identifier: GPL-2.0-only */
/* The choice of the attach hook, on kernels that offer or refuse other hooks than this one. */
#include <errno.h>

#include "common/harness.h"

#include "bpf/kernel_features.h"
#include "bpf/attach_hook.h"

/* A kernel that answers each hook with an error of its own; tried has a bit for each. */
struct fake_kernel {
	int errors[ATTACH_HOOK_MAX];
	unsigned int tried;
};

static int try_hook(void *ctx, enum attach_hook hook)
{
	struct fake_kernel *kernel = ctx;

	kernel->tried |= 1U << hook;
	return kernel->errors[hook];
}

static const struct kernel_features all = { .has_exit_tp = true, .has_sched_in = true };
static const struct kernel_features none;

TEST(the_first_way_that_works_is_taken_and_no_other_tried)
{
	struct fake_kernel kernel = { .errors = { [ATTACH_HOOK_EXIT_TP] = -EPERM } };

	EXPECT_EQ(0, attach_hook__take(ATTACH_HOOK_AUTO, &all, try_hook, &kernel));
	EXPECT_EQ(1U << ATTACH_HOOK_EXIT_TP | 1U << ATTACH_HOOK_FENTRY, kernel.tried);
}

TEST(what_the_kernel_does_not_have_is_not_tried)
{
	struct fake_kernel kernel = { 0 };

	EXPECT_EQ(0, attach_hook__take(ATTACH_HOOK_AUTO, &none, try_hook, &kernel));
	EXPECT_EQ(1U << ATTACH_HOOK_SWITCH_OUT, kernel.tried);
}

TEST(a_way_that_was_asked_for_has_no_substitute)
{
	for (enum attach_hook hook = ATTACH_HOOK_AUTO + 1; hook < ATTACH_HOOK_MAX; hook++) {
		struct fake_kernel kernel = { 0 };

		kernel.errors[hook] = -EINVAL;
		EXPECT_EQ(-EINVAL, attach_hook__take(hook, &all, try_hook, &kernel));
		EXPECT_EQ(1U << hook, kernel.tried);
	}
}

TEST(switch_in_is_either_of_two_and_never_switch_out)
{
	struct fake_kernel kernel = { 0 };

	EXPECT_EQ(-EOPNOTSUPP, attach_hook__take(ATTACH_HOOK_SWITCH_IN, &none, try_hook, &kernel));
	EXPECT_EQ(0U, kernel.tried);
	kernel.errors[ATTACH_HOOK_EXIT_TP] = -ENOENT;
	EXPECT_EQ(0, attach_hook__take(ATTACH_HOOK_SWITCH_IN, &all, try_hook, &kernel));
	EXPECT_EQ(1U << ATTACH_HOOK_EXIT_TP | 1U << ATTACH_HOOK_FENTRY, kernel.tried);
}

TEST(what_was_refused_first_is_told_rather_than_what_is_not_there)
{
	const struct kernel_features fentry = { .has_sched_in = true };
	struct fake_kernel kernel = { .errors = { [ATTACH_HOOK_FENTRY] = -EPERM,
					     [ATTACH_HOOK_SWITCH_OUT] = -EINVAL } };

	EXPECT_EQ(-EPERM, attach_hook__take(ATTACH_HOOK_AUTO, &fentry, try_hook, &kernel));
}

TEST(each_way_has_a_name_and_what_is_none_has_no_wild_one)
{
	for (enum attach_hook hook = ATTACH_HOOK_AUTO; hook < ATTACH_HOOK_MAX; hook++)
		EXPECT_NE(NULL, attach_hook__name(hook));
	EXPECT_STREQ("unknown", attach_hook__name(ATTACH_HOOK_MAX));
}

TEST(a_hook_is_known_by_its_name_and_no_other)
{
	enum attach_hook hook = ATTACH_HOOK_MAX;

	EXPECT_EQ(0, attach_hook__parse(&hook, "auto"));
	EXPECT_EQ(ATTACH_HOOK_AUTO, hook);
	EXPECT_EQ(0, attach_hook__parse(&hook, "switch-in"));
	EXPECT_EQ(ATTACH_HOOK_SWITCH_IN, hook);
	EXPECT_EQ(0, attach_hook__parse(&hook, "switch-out"));
	EXPECT_EQ(ATTACH_HOOK_SWITCH_OUT, hook);
	EXPECT_EQ(-EINVAL, attach_hook__parse(&hook, ""));
	EXPECT_EQ(-EINVAL, attach_hook__parse(&hook, "switch"));
	EXPECT_EQ(-EINVAL, attach_hook__parse(&hook, "switch-outs"));
	EXPECT_EQ(ATTACH_HOOK_SWITCH_OUT, hook);
}

TEST_HARNESS_MAIN
