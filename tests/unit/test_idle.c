/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of waits for work: its lines, and what it matches. */
#include "capture/idle.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/units.h"
#include "common/harness.h"

#define CONDVAR_WAIT (FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME)

FIXTURE(idle)
{
	struct idle_table table;
	struct sample sample;
	struct reason reason;
	size_t line;
	const char *why;
};

FIXTURE_SETUP(idle)
{
	ASSERT_EQ(0, idle_table__init(&self->table));
	self->sample = (struct sample){ .state = 'S', .period = 1, .count = 1,
					.measured = NSEC_PER_SEC };
	self->reason = (struct reason){ .nr = 1, .call = "" };
	self->line = 99;
	self->why = "";
}

FIXTURE_TEARDOWN(idle)
{
	idle_table__free(&self->table);
}

static bool knows(const char *name)
{
	static const char *const calls[] = { "read", "nanosleep", "futex", "epoll_wait", "accept" };

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (!strcmp(name, calls[i]))
			return true;
	}
	return false;
}

static int parse(FIXTURE_DATA(idle) * self, const char *text)
{
	return idle_table__parse(&self->table, text, strlen(text), knows, &self->line, &self->why);
}

static bool matches(FIXTURE_DATA(idle) * self, const char *call, const char *leaf)
{
	self->reason.call = call;
	self->reason.futex = !strcmp(call, "futex");
	return idle_table__match(&self->table, &self->sample, &self->reason, leaf);
}

TEST_F(idle, a_short_wait_for_a_signal_is_a_pause_of_a_collector_and_a_short_accept_is_idle)
{
	self->sample.measured = 99 * NSEC_PER_MSEC;
	EXPECT_FALSE(matches(self, "rt_sigsuspend", NULL));
	EXPECT_TRUE(matches(self, "accept", NULL));
	self->sample.measured = 100 * NSEC_PER_MSEC;
	EXPECT_TRUE(matches(self, "rt_sigsuspend", NULL));
	/* Of a sum, its mean. */
	self->sample.count = 2;
	EXPECT_FALSE(matches(self, "rt_sigsuspend", NULL));
	/* A rule with a call alone matches by the name of the call. */
	EXPECT_EQ(0, parse(self, "read\n"));
	EXPECT_TRUE(matches(self, "read", NULL));
}

TEST_F(idle, what_the_process_itself_ends_is_no_wait_for_work_unless_the_user_says_so)
{
	self->sample.handed_over = true;
	EXPECT_FALSE(matches(self, "accept", NULL));
	EXPECT_FALSE(matches(self, "pause", NULL));
	EXPECT_FALSE(idle_table__has_whole_call(&self->table, "accept", true));
	EXPECT_TRUE(idle_table__has_whole_call(&self->table, "accept", false));
	EXPECT_EQ(0, parse(self, "accept\n"));
	EXPECT_TRUE(idle_table__has_whole_call(&self->table, "accept", true));
	EXPECT_TRUE(matches(self, "accept", NULL));
}

TEST_F(idle, the_built_in_table_has_waits_for_work_and_no_others)
{
	EXPECT_TRUE(matches(self, "accept", NULL));
	EXPECT_TRUE(matches(self, "accept4", "inet_csk_accept"));
	EXPECT_TRUE(matches(self, "rt_sigtimedwait", NULL));
	EXPECT_TRUE(matches(self, "read", "n_tty_read"));
	EXPECT_FALSE(matches(self, "read", "pipe_read"));
	EXPECT_FALSE(matches(self, "read", NULL));
	EXPECT_FALSE(matches(self, "clock_nanosleep", "do_nanosleep"));
	EXPECT_FALSE(matches(self, "", NULL));
}

/* Each of these may be a wait for a lock, or for an answer. */
TEST_F(idle, what_may_be_a_wait_for_a_lock_is_in_no_rule)
{
	static const char *const calls[] = {
		"futex", "epoll_wait", "epoll_pwait", "poll", "select", "io_uring_enter",
		"semtimedop", "flock", "wait4", "recvfrom", "msgrcv",
	};

	self->reason.args[1] = CONDVAR_WAIT;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		EXPECT_FALSE(matches(self, calls[i], NULL))
		TH_LOG("%s", calls[i]);
	}
}

TEST_F(idle, a_lock_of_the_kernel_a_disk_and_a_page_fault_are_no_waits_for_work)
{
	EXPECT_FALSE(matches(self, "accept", "__mutex_lock.constprop.0"));
	EXPECT_FALSE(matches(self, "accept", "rwsem_down_read_slowpath"));
	self->sample.state = 'D';
	EXPECT_FALSE(matches(self, "accept", "inet_csk_accept"));
	self->sample.state = 'S';
	self->reason.fault = true;
	EXPECT_FALSE(matches(self, "accept", "inet_csk_accept"));
}

TEST_F(idle, a_kernel_thread_waits_for_work_in_the_state_for_that_or_where_it_begins)
{
	self->sample.kthread = true;
	EXPECT_TRUE(matches(self, "", "smpboot_thread_fn"));
	EXPECT_FALSE(matches(self, "", "jbd2_log_wait_commit"));
	EXPECT_FALSE(matches(self, "accept", NULL));
	self->sample.state = 'I';
	EXPECT_TRUE(matches(self, "", NULL));
	self->sample.kthread = false;
	EXPECT_FALSE(matches(self, "", "smpboot_thread_fn"));
}

/* Each rule has a line there, in the same order. */
TEST_F(idle, the_man_page_prints_the_table)
{
	FILE *page = fopen("Documentation/denet-record.txt", "re");
	char line[256], call[64], leaf[64];
	const struct idle_rule *rules;
	size_t nr, at = 0;
	bool in_table = false;

	if (!page)
		SKIP(return, "not run at the top of the tree");
	rules = idle_table__built_in(&nr);
	while (fgets(line, sizeof(line), page)) {
		if (!strncmp(line, "\tSYSTEM CALL ", 13)) {
			in_table = true;
			continue;
		}
		if (!in_table)
			continue;
		if (sscanf(line, "\t%63s %63s", call, leaf) != 2)
			break;
		ASSERT_LT(at, nr);
		EXPECT_STREQ(rules[at].call, call);
		EXPECT_STREQ(*rules[at].leaf ? rules[at].leaf : "any", leaf);
		at++;
	}
	EXPECT_EQ(nr, at);
	fclose(page);
}

TEST_F(idle, a_futex_is_idle_only_where_it_waits_as_a_condition_variable_does)
{
	ASSERT_EQ(0, parse(self, "futex_condvar\n"));
	self->reason.args[1] = CONDVAR_WAIT;
	EXPECT_TRUE(matches(self, "futex", "futex_wait_queue"));
	self->reason.args[1] = FUTEX_WAIT | FUTEX_PRIVATE_FLAG;
	EXPECT_FALSE(matches(self, "futex", "futex_wait_queue"));
	self->reason.args[1] = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG;
	EXPECT_FALSE(matches(self, "futex", "futex_wait_queue"));
	ASSERT_EQ(0, parse(self, "futex\n"));
	EXPECT_TRUE(matches(self, "futex", "futex_wait_queue"));
}

TEST_F(idle, lines_add_rules_and_comments_and_blanks_do_not)
{
	ASSERT_EQ(0, parse(self, "# mine\n\n \t\nread pipe_read # only pipes\nnanosleep"));
	EXPECT_EQ(5, self->line);
	EXPECT_TRUE(matches(self, "read", "pipe_read"));
	EXPECT_TRUE(matches(self, "read", "pipe_read.part.0"));
	EXPECT_FALSE(matches(self, "read", "pipe_readable"));
	EXPECT_FALSE(matches(self, "read", "unix_stream_read_generic"));
	EXPECT_FALSE(matches(self, "read", NULL));
	EXPECT_TRUE(matches(self, "nanosleep", "do_nanosleep"));
}

TEST_F(idle, a_minus_takes_a_call_out)
{
	ASSERT_EQ(0, parse(self, "-accept\n"));
	EXPECT_FALSE(matches(self, "accept", "inet_csk_accept"));
	EXPECT_TRUE(matches(self, "accept4", "inet_csk_accept"));
}

TEST_F(idle, a_bad_line_is_refused_with_its_number)
{
	static const struct {
		const char *text;
		size_t line;
	} bad[] = {
		{ "read\nfoo\n", 2 },	      { "read a b\n", 1 },  { "\n\nre(ad)\n", 3 },
		{ "read pipe-read\n", 1 },    { "-\n", 1 },	    { "-read pipe_read\n", 1 },
		{ "read\n#\nread \x01\n", 3 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT_EQ(-EINVAL, parse(self, bad[i].text))
		TH_LOG("%s", bad[i].text);
		EXPECT_EQ(bad[i].line, self->line);
		EXPECT_LT(0, strlen(self->why));
	}
}

TEST_F(idle, names_of_63_letters_are_taken_and_of_64_are_not)
{
	char text[80] = "read ";

	memset(text + 5, 'x', 63);
	EXPECT_EQ(0, parse(self, text));
	text[5 + 63] = 'x';
	EXPECT_EQ(-EINVAL, parse(self, text));
}

TEST_F(idle, a_file_is_read_and_its_absence_is_an_error)
{
	char path[] = "/tmp/denet-idle-XXXXXX";
	int fd = mkstemp(path);

	ASSERT_LE(0, fd);
	ASSERT_EQ(10, write(fd, "read\nwrite", 10));
	EXPECT_EQ(0, idle_table__read(&self->table, path));
	EXPECT_TRUE(matches(self, "write", NULL));
	close(fd);
	unlink(path);
	EXPECT_EQ(-ENOENT, idle_table__read(&self->table, path));
}

TEST_HARNESS_MAIN
