/* SPDX-License-Identifier: GPL-2.0-only */
/* Which bits of a user address are an address. */
#include <stdlib.h>

#include <kselftest_harness.h>

#include "host/user_address.h"

TEST(bits_above_the_highest_address_are_no_part_of_one)
{
	EXPECT_EQ(0xffffffffffffULL, user_address__mask_below(0xfffff7ffe000ULL));
	EXPECT_EQ(0x7fffffffffULL, user_address__mask_below(0x7ff0001000ULL));
	EXPECT_EQ(~0ULL, user_address__mask_below(0));
}

TEST(addresses_of_this_process_are_kept)
{
	uint64_t mask = user_address__mask();
	void *heap = malloc(1);
	int local;

	EXPECT_EQ((uint64_t)&local, (uint64_t)&local & mask);
	EXPECT_EQ((uint64_t)heap, (uint64_t)heap & mask);
	EXPECT_EQ((uint64_t)malloc, (uint64_t)malloc & mask);
	free(heap);
}

TEST(a_signature_of_arm64_is_taken_away)
{
#ifdef __aarch64__
	EXPECT_EQ(0x412340ULL, 0x2a000000412340ULL & user_address__mask());
#else
	SKIP(return, "only arm64 signs return addresses");
#endif
}

TEST_HARNESS_MAIN
