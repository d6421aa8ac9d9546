/* SPDX-License-Identifier: GPL-2.0-only */
/* Why the period or the threshold changed, in words. */
#include <stdint.h>

#include "common/harness.h"

#include "record/sampling_event.h"

TEST(the_budget_is_told_where_it_is_the_reason)
{
	struct writer_sampling fields = { .max_rate = 200 };

	sampling_event__describe(&fields);
	EXPECT_STREQ("at most 200 samples a second", fields.text);
}

TEST(the_cost_is_told_where_it_is_the_reason_and_no_budget_besides)
{
	struct writer_sampling fields = { .bpf_ppm = 98240, .own_ppm = 11883, .limit_ppm = 100 };

	sampling_event__describe(&fields);
	EXPECT_STREQ("cost: programs 98240 and recorder 11883 of 100 ppm of a CPU", fields.text);
}

TEST(the_greatest_numbers_find_room)
{
	struct writer_sampling fields = { .bpf_ppm = UINT32_MAX, .own_ppm = UINT32_MAX,
					  .limit_ppm = UINT32_MAX };

	sampling_event__describe(&fields);
	EXPECT_STREQ("cost: programs 4294967295 and recorder 4294967295 of 4294967295 ppm of a CPU",
		     fields.text);
}

TEST_HARNESS_MAIN
