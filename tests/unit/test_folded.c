/* SPDX-License-Identifier: GPL-2.0-only */
/* Folded stacks, byte for byte. */
#include "output/folded/folded.h"

#include <stdlib.h>

#include "common/example_profile.h"
#include "common/harness.h"

static char *print(struct example_profile *example)
{
	size_t size;

	return example_profile__make(example)
		       ? NULL
		       : example_profile__print(example, folded__write, &size);
}

TEST(all_events)
{
	struct example_profile example = { 0 };
	char *text = print(&example);

	ASSERT_NE(NULL, text);
	EXPECT_STREQ("offcpu-idle;wor_ker;[kernel]+0xffffffff80001001_[k] 5\n"
		     "offcpu-time;app;main;run:it;read<\"char\">;[kernel]+0xffffffff80002001_[k];"
		     "[kernel]+0xffffffff80001001_[k] 130\n"
		     "offcpu-time;wor_ker;main;anon+0x1fff 9007199254740993\n"
		     "on-cpu-time;app;main;run:it 8\n"
		     "queued-time;app;main;run:it;read<\"char\">;[kernel]+0xffffffff80002001_[k];"
		     "[kernel]+0xffffffff80001001_[k] 20\n"
		     "wakeup-time;wor_ker;main;run:it;read<\"char\"> 6\n",
		     text);
	free(text);
	example_profile__free(&example);
}

TEST(of_one_event_without_its_name)
{
	struct example_profile example = { .filter = { .events = 1 << PROFILE_ONCPU } };
	char *text = print(&example);

	ASSERT_NE(NULL, text);
	EXPECT_STREQ("app;main;run:it 8\n", text);
	EXPECT_EQ(6, profile__left_out(example.profile).samples);
	free(text);
	example_profile__free(&example);
}

TEST(of_a_time_and_of_a_thread)
{
	struct example_profile example = { .filter = {
						   .from = 2000, .to = 6000, .comms = "x,app" } };
	struct profile_sum sum;
	char *text = print(&example);

	ASSERT_NE(NULL, text);
	sum = profile__sum(example.profile, PROFILE_OFFCPU);
	EXPECT_EQ(30, sum.ns);
	EXPECT_EQ(1, sum.samples);
	EXPECT_EQ(20, profile__sum(example.profile, PROFILE_QUEUED).ns);
	EXPECT_EQ(0, profile__sum(example.profile, PROFILE_ONCPU).ns);
	EXPECT_EQ(0, profile__sum(example.profile, PROFILE_IDLE).ns);
	free(text);
	example_profile__free(&example);
}

TEST_HARNESS_MAIN
