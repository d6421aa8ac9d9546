/* SPDX-License-Identifier: GPL-2.0-only */
/* The window of samples: its groups add up, and what is old is forgotten. */
#include "top/activity.h"

#include <stdio.h>
#include <string.h>

#include "common/harness.h"
#include "top/drill.h"

#define SECOND 1000000000ULL
#define NR_COLUMNS 3

FIXTURE(activity)
{
	struct activity *activity;
	struct activity_view view;
};

FIXTURE_SETUP(activity)
{
	const struct activity_options options = { .nr_columns = NR_COLUMNS,
						  .window_ns = 160 * SECOND,
						  .max_samples = 1600 };

	self->activity = activity__new(&options);
	ASSERT_NE(NULL, self->activity);
	self->view = (struct activity_view){ 0 };
}

FIXTURE_TEARDOWN(activity)
{
	activity_view__free(&self->view);
	activity__delete(self->activity);
}

static int add(struct activity *activity, const char *state, const char *comm, const char *call,
	       uint64_t ns)
{
	const char *const texts[NR_COLUMNS] = { state, comm, call };

	return activity__add(activity, texts, &(struct activity_times){ { ns, 2 * ns } });
}

static const struct activity_row *group(struct activity *activity, const size_t *columns, size_t nr,
					struct activity_view *view, size_t *rows)
{
	const struct activity_query query = {
		.until = UINT64_MAX, .columns = columns, .nr_columns = nr
	};

	return activity__group(activity, &query, view) ? NULL : activity_view__rows(view, rows);
}

TEST_F(activity, averages_are_of_time_and_not_of_looks)
{
	const size_t columns[] = { 0, 1 };
	const struct activity_row *rows;
	size_t nr;

	/* A second with two threads, then three seconds, for which one look stands, with one. */
	ASSERT_EQ(0, activity__begin_pass(self->activity, 10 * SECOND, SECOND));
	ASSERT_EQ(0, add(self->activity, "RUN", "a", "?", 5));
	ASSERT_EQ(0, add(self->activity, "DISK", "b", "read", 7));
	ASSERT_EQ(0, activity__begin_pass(self->activity, 12 * SECOND, 3 * SECOND));
	ASSERT_EQ(0, add(self->activity, "DISK", "b", "read", 9));
	rows = group(self->activity, columns, 2, &self->view, &nr);
	ASSERT_NE(NULL, rows);
	ASSERT_EQ(2, nr);
	EXPECT_STREQ("DISK", rows[0].texts[0]);
	EXPECT_STREQ("b", rows[0].texts[1]);
	EXPECT_EQ(2, rows[0].samples);
	EXPECT_EQ(1.0, rows[0].average);
	EXPECT_EQ(0.8, rows[0].share);
	EXPECT_EQ(0.25, rows[1].average);
	EXPECT_EQ(1.25, self->view.average);
	EXPECT_EQ(4 * SECOND, self->view.covered_ns);
	EXPECT_EQ(2, self->view.passes);
	EXPECT_EQ(3, self->view.samples);
}

TEST_F(activity, without_columns_all_is_one_row)
{
	const struct activity_row *rows;
	size_t nr;

	ASSERT_EQ(0, activity__begin_pass(self->activity, 1, SECOND));
	rows = group(self->activity, NULL, 0, &self->view, &nr);
	EXPECT_EQ(0, nr);
	EXPECT_EQ(1, self->view.passes);
	ASSERT_EQ(0, add(self->activity, "RUN", "a", "?", 0));
	ASSERT_EQ(0, add(self->activity, "RUN", "b", "?", 0));
	rows = group(self->activity, NULL, 0, &self->view, &nr);
	ASSERT_EQ(1, nr);
	EXPECT_EQ(2.0, rows->average);
	EXPECT_EQ(0, rows->p50_ns);
}

TEST_F(activity, percentiles_are_of_known_times)
{
	const size_t columns[] = { 1 };
	const struct activity_row *rows;
	struct activity_query query = { .until = UINT64_MAX, .columns = columns, .nr_columns = 1 };
	size_t nr;

	ASSERT_EQ(0, activity__begin_pass(self->activity, 1, SECOND));
	for (uint64_t i = 100; i; i--) {
		ASSERT_EQ(0, add(self->activity, "SLEEP", "a", "read", i));
		ASSERT_EQ(0, add(self->activity, "SLEEP", "b", "read", 0));
	}
	ASSERT_EQ(0, add(self->activity, "SLEEP", "b", "read", 42));
	rows = group(self->activity, columns, 1, &self->view, &nr);
	ASSERT_EQ(2, nr);
	EXPECT_STREQ("b", rows[0].texts[0]);
	EXPECT_EQ(42, rows[0].p50_ns);
	EXPECT_EQ(42, rows[0].p99_ns);
	EXPECT_EQ(50, rows[1].p50_ns);
	EXPECT_EQ(99, rows[1].p99_ns);
	/* add() makes the time in call twice that in state. */
	query.time = ACTIVITY_TIME_CALL;
	ASSERT_EQ(0, activity__group(self->activity, &query, &self->view));
	EXPECT_EQ(84, activity_view__rows(&self->view, &nr)[0].p50_ns);
	query.time = ACTIVITY_TIME_REQUEST;
	ASSERT_EQ(0, activity__group(self->activity, &query, &self->view));
	EXPECT_EQ(0, activity_view__rows(&self->view, &nr)[0].p50_ns);
}

TEST_F(activity, a_range_of_time)
{
	const struct activity_query query = { .from = 20, .until = 30 };
	uint64_t oldest, latest;

	EXPECT_FALSE(activity__span(self->activity, &oldest, &latest));
	for (uint64_t time = 10; time <= 40; time += 10) {
		ASSERT_EQ(0, activity__begin_pass(self->activity, time, 1));
		ASSERT_EQ(0, add(self->activity, "RUN", "a", "?", 0));
	}
	ASSERT_EQ(0, activity__group(self->activity, &query, &self->view));
	EXPECT_EQ(1, self->view.passes);
	EXPECT_EQ(1, self->view.samples);
	EXPECT_TRUE(activity__span(self->activity, &oldest, &latest));
	EXPECT_EQ(10, oldest);
	EXPECT_EQ(40, latest);
	activity__clear(self->activity);
	EXPECT_FALSE(activity__span(self->activity, &oldest, &latest));
}

TEST_F(activity, filters_keep_and_leave_out)
{
	const struct activity_filter filters[] = { { .column = 0, .text = "SLEEP" },
						   { .column = 1, .text = "b", .out = true } };
	const struct activity_query query = { .until = UINT64_MAX, .filters = filters,
					      .nr_filters = 2 };

	ASSERT_EQ(0, activity__begin_pass(self->activity, 1, SECOND));
	ASSERT_EQ(0, add(self->activity, "SLEEP", "a", "read", 0));
	ASSERT_EQ(0, add(self->activity, "SLEEP", "b", "read", 0));
	ASSERT_EQ(0, add(self->activity, "RUN", "a", "?", 0));
	ASSERT_EQ(0, activity__group(self->activity, &query, &self->view));
	EXPECT_EQ(1, self->view.samples);
}

TEST_F(activity, the_window_moves_on_and_is_bounded)
{
	uint64_t oldest, latest;
	char name[16];

	for (uint64_t i = 0; i < 1000; i++) {
		ASSERT_EQ(0, activity__begin_pass(self->activity, i * SECOND, SECOND));
		snprintf(name, sizeof(name), "name-%d", (int)i);
		ASSERT_EQ(0, add(self->activity, "RUN", name, "?", 0));
	}
	ASSERT_TRUE(activity__span(self->activity, &oldest, &latest));
	EXPECT_EQ(999 * SECOND, latest);
	/* The oldest part is kept until its last pass is too old. */
	EXPECT_GE(latest - 160 * SECOND, oldest);
	EXPECT_LE(latest - 171 * SECOND, oldest);
	/* Many threads: a shorter window, so that no more than so many samples are kept. */
	for (uint64_t i = 1000; i < 1050; i++) {
		ASSERT_EQ(0, activity__begin_pass(self->activity, i * SECOND, SECOND));
		for (int j = 0; j < 100; j++)
			ASSERT_EQ(0, add(self->activity, "RUN", "a", "?", 0));
	}
	ASSERT_TRUE(activity__span(self->activity, &oldest, &latest));
	EXPECT_GE(oldest, latest - 17 * SECOND);
	EXPECT_LE(oldest, latest - 14 * SECOND);
}

TEST_F(activity, down_into_a_row_and_up_again)
{
	const size_t by_state[] = { 0 }, by_comm_and_call[] = { 1, 2 }, by_call[] = { 2 };
	const struct activity_filter not_a = { .column = 1, .text = "a", .out = true };
	struct activity_query query = { .until = UINT64_MAX };
	struct drill *drill = drill__new(by_state, 1);
	const struct activity_row *rows;
	size_t nr;

	ASSERT_NE(NULL, drill);
	ASSERT_EQ(0, activity__begin_pass(self->activity, 1, SECOND));
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, add(self->activity, "SLEEP", i ? "a" : "b", "read", 0));
	ASSERT_EQ(0, add(self->activity, "RUN", "a", "?", 0));
	drill__query(drill, &query);
	ASSERT_EQ(0, activity__group(self->activity, &query, &self->view));
	rows = activity_view__rows(&self->view, &nr);
	ASSERT_EQ(2, nr);
	ASSERT_STREQ("SLEEP", rows[0].texts[0]);
	ASSERT_EQ(0, drill__down(drill, &rows[0], by_comm_and_call, 2));
	EXPECT_EQ(1, drill__depth(drill));
	/* The filters outlive the view that they come from. */
	activity_view__free(&self->view);
	drill__query(drill, &query);
	ASSERT_EQ(0, activity__group(self->activity, &query, &self->view));
	rows = activity_view__rows(&self->view, &nr);
	ASSERT_EQ(2, nr);
	EXPECT_STREQ("a", rows[0].texts[0]);
	EXPECT_STREQ("read", rows[0].texts[1]);
	ASSERT_EQ(0, drill__filter(drill, &not_a));
	drill__regroup(drill, by_call, 1);
	drill__query(drill, &query);
	ASSERT_EQ(0, activity__group(self->activity, &query, &self->view));
	EXPECT_EQ(1, self->view.samples);
	EXPECT_TRUE(drill__up(drill));
	EXPECT_FALSE(drill__up(drill));
	drill__query(drill, &query);
	ASSERT_EQ(0, activity__group(self->activity, &query, &self->view));
	EXPECT_EQ(3, self->view.samples);
	drill__delete(drill);
}

TEST_F(activity, memory_is_bounded_whatever_the_texts_are)
{
	const struct activity_options options = { .nr_columns = NR_COLUMNS,
						  .window_ns = UINT64_MAX, .max_bytes = 1 << 20 };
	struct activity *activity = activity__new(&options);
	uint64_t oldest, latest;
	char text[1000];

	ASSERT_NE(NULL, activity);
	memset(text, 'x', sizeof(text));
	for (unsigned int i = 0; i < 10000; i++) {
		snprintf(text + 900, 100, "%u", i);
		ASSERT_EQ(0, activity__begin_pass(activity, (i + 1) * SECOND, SECOND));
		ASSERT_EQ(0, add(activity, "SLEEP", "a", text, 1));
	}
	ASSERT_TRUE(activity__span(activity, &oldest, &latest));
	EXPECT_EQ(10000 * SECOND, latest);
	/* About a thousand of these fit. */
	EXPECT_GT(oldest, 8900 * SECOND);
	EXPECT_LT(oldest, 9700 * SECOND);
	activity__delete(activity);
}

TEST_F(activity, steps_have_the_time_before_each_pass)
{
	const struct activity_filter filter = { .column = 1, .text = "b", .out = true };
	const struct activity_query query = { .filters = &filter, .nr_filters = 1 };
	struct activity_step step[5];
	struct activity_steps steps = { .from = 10 * SECOND, .step_ns = 2 * SECOND, .nr = 5,
					.steps = step };

	/* From 9 s to 13 s, from 13 s to 14 s, and nothing until 17 s. */
	ASSERT_EQ(0, activity__begin_pass(self->activity, 13 * SECOND, 4 * SECOND));
	ASSERT_EQ(0, add(self->activity, "RUN", "a", "x", 1));
	ASSERT_EQ(0, add(self->activity, "DISK", "a", "y", SECOND / 2));
	ASSERT_EQ(0, add(self->activity, "DISK", "b", "y", 1));
	ASSERT_EQ(0, activity__begin_pass(self->activity, 14 * SECOND, SECOND));
	ASSERT_EQ(0, add(self->activity, "DISK", "a", "y", 1));
	ASSERT_EQ(0, activity__begin_pass(self->activity, 18 * SECOND, SECOND));
	ASSERT_EQ(0, activity__steps(self->activity, &query, 0, &steps));
	ASSERT_EQ(2, steps.nr_kinds);
	EXPECT_STREQ("RUN", steps.kinds[0]);
	EXPECT_STREQ("DISK", steps.kinds[1]);
	EXPECT_EQ(2 * SECOND, step[0].covered_ns);
	EXPECT_EQ(2 * SECOND, step[0].weight_ns[0]);
	EXPECT_EQ(2 * SECOND, step[0].weight_ns[1]);
	EXPECT_EQ(2 * SECOND, step[1].covered_ns);
	EXPECT_EQ(SECOND, step[1].weight_ns[0]);
	EXPECT_EQ(2 * SECOND, step[1].weight_ns[1]);
	EXPECT_EQ(2 * SECOND, step[0].band_ns[0]);
	EXPECT_EQ(2 * SECOND, step[0].band_ns[activity__band(SECOND / 2)]);
	EXPECT_EQ(0, step[2].covered_ns);
	EXPECT_EQ(SECOND, step[3].covered_ns);
	EXPECT_EQ(0, step[3].weight_ns[1]);
	EXPECT_EQ(0, step[4].covered_ns);
}

TEST(bands_are_powers_of_ten)
{
	EXPECT_EQ(0, activity__band(9999));
	EXPECT_EQ(1, activity__band(10000));
	EXPECT_EQ(1, activity__band(99999));
	EXPECT_EQ(6, activity__band(10 * SECOND - 1));
	EXPECT_EQ(7, activity__band(10 * SECOND));
	EXPECT_EQ(7, activity__band(UINT64_MAX));
}

TEST_F(activity, a_filter_is_taken_away_from_its_own_level_alone)
{
	const size_t columns[] = { 0 }, below[] = { 1 };
	const struct activity_filter filter = { .column = 2, .text = "x" };
	const struct activity_row row = { .texts = { "RUN" } };
	const struct activity_filter *filters;
	struct drill *drill = drill__new(columns, 1);
	size_t nr_row;

	ASSERT_NE(NULL, drill);
	ASSERT_EQ(0, drill__filter(drill, &filter));
	ASSERT_EQ(0, drill__down(drill, &row, below, 1));
	EXPECT_FALSE(drill__unfilter(drill));
	ASSERT_EQ(0, drill__filter(drill, &filter));
	EXPECT_EQ(2, drill__level(drill, 1, &filters, &nr_row));
	EXPECT_EQ(1, nr_row);
	EXPECT_STREQ("RUN", filters[0].text);
	EXPECT_STREQ("x", filters[1].text);
	EXPECT_TRUE(drill__unfilter(drill));
	EXPECT_FALSE(drill__unfilter(drill));
	ASSERT_TRUE(drill__up(drill));
	EXPECT_EQ(1, drill__level(drill, 0, &filters, &nr_row));
	EXPECT_EQ(0, nr_row);
	EXPECT_TRUE(drill__unfilter(drill));
	drill__delete(drill);
}

/* As a file could have them that others made. */
TEST_F(activity, sums_do_not_wrap_whatever_weights_are)
{
	const size_t columns[] = { 1 };
	struct activity_step steps[2];
	struct activity_steps all = { .from = 0, .step_ns = UINT64_MAX / 2, .nr = 2,
				      .steps = steps };
	const struct activity_query query = { .until = UINT64_MAX };
	const struct activity_row *rows;
	size_t nr;

	for (uint64_t i = 1; i <= 3; i++) {
		ASSERT_EQ(0, activity__begin_pass(self->activity, UINT64_MAX - 9 + i,
						  UINT64_MAX / 2));
		ASSERT_EQ(0, add(self->activity, "RUN", "a", "?", 1));
		ASSERT_EQ(0, add(self->activity, "RUN", i == 1 ? "b" : "a", "?", 1));
	}
	rows = group(self->activity, columns, 1, &self->view, &nr);
	ASSERT_EQ(2, nr);
	EXPECT_EQ(UINT64_MAX, self->view.weight_ns);
	EXPECT_EQ(UINT64_MAX, self->view.covered_ns);
	EXPECT_STREQ("a", rows[0].texts[0]);
	EXPECT_EQ(1.0, rows[0].share);
	EXPECT_EQ(0.5, rows[1].share);
	ASSERT_EQ(0, activity__steps(self->activity, &query, 0, &all));
	EXPECT_EQ(UINT64_MAX, steps[1].weight_ns[0]);
}

TEST_F(activity, a_clock_that_is_set_back_forgets_nothing)
{
	const struct activity_row *rows;
	uint64_t time = 1000 * SECOND;
	size_t nr;

	for (int i = 0; i < 8; i++) {
		time -= 100 * SECOND;
		ASSERT_EQ(0, activity__begin_pass(self->activity, time, SECOND));
		ASSERT_EQ(0, add(self->activity, "RUN", "a", "?", 0));
	}
	/* Time 0 is one like all others. */
	ASSERT_EQ(0, activity__begin_pass(self->activity, 0, SECOND));
	ASSERT_EQ(0, add(self->activity, "RUN", "a", "?", 0));
	rows = group(self->activity, NULL, 0, &self->view, &nr);
	ASSERT_EQ(1, nr);
	EXPECT_EQ(9, rows[0].samples);
	EXPECT_EQ(9, self->view.passes);
}

TEST_HARNESS_MAIN
