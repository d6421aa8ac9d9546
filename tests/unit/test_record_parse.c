/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdint.h>

#include <kselftest_harness.h>

#include "record/parse.h"
#include "capture/capture.h"

#define BIT(state) (capture__state_bit(#state[0]))

TEST(id_lists_are_sorted_and_name_each_id_once)
{
	struct id_list list = { 0 };

	ASSERT_EQ(0, id_list__parse(&list, "42,7,42,9"));
	ASSERT_EQ(0, id_list__parse(&list, "8,7"));
	ASSERT_EQ(4, list.nr);
	EXPECT_EQ(7, list.ids[0]);
	EXPECT_EQ(8, list.ids[1]);
	EXPECT_EQ(9, list.ids[2]);
	EXPECT_EQ(42, list.ids[3]);
	id_list__free(&list);
	EXPECT_EQ(0, list.nr);
}

TEST(a_wrong_id_list_is_refused_and_changes_nothing)
{
	static const char *const wrong[] = {
		"", ",", "1,", ",1", "1,,2", "0", "-1", "1 2", "x", "1x", "0x10", " 1",
	};
	struct id_list list = { 0 };

	ASSERT_EQ(0, id_list__add(&list, 3));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		EXPECT_EQ(-EINVAL, id_list__parse(&list, wrong[i])) {
			TH_LOG("'%s'", wrong[i]);
		}
	}
	EXPECT_EQ(-EINVAL, id_list__parse(&list, "5,x"));
	EXPECT_EQ(-ERANGE, id_list__parse(&list, "5,4194305"));
	EXPECT_EQ(-ERANGE, id_list__parse(&list, "18446744073709551617"));
	ASSERT_EQ(1, list.nr);
	EXPECT_EQ(3, list.ids[0]);
	id_list__free(&list);
}

TEST(the_largest_pid_that_a_kernel_can_have_is_taken)
{
	struct id_list list = { 0 };

	ASSERT_EQ(0, id_list__parse(&list, "4194304"));
	EXPECT_EQ(4194304, list.ids[0]);
	id_list__free(&list);
}

TEST(states_are_letters_with_or_without_commas)
{
	uint32_t states = 0;

	ASSERT_EQ(0, parse__states("S,D", &states));
	EXPECT_EQ(BIT(S) | BIT(D), states);
	ASSERT_EQ(0, parse__states("SD", &states));
	EXPECT_EQ(BIT(S) | BIT(D), states);
	ASSERT_EQ(0, parse__states("R,S,D,T,t,I,P", &states));
	EXPECT_EQ(BIT(R) | BIT(S) | BIT(D) | BIT(T) | BIT(t) | BIT(I) | BIT(P), states);
	ASSERT_EQ(0, parse__states("t", &states));
	EXPECT_EQ(BIT(t), states);
}

TEST(all_states_are_all_but_the_dead)
{
	uint32_t states = 0;

	ASSERT_EQ(0, parse__states("all", &states));
	EXPECT_EQ(capture__all_states(), states);
}

TEST(a_wrong_list_of_states_is_refused)
{
	static const char *const wrong[] = {
		"", ",", "S,", ",S", "S,,D", "s", "X", "ALL", "S D", "Sx",
	};
	uint32_t states = 77;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		EXPECT_EQ(-EINVAL, parse__states(wrong[i], &states)) {
			TH_LOG("'%s'", wrong[i]);
		}
	}
	EXPECT_EQ(77, states);
}

TEST(ring_sizes_are_rounded_up_to_a_power_of_two_pages)
{
	uint32_t pages = 0;

	ASSERT_EQ(0, parse__ring_pages("1", 4096, &pages));
	EXPECT_EQ(1, pages);
	ASSERT_EQ(0, parse__ring_pages("129", 4096, &pages));
	EXPECT_EQ(256, pages);
	ASSERT_EQ(0, parse__ring_pages("512K", 4096, &pages));
	EXPECT_EQ(128, pages);
	ASSERT_EQ(0, parse__ring_pages("4097B", 4096, &pages));
	EXPECT_EQ(2, pages);
	ASSERT_EQ(0, parse__ring_pages("1G", 4096, &pages));
	EXPECT_EQ(262144, pages);
}

TEST(a_wrong_ring_size_is_refused)
{
	uint32_t pages;

	EXPECT_EQ(-ERANGE, parse__ring_pages("0", 4096, &pages));
	EXPECT_EQ(-ERANGE, parse__ring_pages("0K", 4096, &pages));
	EXPECT_EQ(-ERANGE, parse__ring_pages("262145", 4096, &pages));
	EXPECT_EQ(-ERANGE, parse__ring_pages("2G", 4096, &pages));
	EXPECT_EQ(-EINVAL, parse__ring_pages("", 4096, &pages));
	EXPECT_EQ(-EINVAL, parse__ring_pages("x", 4096, &pages));
	EXPECT_EQ(-EINVAL, parse__ring_pages("1T", 4096, &pages));
	EXPECT_EQ(-EINVAL, parse__ring_pages("1.5", 4096, &pages));
	EXPECT_EQ(-ERANGE, parse__ring_pages("99999999999999999999", 4096, &pages));
}

TEST(a_capture_way_is_known_by_its_name_and_no_other)
{
	enum attach_hook hook = ATTACH_HOOK_MAX;

	EXPECT_EQ(0, parse__attach_hook("auto", &hook));
	EXPECT_EQ(ATTACH_HOOK_AUTO, hook);
	EXPECT_EQ(0, parse__attach_hook("switch-in", &hook));
	EXPECT_EQ(ATTACH_HOOK_SWITCH_IN, hook);
	EXPECT_EQ(0, parse__attach_hook("switch-out", &hook));
	EXPECT_EQ(ATTACH_HOOK_SWITCH_OUT, hook);
	EXPECT_EQ(-EINVAL, parse__attach_hook("", &hook));
	EXPECT_EQ(-EINVAL, parse__attach_hook("switch", &hook));
	EXPECT_EQ(-EINVAL, parse__attach_hook("switch-outs", &hook));
	EXPECT_EQ(ATTACH_HOOK_SWITCH_OUT, hook);
}

TEST(a_call_graph_is_fp_or_dwarf_with_a_size_that_fits)
{
	enum call_graph mode = CALL_GRAPH_DWARF;
	uint32_t bytes = 1;

	ASSERT_EQ(0, parse__call_graph("fp", &mode, &bytes));
	EXPECT_EQ(CALL_GRAPH_FP, mode);
	EXPECT_EQ(1, bytes);
	ASSERT_EQ(0, parse__call_graph("dwarf", &mode, &bytes));
	EXPECT_EQ(CALL_GRAPH_DWARF, mode);
	EXPECT_EQ(8192, bytes);
	ASSERT_EQ(0, parse__call_graph("dwarf,4096", &mode, &bytes));
	EXPECT_EQ(4096, bytes);
	ASSERT_EQ(0, parse__call_graph("dwarf,1", &mode, &bytes));
	EXPECT_EQ(8, bytes);
	ASSERT_EQ(0, parse__call_graph("dwarf,65521", &mode, &bytes));
	EXPECT_EQ(65528, bytes);
	ASSERT_EQ(0, parse__call_graph("dwarf,65528", &mode, &bytes));
	EXPECT_EQ(65528, bytes);
	ASSERT_EQ(0, parse__call_graph("auto", &mode, &bytes));
	EXPECT_EQ(CALL_GRAPH_AUTO, mode);
	EXPECT_EQ(8192, bytes);
	ASSERT_EQ(0, parse__call_graph("auto,16", &mode, &bytes));
	EXPECT_EQ(16, bytes);
}

TEST(a_wrong_call_graph_is_refused_and_changes_nothing)
{
	static const char *const sizes[] = { "dwarf,", "dwarf,0", "dwarf,65529", "dwarf,x",
					     "dwarf,-8", "dwarf,8k", "dwarf,99999999999999999999" };
	static const char *const modes[] = { "", "dwarfs", "lbr", "fp,4096", "dwarf:4096", "Fp" };
	enum call_graph mode = CALL_GRAPH_FP;
	uint32_t bytes = 1;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		EXPECT_EQ(-ERANGE, parse__call_graph(sizes[i], &mode, &bytes));
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		EXPECT_EQ(-EINVAL, parse__call_graph(modes[i], &mode, &bytes));
	EXPECT_EQ(CALL_GRAPH_FP, mode);
	EXPECT_EQ(1, bytes);
}

TEST_HARNESS_MAIN
