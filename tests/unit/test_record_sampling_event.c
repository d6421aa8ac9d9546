/* SPDX-License-Identifier: GPL-2.0-only */
/* The reasons for a change of the period or the threshold, as text. */
#include <stdint.h>

#include "common/harness.h"

#include "record/sampling_event.h"

static const struct sampling_level level = { .period_ns = 5, .threshold_ns = 7 };

static const char *words(const struct rate_control_reason *reason)
{
	static struct writer_sampling fields;

	sampling_event__describe(&fields, &level, reason);
	return fields.text;
}

TEST(the_budget_is_told_where_it_is_the_reason)
{
	const struct rate_control_reason reason = { .max_rate = 200, .old.period_ns = 3 };
	struct writer_sampling fields;

	EXPECT_STREQ("at most 200 samples a second", words(&reason));
	sampling_event__describe(&fields, &level, &reason);
	EXPECT_EQ(3, fields.old_period_ns);
	EXPECT_EQ(5, fields.new_period_ns);
	EXPECT_EQ(7, fields.new_threshold_ns);
}

TEST(the_cost_is_told_where_it_is_the_reason_and_no_budget_besides)
{
	struct rate_control_reason reason = { .cause = RATE_CONTROL_COST,
					      .bpf_ppm = 98240,
					      .own_ppm = 11883,
					      .limit_ppm = 100 };

	EXPECT_STREQ("cost: programs 98240 and recorder 11883 of 100 ppm of a CPU",
		     words(&reason));
	reason.cause = RATE_CONTROL_RETURN;
	EXPECT_STREQ("cost: programs 98240 and recorder 11883 of 100 ppm of a CPU, the load is "
		     "gone",
		     words(&reason));
}

TEST(the_greatest_numbers_find_room)
{
	const struct rate_control_reason reason = { .cause = RATE_CONTROL_COST,
						    .bpf_ppm = UINT32_MAX,
						    .own_ppm = UINT32_MAX,
						    .limit_ppm = UINT32_MAX };

	EXPECT_STREQ("cost: programs 4294967295 and recorder 4294967295 of 4294967295 ppm of a CPU",
		     words(&reason));
}

TEST_HARNESS_MAIN
