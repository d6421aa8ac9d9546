/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_COMMAND_NAME_H
#define DENET_COMMAND_NAME_H

#include <stddef.h>

/*
 * How the user calls our commands, for messages that tell one to type: "denet-report" as a rule,
 * "./denet report" where only that program is there. Set once, at the start.
 */
void command_name__set_called(const char *argv0);

/* Room for any path, quoted. */
#define COMMAND_NAME_MAX (4 * 4096 + 64)

/* What to type for that command, such as "report", quoted for a shell. Returns buf. */
char *command_name__of(const char *command, char *buf, size_t size);

#endif /* DENET_COMMAND_NAME_H */
