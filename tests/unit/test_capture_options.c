/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdint.h>

#include <kselftest_harness.h>

#include "capture/options.h"

#define BIT(state) (capture__state_bit(#state[0]))

TEST(states_are_letters_with_or_without_commas)
{
	uint32_t states = 0;

	ASSERT_EQ(0, capture_states__parse(&states, "S,D"));
	EXPECT_EQ(BIT(S) | BIT(D), states);
	ASSERT_EQ(0, capture_states__parse(&states, "SD"));
	EXPECT_EQ(BIT(S) | BIT(D), states);
	ASSERT_EQ(0, capture_states__parse(&states, "R,S,D,T,t,I,P"));
	EXPECT_EQ(BIT(R) | BIT(S) | BIT(D) | BIT(T) | BIT(t) | BIT(I) | BIT(P), states);
	ASSERT_EQ(0, capture_states__parse(&states, "t"));
	EXPECT_EQ(BIT(t), states);
}

TEST(all_states_are_all_but_the_dead)
{
	uint32_t states = 0;

	ASSERT_EQ(0, capture_states__parse(&states, "all"));
	EXPECT_EQ(capture__all_states(), states);
}

TEST(a_mask_of_task_states_has_the_states_with_any_of_its_bits)
{
	static const struct {
		uint64_t mask;
		const char *letters;
	} cases[] = {
		{ 0, "R" },    { 1, "S" },      { 2, "DI" },	{ 3, "SDI" },
		{ 4, "T" },    { 8, "t" },      { 0x40, "P" },  { 0x400, "I" },
		{ 0xc, "Tt" }, { 0x1000, "D" }, { 0x8000, "D" }, { 0x81, "S" },
	};
	uint32_t states, want;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ASSERT_EQ(0, capture_states__of_mask(&states, cases[i].mask));
		ASSERT_EQ(0, capture_states__parse(&want, cases[i].letters));
		EXPECT_EQ(want, states);
	}
	states = 42;
	EXPECT_EQ(-EINVAL, capture_states__of_mask(&states, 0x80));
	EXPECT_EQ(-EINVAL, capture_states__of_mask(&states, 1ULL << 40));
	EXPECT_EQ(42, states);
}

TEST(a_wrong_list_of_states_is_refused)
{
	static const char *const wrong[] = {
		"", ",", "S,", ",S", "S,,D", "s", "X", "ALL", "S D", "Sx",
	};
	uint32_t states = 77;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		EXPECT_EQ(-EINVAL, capture_states__parse(&states, wrong[i])) {
			TH_LOG("'%s'", wrong[i]);
		}
	}
	EXPECT_EQ(77, states);
}

TEST(ring_sizes_are_rounded_up_to_a_power_of_two_pages)
{
	uint32_t pages = 0;

	ASSERT_EQ(0, capture_ring__parse(&pages, "1", 4096));
	EXPECT_EQ(1, pages);
	ASSERT_EQ(0, capture_ring__parse(&pages, "129", 4096));
	EXPECT_EQ(256, pages);
	ASSERT_EQ(0, capture_ring__parse(&pages, "512K", 4096));
	EXPECT_EQ(128, pages);
	ASSERT_EQ(0, capture_ring__parse(&pages, "4097B", 4096));
	EXPECT_EQ(2, pages);
	ASSERT_EQ(0, capture_ring__parse(&pages, "1G", 4096));
	EXPECT_EQ(262144, pages);
}

TEST(a_wrong_ring_size_is_refused)
{
	uint32_t pages;

	EXPECT_EQ(-ERANGE, capture_ring__parse(&pages, "0", 4096));
	EXPECT_EQ(-ERANGE, capture_ring__parse(&pages, "0K", 4096));
	EXPECT_EQ(-ERANGE, capture_ring__parse(&pages, "262145", 4096));
	EXPECT_EQ(-ERANGE, capture_ring__parse(&pages, "2G", 4096));
	EXPECT_EQ(-EINVAL, capture_ring__parse(&pages, "", 4096));
	EXPECT_EQ(-EINVAL, capture_ring__parse(&pages, "x", 4096));
	EXPECT_EQ(-EINVAL, capture_ring__parse(&pages, "1T", 4096));
	EXPECT_EQ(-EINVAL, capture_ring__parse(&pages, "1.5", 4096));
	EXPECT_EQ(-ERANGE, capture_ring__parse(&pages, "99999999999999999999", 4096));
}

TEST(a_call_graph_is_fp_or_dwarf_with_a_size_that_fits)
{
	struct capture_copies copies = { .bytes = 1, .chosen = true };

	ASSERT_EQ(0, capture_copies__parse(&copies, "fp"));
	EXPECT_EQ(0, copies.bytes);
	ASSERT_EQ(0, capture_copies__parse(&copies, "dwarf"));
	EXPECT_EQ(8192, copies.bytes);
	EXPECT_FALSE(copies.chosen);
	ASSERT_EQ(0, capture_copies__parse(&copies, "dwarf,4096"));
	EXPECT_EQ(4096, copies.bytes);
	ASSERT_EQ(0, capture_copies__parse(&copies, "dwarf,1"));
	EXPECT_EQ(8, copies.bytes);
	ASSERT_EQ(0, capture_copies__parse(&copies, "auto,16"));
	EXPECT_EQ(16, copies.bytes);
	/* Of threads that are still blocked. */
	ASSERT_EQ(0, capture_copies__parse(&copies, "tables"));
	EXPECT_EQ(28672, copies.bytes);
	EXPECT_FALSE(copies.chosen);
	EXPECT_TRUE(copies.tables && copies.asked_for);
	ASSERT_EQ(0, capture_copies__parse(&copies, "auto"));
	EXPECT_TRUE(copies.tables);
	EXPECT_FALSE(copies.asked_for || copies.chosen);
	ASSERT_EQ(0, capture_copies__parse(&copies, "fp"));
	EXPECT_FALSE(copies.tables);
}

TEST(perfs_largest_copy_is_as_much_as_a_record_holds)
{
	struct capture_copies copies = { 0 };

	ASSERT_EQ(0, capture_copies__parse(&copies, "dwarf,65344"));
	EXPECT_EQ(CAPTURE_MAX_COPY, copies.bytes);
	ASSERT_EQ(0, capture_copies__parse(&copies, "dwarf,65528"));
	EXPECT_EQ(CAPTURE_MAX_COPY, copies.bytes);
}

TEST(a_wrong_call_graph_is_refused_and_changes_nothing)
{
	static const char *const sizes[] = { "dwarf,", "dwarf,0", "dwarf,65529", "dwarf,x",
					     "dwarf,-8", "dwarf,8k", "dwarf,99999999999999999999" };
	static const char *const modes[] = { "", "dwarfs", "lbr", "fp,4096",
					     "tables,8", "dwarf:4096", "Fp" };
	struct capture_copies copies = { .bytes = 1 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		EXPECT_EQ(-ERANGE, capture_copies__parse(&copies, sizes[i]));
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		EXPECT_EQ(-EINVAL, capture_copies__parse(&copies, modes[i]));
	EXPECT_EQ(1, copies.bytes);
	EXPECT_FALSE(copies.chosen);
}

TEST_HARNESS_MAIN
