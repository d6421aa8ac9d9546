/* SPDX-License-Identifier: GPL-2.0-only */
/* A command that does not exist shares the tables of options, but wants four letters itself. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/harness.h"

#include "builtin/options/common.h"
#include "builtin/options/filter.h"
#include "builtin/options/stack.h"
#include "builtin/options/target.h"
#include "builtin/options/values.h"

struct own_options {
	bool user_only;
	bool kernel_only;
	bool folded;
	uint64_t min_ns;
	const char *argument;
};

static const struct option_row own_rows[] = {
	{ "user-only", 'u', .text = "User stacks", OPTION_TRUE(struct own_options, user_only) },
	{ "kernel-only", 'k', .text = "Kernel stacks",
	  OPTION_TRUE(struct own_options, kernel_only) },
	{ "folded", 'f', .text = "Folded", OPTION_TRUE(struct own_options, folded) },
	{ "min-time", 'm', .arg = "TIME", .text = "Least time",
	  OPTION_TIME(struct own_options, min_ns) },
};

static const struct option_table own_table = { .group = 1, OPTION_ROWS(own_rows) };

static const struct option_letter own_letters[] = {
	{ "uid", 0 },		    /* -u is --user-only */
	{ "mmap-pages", 0 },	    /* -m is --min-time */
	{ "delay", 0 },		    /* nobody's */
	{ "user-callchains", 'U' }, /* that had none */
	{ NULL, 0 },
};

FIXTURE(table)
{
	struct own_options own;
	struct target_options target;
	struct filter_options filter;
	struct capture_options capture;
	struct common_options common;
	struct option_use uses[8];
	struct option_command command;
	char said[4096]; /* by a child that died of its options */
};

FIXTURE_SETUP(table)
{
	const struct option_use uses[] = {
		{ &own_table, &self->own },
		{ &target_table, &self->target },
		{ &target_detail_table, &self->target },
		{ &filter_table, &self->filter },
		{ &stack_table, &self->capture.stacks },
		{ &ring_table, &self->common },
		{ &common_table, &self->common },
		{ &help_table, &self->common },
	};

	capture_options__init(&self->capture);
	self->filter.capture = self->capture.filter;
	memcpy(self->uses, uses, sizeof(uses));
	self->command = (struct option_command){
		.uses = self->uses,
		.nr_uses = sizeof(uses) / sizeof(uses[0]),
		.letters = own_letters,
		.arguments = "[COMMAND]",
	};
}

FIXTURE_TEARDOWN(table)
{
	target_options__free(&self->target);
	filter_options__free(&self->filter);
}

/* Parses a line of words apart by blanks; the words live as long as the line. */
static int parse(const struct option_command *command, char *line)
{
	char *argv[32] = { (char *)"denet-made-up" };
	int argc = 1;

	for (char *word; argc < 31 && (word = strsep(&line, " "));)
		argv[argc++] = word;
	return options__parse(command, argc, argv);
}

/* The same in a child, which a usage error or -h ends; what it said is kept. Its status. */
static int parse_in_child(FIXTURE_DATA(table) *self, const char *text)
{
	size_t size = 0;
	ssize_t got;
	int fds[2], status;
	char *line;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid) {
		dup2(fds[1], STDOUT_FILENO);
		dup2(fds[1], STDERR_FILENO);
		line = strdup(text);
		exit(line && !parse(&self->command, line) ? 0 : 99);
	}
	close(fds[1]);
	while ((got = read(fds[0], self->said + size, sizeof(self->said) - 1 - size)) > 0)
		size += (size_t)got;
	self->said[size] = '\0';
	close(fds[0]);
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(table, a_letter_that_the_command_took_sets_its_own_field)
{
	char line[] = "-u -k -f -m 5ms";

	ASSERT_EQ(0, parse(&self->command, line));
	EXPECT_TRUE(self->own.user_only);
	EXPECT_TRUE(self->own.kernel_only);
	EXPECT_TRUE(self->own.folded);
	EXPECT_EQ(5000000, self->own.min_ns);
	EXPECT_EQ(NULL, self->target.users);
	EXPECT_EQ(0, self->common.ring_pages);
}

TEST_F(table, an_option_that_lost_its_letter_has_its_long_name)
{
	char line[] = "--uid root --uid 7 --mmap-pages 8 --delay 20 -p 42,7 --state D -v -v";

	ASSERT_EQ(0, parse(&self->command, line));
	EXPECT_STREQ("root,7", self->target.users);
	EXPECT_EQ(8, self->common.ring_pages);
	EXPECT_EQ(20000000, self->target.delay_ns);
	ASSERT_EQ(2, self->target.pids.nr);
	EXPECT_EQ(7, self->target.pids.ids[0]);
	EXPECT_EQ(capture__state_bit('D'), self->filter.states);
	EXPECT_EQ(2, self->common.verbose);
	EXPECT_FALSE(self->own.user_only);
}

TEST_F(table, a_letter_that_was_given_to_an_option_is_one)
{
	char line[] = "-U --max-stack 3";

	ASSERT_EQ(0, parse(&self->command, line));
	EXPECT_FALSE(self->capture.stacks.kernel);
	EXPECT_TRUE(self->capture.stacks.user);
	EXPECT_EQ(3, self->capture.stacks.max_frames);
}

TEST_F(table, a_letter_that_was_dropped_is_none)
{
	EXPECT_EQ(2, parse_in_child(self, "-D 20"));
	EXPECT_NE(NULL, strstr(self->said, "invalid option -- 'D'"));
	self->command.letters = NULL;
	self->command.uses = self->uses + 1;
	self->command.nr_uses--;
	EXPECT_EQ(0, parse_in_child(self, "-D 20 -u root -m 8"));
}

TEST_F(table, an_error_names_the_option_as_this_command_has_it)
{
	EXPECT_EQ(2, parse_in_child(self, "--delay soon"));
	EXPECT_NE(NULL, strstr(self->said, "denet-made-up: --delay soon: not a time"));
	EXPECT_EQ(2, parse_in_child(self, "--pid soon"));
	EXPECT_NE(NULL, strstr(self->said, "denet-made-up: -p soon: not a list"));
	EXPECT_EQ(2, parse_in_child(self, "-a -p 1"));
	EXPECT_NE(NULL, strstr(self->said, "-a and -p exclude each other"));
	EXPECT_EQ(2, parse_in_child(self, "-U --kernel-callchains"));
	EXPECT_NE(NULL, strstr(self->said, "--kernel-callchains and -U exclude each other"));
}

TEST_F(table, help_lists_the_options_as_this_command_has_them)
{
	EXPECT_EQ(0, parse_in_child(self, "-h"));
	EXPECT_NE(NULL, strstr(self->said, "\n  -u, --user-only "));
	EXPECT_NE(NULL, strstr(self->said, "\n      --uid=USER,..."));
	EXPECT_NE(NULL, strstr(self->said, "\n  -U, --user-callchains "));
	EXPECT_NE(NULL, strstr(self->said, "\n      --mmap-pages=PAGES "));
}

TEST_F(table, two_options_of_one_letter_or_name_clash)
{
	const struct option_letter unknown[] = { { "no-such-option", 'z' }, { NULL, 0 } };

	EXPECT_EQ(NULL, option_command__clash(&self->command));
	self->command.letters = NULL;
	EXPECT_STREQ("uid", option_command__clash(&self->command));
	EXPECT_EQ(99, parse_in_child(self, "-a"));
	self->command.letters = unknown;
	self->command.uses = self->uses + 1;
	self->command.nr_uses--;
	EXPECT_STREQ("no-such-option", option_command__clash(&self->command));
	self->command.letters = NULL;
	EXPECT_EQ(NULL, option_command__clash(&self->command));
	self->uses[7] = self->uses[5];
	EXPECT_STREQ("mmap-pages", option_command__clash(&self->command));
}

TEST_F(table, what_ends_the_options_is_no_value)
{
	EXPECT_EQ(2, parse_in_child(self, "-G -- sleep 5"));
	EXPECT_NE(NULL, strstr(self->said, "-G: the value is missing"));
}

TEST_F(table, the_command_and_its_options_are_left_alone)
{
	char line[] = "-f -- sleep -a 5";

	ASSERT_EQ(0, parse(&self->command, line));
	ASSERT_NE(NULL, self->target.command);
	EXPECT_STREQ("sleep", self->target.command[0]);
	EXPECT_STREQ("-a", self->target.command[1]);
	EXPECT_STREQ("5", self->target.command[2]);
	EXPECT_EQ(NULL, self->target.command[3]);
	EXPECT_FALSE(self->target.capture.all);
}

static void take_argument(const struct option_value *value, void *values)
{
	struct own_options *own = values;

	if (own->argument)
		option_value__error(value, "one is enough");
	own->argument = value->text;
}

TEST_F(table, an_argument_may_stand_before_options_and_the_command)
{
	struct option_table own = own_table;
	char line[] = "5 -f -- sleep 7";

	own.argument = take_argument;
	self->uses[0].table = &own;
	ASSERT_EQ(0, parse(&self->command, line));
	EXPECT_STREQ("5", self->own.argument);
	EXPECT_TRUE(self->own.folded);
	ASSERT_NE(NULL, self->target.command);
	EXPECT_STREQ("sleep", self->target.command[0]);
	EXPECT_STREQ("7", self->target.command[1]);
	EXPECT_EQ(NULL, self->target.command[2]);
	self->own.argument = NULL;
	EXPECT_EQ(2, parse_in_child(self, "5 6"));
	EXPECT_NE(NULL, strstr(self->said, "argument 6: one is enough"));
}

static const char *seen_of_samples;

static void see_of_samples(const struct options *options, const void *ctx)
{
	(void)ctx;
	seen_of_samples = options__of_samples(options);
}

TEST_F(table, the_check_of_the_command_knows_which_option_is_of_samples)
{
	char none[] = "-a --state S", some[] = "-a --user-callchains --max-stack 2";

	self->command.check = see_of_samples;
	ASSERT_EQ(0, parse(&self->command, none));
	EXPECT_EQ(NULL, seen_of_samples);
	ASSERT_EQ(0, parse(&self->command, some));
	EXPECT_STREQ("user-callchains", seen_of_samples);
}

TEST_HARNESS_MAIN
