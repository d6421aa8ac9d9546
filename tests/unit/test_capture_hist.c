/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the buckets of block lengths begin, and which length is in which. */
#include "common/harness.h"

#include "base/units.h"
#include "capture/hist.h"

TEST(bounds_are_what_people_type_and_each_is_about_twice_the_one_before)
{
	EXPECT_EQ(0, hist__bound(0));
	EXPECT_EQ(NSEC_PER_USEC, hist__bound(1));
	EXPECT_EQ(64 * NSEC_PER_USEC, hist__bound(7));
	EXPECT_EQ(125 * NSEC_PER_USEC, hist__bound(8));
	EXPECT_EQ(500 * NSEC_PER_USEC, hist__bound(10));
	EXPECT_EQ(NSEC_PER_MSEC, hist__bound(11));
	EXPECT_EQ(NSEC_PER_SEC, hist__bound(21));
	EXPECT_EQ(1000 * NSEC_PER_SEC, hist__bound(31));
	EXPECT_EQ(UINT64_MAX, hist__bound(32));
	for (size_t i = 2; i < CAPTURE_HIST_BUCKETS; i++) {
		EXPECT_LE(hist__bound(i - 1) * 195 / 100, hist__bound(i));
		EXPECT_LE(hist__bound(i), hist__bound(i - 1) * 2);
	}
}

TEST(the_default_threshold_and_one_millisecond_are_bounds)
{
	struct capture_options options;

	capture_options__init(&options);
	EXPECT_EQ(options.threshold_ns, hist__bound(hist__bucket(options.threshold_ns)));
	EXPECT_EQ(NSEC_PER_MSEC, hist__bound(hist__bucket(NSEC_PER_MSEC)));
}

TEST(a_length_is_in_the_bucket_that_begins_at_it_or_last_before_it)
{
	EXPECT_EQ(0, hist__bucket(0));
	EXPECT_EQ(0, hist__bucket(NSEC_PER_USEC - 1));
	for (size_t i = 1; i < CAPTURE_HIST_BUCKETS; i++) {
		EXPECT_EQ(i, hist__bucket(hist__bound(i)));
		EXPECT_EQ(i - 1, hist__bucket(hist__bound(i) - 1));
	}
	EXPECT_EQ(CAPTURE_HIST_BUCKETS - 1, hist__bucket(UINT64_MAX));
}

TEST_HARNESS_MAIN
