/* SPDX-License-Identifier: GPL-2.0-only */
/* Texts are written as CSV and read back unchanged, whatever bytes they have: one line each. */
#include "top/csv_text.h"

#include <stdio.h>
#include <string.h>

#include "common/harness.h"

static size_t split(struct buffer *line, char **fields, size_t max)
{
	char end = '\0';

	return buffer__append(line, &end, 1) ? 0 : csv_text__split(line->data, fields, max);
}

TEST(any_text_comes_back)
{
	static const char *const texts[] = {
		"", "'", "''", "a','b", "'a'", "a''", ",", "\",\"", "it's", "a'',''b",
	};
	struct buffer line = { 0 };
	char *fields[16];
	size_t nr = sizeof(texts) / sizeof(texts[0]);

	for (size_t i = 0; i < nr; i++) {
		if (i)
			ASSERT_EQ(0, csv_text__add(&line, ","));
		ASSERT_EQ(0, csv_text__add_quoted(&line, texts[i]));
	}
	ASSERT_EQ(nr, split(&line, fields, 16));
	for (size_t i = 0; i < nr; i++)
		EXPECT_STREQ(texts[i], fields[i]);
	buffer__free(&line);
}

TEST(bytes_that_are_no_text)
{
	struct buffer line = { 0 };
	char *fields[2];

	ASSERT_EQ(0, csv_text__add_quoted(&line, "a\nb\xff\x1b"));
	EXPECT_EQ(NULL, memchr(line.data, '\n', line.len));
	ASSERT_EQ(1, split(&line, fields, 2));
	EXPECT_STREQ("a\\x0ab\\xff\\x1b", fields[0]);
	buffer__free(&line);
}

TEST(quotes_stand_where_they_are_needed)
{
	static const char *const texts[][2] = {
		{ "do_futex+0x1;x [k]", "do_futex+0x1;x [k]" },
		{ "", "" },
		{ "a,b", "'a,b'" },
		{ "it's", "'it''s'" },
		{ "a\rb", "'a\\x0db'" },
		{ "\x1b[2J", "'\\x1b[2J'" },
		{ "a\xff", "'a\\xff'" },
		{ "\xc3\xa4", "'\xc3\xa4'" },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct buffer line = { 0 };

		ASSERT_EQ(0, csv_text__add_sparing(&line, texts[i][0]));
		ASSERT_EQ(0, csv_text__add(&line, ";"));
		EXPECT_EQ(strlen(texts[i][1]) + 1, line.len);
		EXPECT_EQ(0, memcmp(texts[i][1], line.data, line.len - 1));
		buffer__free(&line);
	}
}

TEST(plain_fields_and_quotes_of_others)
{
	char plain[] = "1,,x y,", lone[] = "'it's','b'", open[] = "'a,b", many[] = "1,2,3";
	char *fields[3] = { 0 };

	ASSERT_EQ(4, csv_text__split(plain, fields, 3));
	EXPECT_STREQ("1", fields[0]);
	EXPECT_STREQ("", fields[1]);
	EXPECT_STREQ("x y", fields[2]);
	ASSERT_EQ(2, csv_text__split(lone, fields, 3));
	EXPECT_STREQ("it's", fields[0]);
	EXPECT_STREQ("b", fields[1]);
	ASSERT_EQ(1, csv_text__split(open, fields, 3));
	EXPECT_STREQ("a,b", fields[0]);
	EXPECT_EQ(3, csv_text__split(many, fields, 1));
}

TEST_HARNESS_MAIN
