/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUILTIN_H
#define DENET_BUILTIN_H

/*
 * The commands of the multi-call binary. A command parses its options, fills in an
 * options struct, calls util/ and returns an exit status; what it does lives in util/.
 *
 * Adding a command "foo":
 *  1. builtin/foo.c with `int cmd_foo(int argc, char **argv)`; argv[0] is "denet-foo".
 *  2. Its prototype below, and a line in the table of builtin/main.c.
 *  3. "denet-foo" in NAMES of the Makefile, which makes and installs the link.
 *  4. Documentation/denet-foo.txt, the man page; its OPTIONS and those of `-h` are
 *     compared by tests/user/help.bats, which reads the list of commands from main.c.
 *  5. tests/cli/foo.bats (root) and tests/user/ (no root).
 */

/*
 * Exit status of every command. 126 and 127 mean "not found" in the shell (and perf); they are only
 * ever a COMMAND's own status that is passed on.
 */
enum exit_status {
	EXIT_STATUS_OK = 0,
	EXIT_STATUS_ERROR = 1,
	EXIT_STATUS_USAGE = 2,
};

int cmd_check(int argc, char **argv);
int cmd_offcputime(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_top(int argc, char **argv);

#endif /* DENET_BUILTIN_H */
