/* SPDX-License-Identifier: GPL-2.0-only */
/* JSON, byte for byte; tests/user/report.bats parses it. */
#include "output/json/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "common/example_profile.h"
#include "common/harness.h"

TEST(an_event)
{
	struct example_profile example = { .filter = { .events = 1 << PROFILE_OFFCPU,
						       .from = 2500 } };
	char *text;
	size_t size;

	ASSERT_EQ(0, example_profile__make(&example));
	text = example_profile__print(&example, json__write, &size);
	ASSERT_NE(NULL, text);
	EXPECT_EQ(text, strstr(text, "{\"events\":[{\"name\":\"offcpu-time\","
				     "\"ns\":9007199254740993,\"samples\":1}],\n"
				     "\"left_out\":{\"ns\":169,\"samples\":6},\n\"functions\":["));
	EXPECT_TRUE(strstr(text, "{\"name\":\"read\\u003c\\\"char\\\">\",\"file\":\"//anon\","
				 "\"kernel\":false,\"known\":true}") != NULL);
	EXPECT_TRUE(strstr(text,
			   "\"stacks\":[\n{\"event\":\"offcpu-time\",\"pid\":5000000,"
			   "\"tid\":5000001,\"process\":\"app\",\"thread\":\"wor ker\","
			   "\"state\":\"D\",\"ns\":9007199254740993,\"samples\":1,\"blocks\":7,"
			   "\"longest_ns\":0,\"wait\":\"file /x (read)\",\"frames\":[") != NULL);
	EXPECT_STREQ("]}]}\n", text + size - 5);
	free(text);
	example_profile__free(&example);
}

static int prints(const char *text, const char *json)
{
	char *got = NULL;
	size_t size;
	FILE *out = open_memstream(&got, &size);
	int same;

	json_text__print(text, out);
	fclose(out);
	same = !strcmp(got, json);
	free(got);
	return same;
}

TEST(texts)
{
	EXPECT_TRUE(prints("a\"\\\n<", "\"a\\\"\\\\\\u000a\\u003c\""));
	EXPECT_TRUE(prints("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
			   "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\""));
	/* Cut off, too long, a surrogate, beyond the last. */
	EXPECT_TRUE(prints("\xc3", "\"\\ufffd\""));
	EXPECT_TRUE(prints("\xc0\x80", "\"\\ufffd\\ufffd\""));
	EXPECT_TRUE(prints("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""));
	EXPECT_TRUE(prints("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""));
}

TEST_HARNESS_MAIN
