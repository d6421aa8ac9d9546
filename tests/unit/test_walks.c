/* SPDX-License-Identifier: GPL-2.0-only */
/* What is said of user chains that are not whole: of whom, for how long, why and what helps. */
#include "common/captured_stderr.h"
#include "common/harness.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"
#include "callchain/chain_stats.h"
#include "capture/capture.h"
#include "session/findings.h"
#include "session/walks.h"

#define MS NSEC_PER_MSEC

static char shown[16384];

/* Chains of a program: so much of its time is broken, for one reason. */
static void add(struct chain_stats *chains, const char *comm, uint64_t broken_ms, uint64_t ms,
		enum chain_end end)
{
	chain_stats__add(chains, comm, 42, end, broken_ms * MS);
	chain_stats__add(chains, comm, 42, CHAIN_WHOLE, (ms - broken_ms) * MS);
}

/* What walks__find() leaves on standard error. */
static void find(const struct walks *walks, enum log_level level)
{
	struct findings findings = { 0 };
	int saved;

	log__init("p", level);
	saved = captured_stderr__begin();
	walks__find(walks, &findings);
	findings__free(&findings);
	captured_stderr__end(saved, shown, sizeof(shown));
}

TEST(a_line_names_programs_with_the_share_of_their_time_the_reason_and_what_helps)
{
	struct chain_stats chains = { 0 };
	const struct walks walks = { .chains = &chains, .by_tables = true };
	char line[512];

	EXPECT_STREQ("", walks__format(&walks, line, sizeof(line)));
	add(&chains, "whole", 0, 5000, CHAIN_WHOLE);
	EXPECT_STREQ("", walks__format(&walks, line, sizeof(line)));
	add(&chains, "norule", 600, 612, CHAIN_NO_RULE);
	EXPECT_STREQ("[ user stacks not whole: norule (pid 42) in 98 % of its 612.000 ms, a rule "
		     "that is not supported (denet-record --call-graph dwarf unwinds it) ]",
		     walks__format(&walks, line, sizeof(line)));
	add(&chains, "late", 100, 1000, CHAIN_NO_TABLE);
	chain_stats__add(&chains, "late", 43, CHAIN_UNREADABLE, 100);
	EXPECT_STREQ("[ user stacks not whole: norule (pid 42) in 98 % of its 612.000 ms, a rule "
		     "that is not supported (denet-record --call-graph dwarf unwinds it); late "
		     "(2 processes) in 10 % of its 1.000 s, no unwind table ]",
		     walks__format(&walks, line, sizeof(line)));
}

TEST(a_line_names_three_programs_and_each_remedy_once)
{
	struct chain_stats chains = { 0 };
	const struct walks walks = { .chains = &chains, .by_tables = true };
	char line[512];

	add(&chains, "c", 300, 3000, CHAIN_NO_CFI);
	add(&chains, "a", 500, 5000, CHAIN_NO_CFI);
	add(&chains, "d", 200, 2000, CHAIN_NO_CFI);
	add(&chains, "b\n", 400, 4000, CHAIN_BUSY);
	EXPECT_STREQ("[ user stacks not whole: a (pid 42) in 10 % of its 5.000 s, no call frame "
		     "information (build it with -fno-omit-frame-pointer); b\\x0a (pid 42) in "
		     "10 % of its 4.000 s, mappings being changed; c (pid 42) in 10 % of its "
		     "3.000 s, no call frame information; 1 more: -v ]",
		     walks__format(&walks, line, sizeof(line)));
	/* Of a short buffer no byte too many is used. */
	EXPECT_EQ(15, strlen(walks__format(&walks, line, 16)));
}

TEST(of_files_that_may_not_be_opened_the_missing_capability_is_named)
{
	struct chain_stats chains = { 0 };
	struct walks walks = { .chains = &chains, .by_tables = true };
	char line[512];

	add(&chains, "a", 300, 900, CHAIN_FORBIDDEN);
	EXPECT_STREQ("[ user stacks not whole: a (pid 42) in 33 % of its 900.000 ms, its files may "
		     "not be opened ]",
		     walks__format(&walks, line, sizeof(line)));
	snprintf(walks.missing_rights, sizeof(walks.missing_rights), "CAP_SYS_PTRACE");
	EXPECT_STREQ("[ user stacks not whole: a (pid 42) in 33 % of its 900.000 ms, its files may "
		     "not be opened (CAP_SYS_PTRACE) ]",
		     walks__format(&walks, line, sizeof(line)));
	add(&chains, "a", 1000, 1000, CHAIN_FORBIDDEN);
	find(&walks, LOG_INFO);
	EXPECT_NE(NULL, strstr(shown, "lead no further: its files may not be opened; "
				      "CAP_SYS_PTRACE\n"));
}

TEST(what_is_little_is_not_said)
{
	struct chain_stats own = { 0 }, all = { 0 }, brief = { 0 };
	struct walks walks = { .by_tables = true };
	char line[512];

	/* Of its own time, of all time, and as it is. */
	add(&own, "a", 199, 20000, CHAIN_NO_CFI);
	add(&all, "a", 199, 400, CHAIN_NO_CFI);
	add(&all, "b", 0, 199601, CHAIN_WHOLE);
	add(&brief, "a", 99, 99, CHAIN_NO_CFI);
	walks.chains = &own;
	EXPECT_STREQ("", walks__format(&walks, line, sizeof(line)));
	walks.chains = &all;
	EXPECT_STREQ("", walks__format(&walks, line, sizeof(line)));
	walks.chains = &brief;
	EXPECT_STREQ("", walks__format(&walks, line, sizeof(line)));
	/* A little more of each. */
	add(&own, "a", 2, 2, CHAIN_NO_CFI);
	add(&all, "a", 2, 2, CHAIN_NO_CFI);
	add(&brief, "a", 2, 2, CHAIN_NO_CFI);
	EXPECT_STRNE("", walks__format(&walks, line, sizeof(line)));
	walks.chains = &all;
	EXPECT_STRNE("", walks__format(&walks, line, sizeof(line)));
	walks.chains = &own;
	EXPECT_STRNE("", walks__format(&walks, line, sizeof(line)));
	/* Whoever asks for frame pointers knows. */
	walks.by_tables = false;
	EXPECT_STREQ("", walks__format(&walks, line, sizeof(line)));
}

TEST(the_worst_is_warned_of_and_not_said_twice)
{
	struct chain_stats chains = { 0 };
	const struct walks walks = { .chains = &chains, .by_tables = true };

	add(&chains, "worst", 999, 1000, CHAIN_NO_CFI);
	find(&walks, LOG_INFO);
	EXPECT_STREQ("[ user stacks not whole: worst (pid 42) in 100 % of its 1.000 s, no call "
		     "frame information (build it with -fno-omit-frame-pointer) ]\n",
		     shown);
	add(&chains, "worst", 501, 1000, CHAIN_NO_CFI);
	find(&walks, LOG_INFO);
	EXPECT_STREQ("p: warning: user stacks of worst (pid 42) end early in 75 % of its 2.000 s, "
		     "where unwind tables lead no further: no call frame information; build it "
		     "with -fno-omit-frame-pointer\n",
		     shown);
	add(&chains, "other", 100, 1000, CHAIN_NO_TABLE);
	find(&walks, LOG_INFO);
	EXPECT_NE(NULL, strstr(shown, "\n[ user stacks not whole: other (pid 42) in 10 % of its "
				      "1.000 s, no unwind table ]\n"));
	find(&walks, LOG_WARNING);
	EXPECT_NE(NULL, strstr(shown, "user stacks of worst"));
	EXPECT_EQ(NULL, strstr(shown, "other"));
}

TEST(along_frame_pointers_only_the_worst_is_said_and_what_unwinds_it)
{
	struct chain_stats chains = { 0 };
	struct walks walks = { .chains = &chains, .fp_asked_for = true };

	add(&chains, "a", 1500, 2000, CHAIN_NO_POINTERS);
	add(&chains, "b", 500, 2000, CHAIN_NO_POINTERS);
	find(&walks, LOG_INFO);
	EXPECT_STREQ("p: warning: user stacks of a (pid 42) end early in 75 % of its 2.000 s, in "
		     "code without frame pointers; --call-graph auto unwinds it\n",
		     shown);
	walks.fp_asked_for = false;
	find(&walks, LOG_INFO);
	EXPECT_STREQ("p: warning: user stacks of a (pid 42) end early in 75 % of its 2.000 s, in "
		     "code without frame pointers; denet-record --call-graph dwarf unwinds it\n",
		     shown);
	walks.chains = NULL;
	find(&walks, LOG_INFO);
	EXPECT_STREQ("", shown);
}

TEST(verbose_lines_tell_which_walks_there_were_and_the_reasons_of_each_program)
{
	const struct capture_stats stats = {
		.orc_walks = 12,
		.orc_fallbacks = 3,
		.user_walks = { [USER_WALK_WHOLE] = { 7, 90 * MS },
				[USER_WALK_NO_RULE] = { 2, 10 * MS } },
	};
	struct chain_stats chains = { 0 };
	const struct walks walks = { .stats = &stats, .chains = &chains, .by_tables = true };
	int saved;

	add(&chains, "whole", 0, 50, CHAIN_WHOLE);
	add(&chains, "a", 2, 50, CHAIN_NO_RULE);
	add(&chains, "b", 4, 50, CHAIN_UNREADABLE);
	add(&chains, "b", 1, 1, CHAIN_NO_TABLE);
	log__init("p", LOG_VERBOSE);
	saved = captured_stderr__begin();
	walks__print(&walks);
	captured_stderr__end(saved, shown, sizeof(shown));
	EXPECT_STREQ("p: kernel stacks: 12 walked by ORC tables, 3 left to the kernel's own walk\n"
		     "p: user stacks by unwind tables: 7 whole, 0 deeper than the limit, 0 met a "
		     "missing table (0 ns of 100.000 ms: 0.000 %), 0 without call frame "
		     "information, 0 with unreadable memory, 2 with an unsupported rule, 0 while "
		     "mappings changed, 0 in files that may not be opened\n"
		     "p: user stacks that are not whole, by program:\n"
		     "p:   b (pid 42): 5.000 ms of 51.000 ms: no unwind table 1.000 ms, "
		     "unreadable stack 4.000 ms\n"
		     "p:   a (pid 42): 2.000 ms of 50.000 ms: a rule that is not supported "
		     "2.000 ms\n",
		     shown);
}

TEST(verbose_lines_name_as_many_programs_as_there_is_room_for_and_add_up_the_rest)
{
	const struct capture_stats stats = { .windows = 1 };
	struct chain_stats chains = { 0 };
	const struct walks walks = { .stats = &stats, .chains = &chains };
	char comm[16];
	int saved;

	for (int i = 0; i < CHAIN_STATS_NAMES + 2; i++) {
		snprintf(comm, sizeof(comm), "n%d", i);
		add(&chains, comm, 1, 2, CHAIN_NO_POINTERS);
	}
	log__init("p", LOG_VERBOSE);
	saved = captured_stderr__begin();
	walks__print(&walks);
	captured_stderr__end(saved, shown, sizeof(shown));
	EXPECT_EQ(NULL, strstr(shown, "kernel stacks"));
	EXPECT_NE(NULL, strstr(shown, "p:   n0 (pid 42): 1.000 ms of 2.000 ms: no frame pointers "
				      "1.000 ms\n"));
	EXPECT_NE(NULL, strstr(shown, "p:   further names (pid 42): 2.000 ms of 4.000 ms: no frame "
				      "pointers 2.000 ms\n"));
}

TEST_HARNESS_MAIN
