/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "base/log.h"
#include "common/captured_stderr.h"

static char shown[32768];

static const char *show(const char *text)
{
	int saved = captured_stderr__begin();

	pr_err("%s", text);
	captured_stderr__end(saved, shown, sizeof(shown));
	return shown;
}

TEST(each_level_is_shown_up_to_the_one_set)
{
	int saved;

	for (int level = LOG_ERROR; level <= LOG_DEBUG; level++) {
		char expected[128];
		static const char *const lines[] = { "p: error: 0\n", "p: warning: 0\n",
						     "p: warning: 1\n", "p: 2\n",
						     "p: 3\n", "p: 4\n" };
		size_t n = 0;

		log__init("p", (enum log_level)level);
		EXPECT_EQ(level, (int)log__level());
		saved = captured_stderr__begin();
		pr_err("%d", 0);
		pr_loss("%d", 0);
		pr_warn("%d", 1);
		pr_info("%d", 2);
		pr_verbose("%d", 3);
		pr_debug("%d", 4);
		captured_stderr__end(saved, shown, sizeof(shown));
		for (int i = 0; i <= level; i++)
			n += (size_t)snprintf(expected + n, sizeof(expected) - n, "%s", lines[i]);
		EXPECT_STREQ(expected, shown);
	}
}

TEST(control_bytes_are_shown_and_not_sent)
{
	log__init("p", LOG_INFO);
	EXPECT_STREQ("p: error: a\\x1b[2Jb\\x0ac\\x0dd\\x09e\\x7f\n",
		     show("a\x1b[2J" "b\nc\rd\te\x7f"));
	/* The one newline at the end is the line's own. */
	EXPECT_STREQ("p: error: a\\x0a\n", show("a\n\n"));
	EXPECT_STREQ("p: error: a\n", show("a\n"));
	EXPECT_STREQ("p: error: \n", show(""));
	EXPECT_STREQ("p: error: \n", show("\n"));
}

TEST(utf8_stays_and_its_control_characters_and_broken_bytes_do_not)
{
	log__init("p", LOG_INFO);
	EXPECT_STREQ("p: error: \u00e4\u00a0\u20ac\U0001f600\n",
		     show("\u00e4\u00a0\u20ac\U0001f600"));
	EXPECT_STREQ("p: error: \\xc2\\x9b2J\\xc2\\x80\n", show("\xc2\x9b" "2J\xc2\x80"));
	EXPECT_STREQ("p: error: \\x9b\\xc0\\xaf\\xff\n", show("\x9b\xc0\xaf\xff"));
	EXPECT_STREQ("p: error: \\xe2\\x82\n", show("\xe2\x82"));
	EXPECT_STREQ("p: error: \\xe2\\x82x\n", show("\xe2\x82x"));
	EXPECT_STREQ("p: error: \\xf0\n", show("\xf0"));
}

/* A terminal may take them for what they are a detour to. */
TEST(forms_that_are_no_utf8_are_shown_as_bytes)
{
	log__init("p", LOG_INFO);
	/* Half of a pair of UTF-16, longer forms than need be, and what is beyond U+10FFFF. */
	EXPECT_STREQ("p: error: \\xed\\xa0\\x80\n", show("\xed\xa0\x80"));
	EXPECT_STREQ("p: error: \\xe0\\x80\\x9b\n", show("\xe0\x80\x9b"));
	EXPECT_STREQ("p: error: \\xf0\\x80\\x80\\x9b\n", show("\xf0\x80\x80\x9b"));
	EXPECT_STREQ("p: error: \\xf4\\x90\\x80\\x80\n", show("\xf4\x90\x80\x80"));
	EXPECT_STREQ("p: error: \xf4\x8f\xbf\xbd\xee\x80\x80\n",
		     show("\xf4\x8f\xbf\xbd\xee\x80\x80"));
}

TEST(long_text_is_cut_and_stays_one_line)
{
	static char text[20000];
	size_t len;

	log__init("p", LOG_INFO);
	memset(text, 'x', sizeof(text) - 1);
	len = strlen(show(text));
	EXPECT_LT(8000, len);
	EXPECT_GT(8300, len);
	EXPECT_EQ('\n', shown[len - 1]);
	memset(text, '\x01', sizeof(text) - 1);
	len = strlen(show(text));
	EXPECT_GT(sizeof(shown) - 1, len);
	EXPECT_EQ('\n', shown[len - 1]);
	EXPECT_EQ(shown + len - 1, strchr(shown, '\n'));
}

static int befores, afters;

static void before(void)
{
	befores++;
	(void)!write(STDERR_FILENO, "<", 1);
}

static void after(void)
{
	afters++;
	(void)!write(STDERR_FILENO, ">", 1);
}

TEST(hooks_frame_each_line_that_is_shown)
{
	log__init("p", LOG_INFO);
	log__set_hooks(before, after);
	EXPECT_STREQ("<p: error: a\n>", show("a"));
	pr_debug("not shown");
	EXPECT_EQ(1, befores);
	EXPECT_EQ(1, afters);
	log__set_hooks(NULL, NULL);
	EXPECT_STREQ("p: error: b\n", show("b"));
}

TEST(errno_survives)
{
	int saved = captured_stderr__begin();

	log__init("p", LOG_INFO);
	errno = EXDEV;
	pr_err("a");
	EXPECT_EQ(EXDEV, errno);
	pr_debug("b");
	EXPECT_EQ(EXDEV, errno);
	captured_stderr__end(saved, shown, sizeof(shown));
}

TEST(an_escaped_text_fills_its_room_and_is_cut_between_characters)
{
	char out[8];

	log__escape(out, sizeof(out), "1234567");
	EXPECT_STREQ("1234567", out);
	log__escape(out, sizeof(out), "12345678");
	EXPECT_STREQ("1234567", out);
	log__escape(out, sizeof(out), "123\033");
	EXPECT_STREQ("123\\x1b", out);
	log__escape(out, sizeof(out), "1234\0335");
	EXPECT_STREQ("1234", out);
	log__escape(out, sizeof(out), "123456\u00e9");
	EXPECT_STREQ("123456", out);
}

TEST_HARNESS_MAIN
