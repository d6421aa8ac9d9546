/* SPDX-License-Identifier: GPL-2.0-only */
/* The histogram of block lengths and the table of thresholds, as text and as JSON. */
#include <errno.h>
#include <string.h>

#include "common/harness.h"

#include "base/units.h"
#include "hist/duration_hist.h"

FIXTURE(lengths)
{
	struct duration_hist lengths;
	struct threshold rows[DURATION_HIST_THRESHOLDS];
	char text[16384];
	FILE *out;
};

static void put(struct duration_hist *lengths, size_t row, char state, uint64_t each_ns,
		uint64_t count)
{
	struct capture_tally *tally = &lengths->ended.rows[row].buckets[hist__bucket(each_ns)];

	lengths->ended.rows[row].state = state;
	tally->count += count;
	tally->ns += count * each_ns;
}

/* Ten seconds: many short waits of which most of the time is not, and two states. */
FIXTURE_SETUP(lengths)
{
	memset(&self->lengths, 0, sizeof(self->lengths));
	memset(self->text, 0, sizeof(self->text));
	self->lengths.duration_ns = 10 * NSEC_PER_SEC;
	put(&self->lengths, 1, 'S', 20 * NSEC_PER_USEC, 50000);
	put(&self->lengths, 1, 'S', 40 * NSEC_PER_USEC, 9000);
	put(&self->lengths, 1, 'S', 3 * NSEC_PER_MSEC, 900);
	put(&self->lengths, 1, 'S', 2 * NSEC_PER_SEC, 4);
	put(&self->lengths, 2, 'D', 300 * NSEC_PER_USEC, 96);
	duration_hist__add_blocked(&self->lengths, 10 * NSEC_PER_SEC, true);
	duration_hist__add_blocked(&self->lengths, 9 * NSEC_PER_SEC, false);
	self->out = fmemopen(self->text, sizeof(self->text), "w");
	ASSERT_NE(NULL, self->out);
}

FIXTURE_TEARDOWN(lengths)
{
	fclose(self->out);
}

static void expect_row(struct __test_metadata *_metadata, const struct threshold *row, uint64_t ns,
		       uint64_t direct, uint64_t summed)
{
	EXPECT_EQ(ns, row->ns);
	EXPECT_EQ(direct, row->direct.count);
	EXPECT_EQ(summed, row->summed.count);
}

TEST_F(lengths, thresholds_are_where_the_samples_become_fewer_and_the_default)
{
	const struct threshold *rows = self->rows;

	ASSERT_EQ(7, duration_hist__thresholds(&self->lengths, self->rows));
	expect_row(_metadata, &rows[0], 0, 60000, 0);
	expect_row(_metadata, &rows[1], 32 * NSEC_PER_USEC, 10000, 50000);
	expect_row(_metadata, &rows[2], 64 * NSEC_PER_USEC, 1000, 59000);
	expect_row(_metadata, &rows[3], 500 * NSEC_PER_USEC, 904, 59096);
	expect_row(_metadata, &rows[4], 4 * NSEC_PER_MSEC, 4, 59996);
	expect_row(_metadata, &rows[5], 500 * NSEC_PER_MSEC, 4, 59996);
	expect_row(_metadata, &rows[6], 4 * NSEC_PER_SEC, 0, 60000);
}

TEST_F(lengths, times_rates_and_sizes_of_a_threshold_are_exact)
{
	const struct threshold *row = &self->rows[2];

	ASSERT_EQ(7, duration_hist__thresholds(&self->lengths, self->rows));
	EXPECT_EQ(900 * 3 * NSEC_PER_MSEC + 8 * NSEC_PER_SEC + 96 * 300 * NSEC_PER_USEC,
		  row->direct.ns);
	EXPECT_EQ(50000 * 20 * NSEC_PER_USEC + 9000 * 40 * NSEC_PER_USEC, row->summed.ns);
	EXPECT_EQ(100, row->samples_per_second);
	EXPECT_EQ(100 * 60 * DURATION_HIST_SAMPLE_BYTES, row->bytes_per_minute);
	/* Blocks that did not end are in neither, so every row has the same sum. */
	for (size_t i = 0; i < 7; i++) {
		EXPECT_EQ(60000, self->rows[i].direct.count + self->rows[i].summed.count);
		EXPECT_EQ(self->rows[0].direct.ns,
			  self->rows[i].direct.ns + self->rows[i].summed.ns);
	}
}

TEST_F(lengths, the_smallest_threshold_below_a_rate_is_suggested)
{
	size_t nr = duration_hist__thresholds(&self->lengths, self->rows);

	EXPECT_EQ(&self->rows[0], duration_hist__suggest(self->rows, nr, 6001));
	/* Fewer than, not as many as. */
	EXPECT_EQ(&self->rows[2], duration_hist__suggest(self->rows, nr, 1000));
	EXPECT_EQ(&self->rows[3], duration_hist__suggest(self->rows, nr, 100));
	EXPECT_EQ(&self->rows[6], duration_hist__suggest(self->rows, nr, 0.1));
	EXPECT_EQ(NULL, duration_hist__suggest(self->rows, nr, 0));
}

static const char golden_states[] =
	"60,000 blocks ended within 10.000 s: 12.089 s off the CPU\n"
	"\n"
	"state S, asleep: 59,904 blocks, 12.060 s\n"
	"          length        blocks                         time\n"
	"   16 us - 32 us        50,000  ##############      1.000 s  ##\n"
	"   32 us - 64 us         9,000  ###              360.000 ms  #\n"
	"             ...\n"
	"     2 ms - 4 ms           900  :                   2.700 s  #####\n"
	"             ...\n"
	"       2 s - 4 s             4  :                   8.000 s  ##############\n"
	"\n"
	"state D, uninterruptible: 96 blocks, 28.800 ms\n"
	"          length        blocks                         time\n"
	" 250 us - 500 us            96  ##############    28.800 ms  ##############\n"
	"\n"
	"still blocked at the end: 2 threads, 19.000 s; of these, 1 never ran\n"
	"          length        blocks                         time\n"
	"      8 s - 16 s             2  ##############     19.000 s  ##############\n";

static const char golden_thresholds[] =
	"\n"
	"                       samples of their own                 shorter, added up\n"
	"--off-cpu-thresh      per second  MB/minute    of the blocks      of the time\n"
	"               0         6,000.0       54.9            0.0 %            0.0 %\n"
	"            32us         1,000.0        9.2           83.3 %            8.3 %\n"
	"            64us           100.0        0.9           98.3 %           11.3 %\n"
	"           500us            90.4        0.8           98.5 %           11.5 %\n"
	"             4ms             0.4        0.0         > 99.9 %           33.8 %\n"
	" (default) 500ms             0.4        0.0         > 99.9 %           33.8 %\n"
	"              4s             0.0        0.0          100.0 %          100.0 %\n";

static const char golden_advice[] =
	"\n"
	"A sample is taken to have 160 bytes, with a callchain of 10 frames. What is\n"
	"added up costs at most one sample for each thread, state and callchain in each\n"
	"window (1 s); how many these are, only a recording tells.\n"
	"\n"
	"below 1,000 samples/s: --off-cpu-thresh 64us (100.0 samples/s)\n"
	"below   100 samples/s: --off-cpu-thresh 500us (90.4 samples/s)\n";

TEST_F(lengths, the_tables_and_the_advice_are_as_people_read_them)
{
	char golden[4096];

	snprintf(golden, sizeof(golden), "%s%s%s", golden_states, golden_thresholds, golden_advice);
	ASSERT_EQ(0, duration_hist__print(&self->lengths, false, self->out));
	EXPECT_STREQ(golden, self->text);
}

TEST_F(lengths, quiet_prints_the_tables_only)
{
	char golden[4096];

	snprintf(golden, sizeof(golden), "%s%s", golden_states, golden_thresholds);
	ASSERT_EQ(0, duration_hist__print(&self->lengths, true, self->out));
	EXPECT_STREQ(golden, self->text);
}

TEST_F(lengths, small_gaps_are_shown_and_one_advice_is_given_once)
{
	struct duration_hist lengths = { .duration_ns = NSEC_PER_SEC };

	put(&lengths, 0, 'R', 500, 3);
	put(&lengths, 0, 'R', 5 * NSEC_PER_USEC, 1);
	ASSERT_EQ(0, duration_hist__print(&lengths, false, self->out));
	EXPECT_NE(NULL, strstr(self->text,
			       "state R, ready to run: 4 blocks, 6.500 us\n"
			       "          length        blocks                         time\n"
			       "      below 1 us             3  ##############     1.500 us  ####\n"
			       "     1 us - 2 us             0                         0 ns\n"
			       "     2 us - 4 us             0                         0 ns\n"
			       "     4 us - 8 us             1  #####              5.000 us  "
			       "##############\n"));
	EXPECT_NE(NULL, strstr(self->text, "below 1,000 samples/s: --off-cpu-thresh 0 (4.0 "));
	EXPECT_EQ(NULL, strstr(self->text, "below   100"));
}

TEST_F(lengths, one_is_no_plural)
{
	struct duration_hist lengths = { .duration_ns = NSEC_PER_SEC };

	put(&lengths, 2, 'D', 5, 1);
	duration_hist__add_blocked(&lengths, 5, false);
	ASSERT_EQ(0, duration_hist__print(&lengths, true, self->out));
	EXPECT_NE(NULL, strstr(self->text, "1 block ended within"));
	EXPECT_NE(NULL, strstr(self->text, "uninterruptible: 1 block, 5 ns\n"));
	EXPECT_NE(NULL, strstr(self->text, "at the end: 1 thread, 5 ns\n"));
}

TEST_F(lengths, without_a_block_there_is_no_table)
{
	struct duration_hist lengths = { .duration_ns = NSEC_PER_SEC };

	ASSERT_EQ(0, duration_hist__print(&lengths, false, self->out));
	EXPECT_STREQ("0 blocks ended within 1.000 s: 0 ns off the CPU\n", self->text);
}

TEST_F(lengths, a_watch_of_no_length_divides_by_nothing)
{
	struct duration_hist lengths = { 0 };

	put(&lengths, 1, 'S', 5, 1);
	ASSERT_EQ(0, duration_hist__print(&lengths, false, self->out));
	ASSERT_EQ(0, duration_hist__print_json(&lengths, self->out));
	EXPECT_EQ(NULL, strstr(self->text, "inf"));
	EXPECT_EQ(NULL, strstr(self->text, "nan"));
}

TEST_F(lengths, large_numbers_stay_in_80_columns)
{
	size_t widest = 0, width;

	put(&self->lengths, 1, 'S', 1, 1000000000);
	put(&self->lengths, 1, 'S', 1000 * NSEC_PER_SEC, 500);
	put(&self->lengths, 1, 'S', 250 * NSEC_PER_SEC, 1000);
	put(&self->lengths, 2, 'D', 63 * NSEC_PER_MSEC, 9999999);
	put(&self->lengths, 8, '?', 200 * NSEC_PER_MSEC, 999999);
	ASSERT_EQ(0, duration_hist__print(&self->lengths, false, self->out));
	for (const char *line = self->text; *line; line += width + 1) {
		width = strcspn(line, "\n");
		widest = width > widest ? width : widest;
	}
	EXPECT_LT(70, widest);
	EXPECT_LE(widest, 80);
}

TEST_F(lengths, json_has_what_the_tables_have)
{
	ASSERT_EQ(0, duration_hist__print_json(&self->lengths, self->out));
	EXPECT_EQ(&self->text[0],
		  strstr(self->text, "{\"duration_ns\": 10000000000, \"lost\": 0,\n"));
	EXPECT_NE(NULL, strstr(self->text, "{\"state\": \"D\", \"blocks\": 96, \"ns\": 28800000, "
					   "\"buckets\": [\n    {\"from_ns\": 250000, \"to_ns\": "
					   "500000, \"blocks\": 96, \"ns\": 28800000}]}"));
	EXPECT_NE(NULL, strstr(self->text, "\"still_blocked\": {\"blocks\": 2, \"ns\": "
					   "19000000000, \"never_ran\": 1, "));
	EXPECT_NE(NULL, strstr(self->text, "{\"threshold_ns\": 64000, \"direct_blocks\": 1000, "
					   "\"direct_ns\": 10728800000, \"summed_blocks\": 59000, "
					   "\"summed_ns\": 1360000000,\n   \"direct_per_second\": "
					   "100.000, \"direct_bytes_per_minute\": 960000}"));
}

TEST_F(lengths, the_last_bucket_has_no_end_in_json)
{
	put(&self->lengths, 1, 'S', 2000 * NSEC_PER_SEC, 1);
	ASSERT_EQ(0, duration_hist__print_json(&self->lengths, self->out));
	EXPECT_NE(NULL, strstr(self->text, "{\"from_ns\": 1000000000000, \"blocks\": 1, "));
}

TEST_F(lengths, a_full_disk_is_an_error)
{
	FILE *full = fopen("/dev/full", "w");

	ASSERT_NE(NULL, full);
	EXPECT_EQ(-ENOSPC, duration_hist__print(&self->lengths, false, full));
	clearerr(full);
	EXPECT_EQ(-ENOSPC, duration_hist__print_json(&self->lengths, full));
	fclose(full);
}

TEST_HARNESS_MAIN
