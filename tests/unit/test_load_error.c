/* SPDX-License-Identifier: GPL-2.0-only */
/* Reasons why a kernel refuses, for kernels and machines that are not at hand. */
#include <errno.h>
#include <string.h>

#include "common/harness.h"

#include "bpf/load_error.h"

/* Root on a kernel that would do, which said err. */
static struct load_error_facts root(int err)
{
	struct load_error_facts facts = {
		.err = err,
		.has_btf = true,
		.has_scheduler = true,
		.has_task_storage = true,
		.has_hook = true,
		.lockdown = LOCKDOWN_NONE,
	};

	for (int i = 0; i < CAPABILITY_MAX; i++)
		facts.rights.has[i] = true;
	return facts;
}

static bool says(const struct load_error_facts *facts, const char *word)
{
	char text[512];

	return strstr(load_error__explain(facts, text, sizeof(text)), word);
}

TEST(no_error_is_no_refusal)
{
	struct load_error_facts facts = root(0);

	EXPECT_EQ(LOAD_ERROR_NONE, load_error__judge(&facts));
}

TEST(a_kernel_of_5_10_is_too_old_for_root_and_for_others)
{
	struct load_error_facts facts = root(-EINVAL);

	facts.has_task_storage = facts.has_hook = false;
	EXPECT_EQ(LOAD_ERROR_TOO_OLD, load_error__judge(&facts));
	EXPECT_TRUE(says(&facts, "too old"));
	EXPECT_TRUE(says(&facts, "5.11"));
	facts.err = -EPERM;
	memset(facts.rights.has, 0, sizeof(facts.rights.has));
	EXPECT_EQ(LOAD_ERROR_TOO_OLD, load_error__judge(&facts));
}

TEST(without_btf_nothing_else_counts)
{
	struct load_error_facts facts = { .err = -ESRCH };

	EXPECT_EQ(LOAD_ERROR_NO_BTF, load_error__judge(&facts));
	EXPECT_TRUE(says(&facts, "CONFIG_DEBUG_INFO_BTF"));
}

TEST(the_missing_capability_is_named_and_the_other_is_not)
{
	struct load_error_facts facts = root(-EPERM);

	facts.rights.has[CAPABILITY_BPF] = false;
	EXPECT_EQ(LOAD_ERROR_NO_RIGHTS, load_error__judge(&facts));
	EXPECT_TRUE(says(&facts, "CAP_BPF is missing"));
	facts.rights.has[CAPABILITY_BPF] = true;
	facts.rights.has[CAPABILITY_PERFMON] = false;
	facts.err = -EINVAL;
	EXPECT_EQ(LOAD_ERROR_NO_RIGHTS, load_error__judge(&facts));
	EXPECT_TRUE(says(&facts, "CAP_PERFMON is missing"));
	facts.rights.has[CAPABILITY_BPF] = false;
	EXPECT_TRUE(says(&facts, "CAP_BPF and CAP_PERFMON are missing"));
}

TEST(all_rights_and_still_refused_has_one_of_four_causes)
{
	struct load_error_facts facts = root(-EPERM);

	EXPECT_EQ(LOAD_ERROR_POLICY, load_error__judge(&facts));
	facts.rights.seccomp = true;
	EXPECT_EQ(LOAD_ERROR_SECCOMP, load_error__judge(&facts));
	facts.rights.user_namespace = true;
	EXPECT_EQ(LOAD_ERROR_USER_NAMESPACE, load_error__judge(&facts));
	facts.lockdown = LOCKDOWN_CONFIDENTIALITY;
	EXPECT_EQ(LOAD_ERROR_LOCKDOWN, load_error__judge(&facts));
	facts.lockdown = LOCKDOWN_INTEGRITY;
	EXPECT_EQ(LOAD_ERROR_USER_NAMESPACE, load_error__judge(&facts));
}

TEST(a_call_that_is_not_there_is_a_sandbox_or_a_small_kernel)
{
	struct load_error_facts facts = root(-ENOSYS);

	EXPECT_EQ(LOAD_ERROR_NO_BPF, load_error__judge(&facts));
	facts.rights.seccomp = true;
	EXPECT_EQ(LOAD_ERROR_SECCOMP, load_error__judge(&facts));
}

TEST(full_tables_are_not_taken_for_missing_rights)
{
	struct load_error_facts facts = { .err = -EMFILE };

	EXPECT_EQ(LOAD_ERROR_NO_DESCRIPTORS, load_error__judge(&facts));
	EXPECT_TRUE(says(&facts, "ulimit -n"));
	facts.err = -ENOMEM;
	EXPECT_EQ(LOAD_ERROR_NO_MEMORY, load_error__judge(&facts));
}

TEST(no_hook_is_said_to_who_has_the_rights)
{
	struct load_error_facts facts = root(-EOPNOTSUPP);

	facts.has_hook = false;
	EXPECT_EQ(LOAD_ERROR_NO_HOOK, load_error__judge(&facts));
	facts.rights.has[CAPABILITY_PERFMON] = false;
	EXPECT_EQ(LOAD_ERROR_NO_RIGHTS, load_error__judge(&facts));
}

TEST(each_refusal_has_a_cause_and_a_remedy)
{
	struct load_error_facts facts = root(-E2BIG);
	char text[512];

	EXPECT_EQ(LOAD_ERROR_OTHER, load_error__judge(&facts));
	EXPECT_NE(NULL, strstr(load_error__explain(&facts, text, sizeof(text)), "; "));
	for (int err = 1; err < 134; err++) {
		facts.err = -err;
		EXPECT_NE(NULL, strstr(load_error__explain(&facts, text, sizeof(text)), "; "));
	}
}

TEST_HARNESS_MAIN
