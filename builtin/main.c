/* SPDX-License-Identifier: GPL-2.0-only */
/* Picks the command by the name that we were called by, or by the first argument. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/command_name.h"
#include "base/err_out.h"
#include "builtin.h"

/* Limit of the delay at the end by a terminal or a pipe that takes nothing, in ms. */
#define LAST_WORDS_MS 2000

static const struct command {
	const char *name; /* after "denet-" */
	int (*run)(int argc, char **argv);
	const char *what;
} commands[] = {
	{ "check", cmd_check, "tell what works on this machine, and what to do where it does not" },
	{ "offcputime", cmd_offcputime, "sum up off-CPU time by stack, as bcc's offcputime does" },
	{ "record", cmd_record, "record off-CPU time with callchains into a perf.data file" },
	{ "report", cmd_report, "show where the time of a recording went" },
	{ "stat", cmd_stat, "count what threads do: time, system calls, waits" },
	{ "top", cmd_top, "show what every thread is doing now" },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct command *command__find(const char *name)
{
	for (size_t i = 0; i < NR_COMMANDS; i++) {
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	}
	return NULL;
}

static void print_help(FILE *out)
{
	fputs("Usage: denet COMMAND [OPTIONS]\n"
	      "       perf denet COMMAND [OPTIONS]\n"
	      "\nWhere threads lose time off the CPU.\n\nCommands:\n",
	      out);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		fprintf(out, "  %-11s %s\n", commands[i].name, commands[i].what);
	fputs("\n`denet COMMAND --help` lists the options of a command, and each command has a\n"
	      "man page (`man denet-record`).\n",
	      out);
}

/* Gives messages the command's own name, however it was called. */
static int command__run(const struct command *command, int argc, char **argv)
{
	char name[64];
	int status;

	snprintf(name, sizeof(name), "denet-%s", command->name);
	argv[0] = name;
	status = command->run(argc, argv);
	err_out__finish(LAST_WORDS_MS);
	return status;
}

static int run_first_argument(const char *program, int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		print_help(stderr);
		return EXIT_STATUS_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_help(stdout);
		return EXIT_STATUS_OK;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
		printf("denet %s\n", DENET_VERSION);
		return EXIT_STATUS_OK;
	}
	command = command__find(argv[1]);
	if (!command) {
		fprintf(stderr, "%s: '%s' is not a command; `denet --help` lists them\n", program,
			argv[1]);
		return EXIT_STATUS_USAGE;
	}
	return command__run(command, argc - 1, argv + 1);
}

/* perf blocks SIGWINCH before it runs us. Unblocks it for us and for the commands that we start. */
static void unblock_sigwinch(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/*
 * The next file or ring opened would take the number of a closed standard descriptor and receive
 * messages. /dev/null, opened for reading, fills the gap: writes to it fail as before.
 */
static int fill_standard_descriptors(void)
{
	for (;;) {
		int fd = open("/dev/null", O_RDONLY);

		if (fd < 0)
			return -errno;
		if (fd > STDERR_FILENO)
			return close(fd);
	}
}

int main(int argc, char **argv)
{
	const struct command *command = NULL;
	const char *base, *slash;

	if (argc < 1)
		return EXIT_STATUS_USAGE;
	/* Without /dev/null (in a bare chroot) messages have nowhere to go. */
	if (fill_standard_descriptors() && fcntl(STDERR_FILENO, F_GETFD) < 0)
		return EXIT_STATUS_ERROR;
	slash = strrchr(argv[0], '/');
	base = slash ? slash + 1 : argv[0];
	unblock_sigwinch();
	command_name__set_called(argv[0]);
	if (!strncmp(base, "denet-", 6))
		command = command__find(base + 6);
	if (command)
		return command__run(command, argc, argv);
	return run_first_argument(base, argc, argv);
}
