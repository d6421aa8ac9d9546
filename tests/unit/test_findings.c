/* SPDX-License-Identifier: GPL-2.0-only */
/* Findings of a session: at most six lines, the worst first, and all of them with -v. */
#include "common/captured_stderr.h"
#include "common/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/findings.h"

static char shown[4096];

static size_t lines(void)
{
	size_t nr = 0;

	for (const char *p = shown; (p = strchr(p, '\n')); p++)
		nr++;
	return nr;
}

/* One finding of each weight, the least first, and more than find room. */
static size_t find_all(struct findings *findings)
{
	findings__add(findings, FINDING_NOTE, "[ note ]");
	findings__warn(findings, FINDING_HINT, "hint");
	findings__warn(findings, FINDING_NAMES, "names");
	findings__warn(findings, FINDING_STACKS, "stacks %d", 1);
	findings__warn(findings, FINDING_STACKS, "stacks %d", 2);
	findings__add(findings, FINDING_ELSEWHERE, "[ elsewhere ]");
	findings__warn(findings, FINDING_LOST, "lost");
	return findings__print(findings, 2);
}

TEST(the_worst_come_first_and_leave_room_for_the_closing_lines)
{
	struct findings findings = { 0 };
	size_t left_out;
	int saved;

	log__init("p", LOG_INFO);
	saved = captured_stderr__begin();
	left_out = find_all(&findings);
	findings__free(&findings);
	captured_stderr__end(saved, shown, sizeof(shown));
	EXPECT_STREQ("p: warning: lost\n[ elsewhere ]\np: warning: stacks 1\n"
		     "p: warning: stacks 2\n",
		     shown);
	EXPECT_EQ(3, left_out);
}

TEST(with_v_all_are_shown_and_with_q_the_warnings)
{
	struct findings findings = { 0 }, quiet = { 0 };
	int saved;

	log__init("p", LOG_VERBOSE);
	saved = captured_stderr__begin();
	EXPECT_EQ(0, find_all(&findings));
	captured_stderr__end(saved, shown, sizeof(shown));
	EXPECT_EQ(7, lines());
	EXPECT_NE(NULL, strstr(shown, "p: warning: hint\n[ note ]\n"));
	log__init("p", LOG_WARNING);
	findings__free(&findings);
	saved = captured_stderr__begin();
	find_all(&quiet);
	findings__free(&quiet);
	captured_stderr__end(saved, shown, sizeof(shown));
	EXPECT_EQ(4, lines());
	EXPECT_EQ(NULL, strchr(shown, '['));
}

TEST(of_warnings_in_a_session_two_are_printed_at_once_and_the_worst_of_the_rest_in_the_end)
{
	struct findings findings = { 0 };
	int saved;

	log__init("p", LOG_INFO);
	saved = captured_stderr__begin();
	findings__listen(&findings);
	for (int i = 0; i < 5; i++)
		pr_warn("early %d", i);
	/* How it goes on is no finding. */
	pr_info("news");
	captured_stderr__end(saved, shown, sizeof(shown));
	EXPECT_STREQ("p: warning: early 0\np: warning: early 1\np: news\n", shown);
	saved = captured_stderr__begin();
	findings__hold(&findings);
	pr_loss("late loss");
	pr_warn("late");
	pr_err("error");
	EXPECT_EQ(3, findings__print(&findings, 2));
	findings__free(&findings);
	pr_warn("afterwards");
	captured_stderr__end(saved, shown, sizeof(shown));
	EXPECT_STREQ("p: error: error\np: warning: late loss\np: warning: early 2\n"
		     "p: warning: afterwards\n", shown);
}

TEST(the_worst_is_told_even_where_six_lines_are_there_already)
{
	struct findings findings = { .printed = FINDINGS_LINES };
	int saved;

	log__init("p", LOG_INFO);
	saved = captured_stderr__begin();
	findings__warn(&findings, FINDING_HINT, "hint");
	findings__warn(&findings, FINDING_LOST, "lost");
	EXPECT_EQ(1, findings__print(&findings, 2));
	findings__free(&findings);
	captured_stderr__end(saved, shown, sizeof(shown));
	EXPECT_STREQ("p: warning: lost\n", shown);
}

TEST(control_bytes_of_a_name_do_not_reach_the_terminal)
{
	struct findings findings = { 0 };
	int saved;

	log__init("p", LOG_INFO);
	saved = captured_stderr__begin();
	findings__warn(&findings, FINDING_HINT, "%s", "a\033[2J");
	findings__free(&findings);
	captured_stderr__end(saved, shown, sizeof(shown));
	EXPECT_STREQ("p: warning: a\\x1b[2J\n", shown);
}

TEST_HARNESS_MAIN
