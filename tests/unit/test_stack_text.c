/* SPDX-License-Identifier: GPL-2.0-only */
/* Stacks as texts reach from the leaf to the root, whatever their length. */
#include "top/stack_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/harness.h"
#include "top/columns.h"
#include "top/csv_text.h"

#define LONG 5000

static void long_name(const void *ctx, uint32_t i, char frame[STACK_TEXT_FRAME])
{
	char name[LONG];

	memset(name, *(const char *)ctx, sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	/* Both ends of a name tell which it is. */
	snprintf(name, 16, "frame-%u<", i);
	name[strlen(name)] = *(const char *)ctx;
	snprintf(name + sizeof(name) - 16, 16, ">::end-%u", i);
	stack_text__put_name(name, frame);
}

static uint32_t count_frames(const char *text)
{
	uint32_t nr = *text != '\0';

	for (; *text; text++)
		nr += *text == ';';
	return nr;
}

static bool ends_with(const char *text, const char *end)
{
	return strlen(text) >= strlen(end) && !strcmp(text + strlen(text) - strlen(end), end);
}

TEST(all_frames_of_long_names_are_there)
{
	char *text = malloc(STACK_TEXT_LEN), wanted[32];

	ASSERT_NE(NULL, text);
	stack_text__join(CAPTURE_MAX_FRAMES, long_name, "x", text, STACK_TEXT_LEN);
	EXPECT_EQ(CAPTURE_MAX_FRAMES, count_frames(text));
	EXPECT_EQ(NULL, strstr(text, STACK_TEXT_CUT));
	for (uint32_t i = 0; i < CAPTURE_MAX_FRAMES; i++) {
		snprintf(wanted, sizeof(wanted), "frame-%u<", i);
		EXPECT_NE(NULL, strstr(text, wanted));
		snprintf(wanted, sizeof(wanted), "x>::end-%u", i);
		EXPECT_NE(NULL, strstr(text, wanted));
	}
	EXPECT_TRUE(ends_with(text, ">::end-126"));
	free(text);
}

TEST(a_long_name_lacks_its_middle_which_is_marked)
{
	char name[400], frame[STACK_TEXT_FRAME];

	memset(name, 'n', sizeof(name));
	name[319] = '\0';
	stack_text__put_name(name, frame);
	EXPECT_STREQ(name, frame);
	name[319] = 'n';
	name[398] = 'z';
	name[399] = '\0';
	stack_text__put_name(name, frame);
	EXPECT_EQ(STACK_TEXT_FRAME - 1, strlen(frame));
	EXPECT_NE(NULL, strstr(frame, "n...n"));
	EXPECT_TRUE(ends_with(frame, "nz"));
	/* No character of UTF-8 is cut: each is of two bytes here. */
	for (size_t i = 0; i + 2 < sizeof(name); i += 2)
		memcpy(name + i, "\xc3\xa9", 2);
	name[398] = '\0';
	for (size_t shift = 0; shift < 2; shift++) {
		stack_text__put_name(name, frame);
		EXPECT_NE(NULL, strstr(frame, "\xa9...\xc3"));
		memmove(name + 1, name, 398);
		name[0] = 'a';
		name[399] = '\0';
	}
}

TEST(where_there_is_no_room_the_root_stays_and_the_gap_is_marked)
{
	char text[5 * STACK_TEXT_FRAME];

	stack_text__join(10, long_name, "x", text, sizeof(text));
	EXPECT_EQ(0, strncmp(text, "frame-0<", 8));
	EXPECT_NE(NULL, strstr(text, ";" STACK_TEXT_CUT ";"));
	EXPECT_TRUE(ends_with(text, ">::end-9"));
	EXPECT_LE(4, count_frames(text));
	EXPECT_GT(sizeof(text), strlen(text));
}

TEST(columns_and_files_have_whole_stacks)
{
	uint64_t ips[CAPTURE_MAX_FRAMES];
	struct thread_sample sample = {
		.user = { .ips = ips, .nr = CAPTURE_MAX_FRAMES },
		.kernel = { .ips = ips, .nr = CAPTURE_MAX_FRAMES },
	};
	struct top_names names = { 0 };
	char *text = malloc(TOP_COLUMN_LEN);

	ASSERT_NE(NULL, text);
	for (uint32_t i = 0; i < CAPTURE_MAX_FRAMES; i++)
		ips[i] = 0x7fff00000000 + i;
	top_column__put(TOP_COLUMN_USTACK, &sample, &names, text);
	EXPECT_EQ(CAPTURE_MAX_FRAMES, count_frames(text));
	EXPECT_TRUE(ends_with(text, ";0x7fff0000007e"));
	top_column__put(TOP_COLUMN_KSTACK, &sample, &names, text);
	EXPECT_TRUE(ends_with(text, ";0x7fff0000007e"));
	top_column__put(TOP_COLUMN_UFUNC, &sample, &names, text);
	EXPECT_STREQ("0x7fff00000000", text);
	top_column__put(TOP_COLUMN_KFUNC, &sample, &names, text);
	EXPECT_STREQ("0x7fff00000000", text);
	free(text);
}

TEST(a_stack_in_quotes_is_whole)
{
	char *text = malloc(STACK_TEXT_LEN), *fields[1];
	struct buffer line = { 0 };

	ASSERT_NE(NULL, text);
	stack_text__join(CAPTURE_MAX_FRAMES, long_name, "'", text, STACK_TEXT_LEN);
	ASSERT_EQ(0, csv_text__add_quoted(&line, text));
	ASSERT_EQ(0, buffer__append(&line, "", 1));
	ASSERT_EQ(1, csv_text__split(line.data, fields, 1));
	EXPECT_STREQ(text, fields[0]);
	buffer__free(&line);
	free(text);
}

TEST_HARNESS_MAIN
