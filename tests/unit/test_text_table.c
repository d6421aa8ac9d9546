/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kselftest_harness.h>

#include "base/text_table.h"

static const struct text_column columns[] = {
	{ "TIME", COLUMN_NUMBER, 0 },
	{ "THREADS", COLUMN_TEXT, 0 },
	{ "WAITED FOR", COLUMN_TEXT, 0 },
	{ "IN", COLUMN_CALLERS, 0 },
};

static const char *const lines[][4] = {
	{ "123.456 ms", "worker-* (12 threads)", "a timer (clock_nanosleep)",
	  "take_nap < run_naps < thread_main" },
	{ "1 ns", "worker-*", "file /var/lib/postgresql/15/main/base/5/2619 (fdatasync)",
	  "std::__condvar::wait_until_something < pool" },
	{ "2 ns", "\303\244\303\244\303\244\303\244\303\244\303\244\303\244\303\244", "a\033b",
	  "f" },
};

/* The table's text at a width; freed by the caller. */
static char *print(size_t width)
{
	struct text_table table = { .columns = columns, .nr_columns = 4 };
	const struct table_form form = { .width = width };
	size_t size, nr = sizeof(lines) / sizeof(lines[0]);
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < nr; i++) {
		if (text_table__add(&table, lines[i]))
			abort();
	}
	text_table__fit(&table, &form);
	text_table__print_heading(&table, &form, out);
	text_table__print(&table, &form, 0, nr, out);
	text_table__free(&table);
	fclose(out);
	return text;
}

/* The bytes of the longest line. */
static size_t widest(const char *text)
{
	size_t most = 0, len;

	for (; *text; text += len + (text[len] != '\0')) {
		len = strcspn(text, "\n");
		if (len > most)
			most = len;
	}
	return most;
}

TEST(without_a_limit_nothing_is_cut)
{
	char *text = print(0);

	for (size_t i = 0; i < 2; i++) {
		for (size_t j = 0; j < 4; j++)
			EXPECT_NE(NULL, strstr(text, lines[i][j]));
	}
	EXPECT_NE(NULL, strstr(text, "a\\x1bb"));
	free(text);
}

TEST(no_line_is_wider_than_the_terminal_and_no_number_is_cut)
{
	for (size_t width = 64; width < 200; width++) {
		char *text = print(width);

		EXPECT_GE(width, widest(text));
		EXPECT_NE(NULL, strstr(text, "\n  123.456 ms  "));
		EXPECT_NE(NULL, strstr(text, "\n        1 ns  "));
		free(text);
	}
}

TEST(callers_and_texts_give_way_by_turns)
{
	char *text = print(64);

	EXPECT_NE(NULL, strstr(text, "  worker-*  "));
	EXPECT_EQ(NULL, strstr(text, "worker-* ("));
	EXPECT_NE(NULL, strstr(text, "  a timer  "));
	EXPECT_NE(NULL, strstr(text, "  take_nap < ..."));
	EXPECT_NE(NULL, strstr(text, "  std::__condvar::w..."));
	EXPECT_NE(NULL, strstr(text, "/2619  std"));
	free(text);
	text = print(110);
	EXPECT_NE(NULL, strstr(text, "worker-* (12 threads)"));
	EXPECT_NE(NULL, strstr(text, "a timer (clock_nanosleep)"));
	EXPECT_NE(NULL, strstr(text, "  take_nap < run_naps < thread_main"));
	free(text);
}

/* The third line's name has two bytes for each character. */
TEST(characters_are_cut_as_wholes)
{
	size_t cut = 0;

	for (size_t width = 50; width < 80; width++) {
		char *text = print(width);
		const char *at = strstr(text, "2 ns  ");

		ASSERT_NE(NULL, at);
		at += strlen("2 ns  ");
		while (at[0] == '\303' && at[1] == '\244')
			at += 2;
		EXPECT_TRUE(*at == '.' || *at == ' ');
		cut += *at == '.';
		free(text);
	}
	EXPECT_LT(3, cut);
}

/* Columns with a rank go in its order, before texts get short; a short line ends early. */
TEST(columns_are_left_out_by_rank)
{
	static const struct text_column ranked[] = {
		{ "NAME", COLUMN_TEXT, 0 },   { "COUNT", COLUMN_NUMBER, 1 },
		{ "P50", COLUMN_NUMBER, 3 },  { "P99", COLUMN_NUMBER, 2 },
		{ "STATE", COLUMN_TEXT, 0 },
	};
	static const char *const cells[][5] = {
		{ "a-long-name", "12", "1 ms", "2 ms", "S" },
		{ "short", "", "", "", "" },
	};
	static const struct {
		size_t width;
		const char *text;
	} wanted[] = {
		{ 0, "\nNAME        COUNT  P50  P99  STATE\n"
		     "a-long-name    12 1 ms 2 ms  S\nshort\n" },
		{ 30, "\nNAME        COUNT  P99  STATE\na-long-name    12 2 ms  S\nshort\n" },
		{ 20, "\nNAME         STATE\na-long-name  S\nshort\n" },
		{ 16, "\nNAME       STATE\na-long...  S\nshort\n" },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		struct text_table table = { .columns = ranked, .nr_columns = 5, .flush = true };
		const struct table_form form = { .width = wanted[i].width };
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		ASSERT_EQ(0, text_table__add(&table, cells[0]));
		ASSERT_EQ(0, text_table__add(&table, cells[1]));
		text_table__fit(&table, &form);
		text_table__print_heading(&table, &form, out);
		text_table__print(&table, &form, 0, 2, out);
		text_table__free(&table);
		fclose(out);
		EXPECT_STREQ(wanted[i].text, text);
		free(text);
	}
}

TEST_HARNESS_MAIN
