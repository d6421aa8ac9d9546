/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SESSION_COMMAND_PATH_H
#define DENET_SESSION_COMMAND_PATH_H

/*
 * The file that execvp(3) would execute: as it is named, or searched for in PATH. Freed by the
 * caller. NULL: there is none, and *err is a negative errno.
 */
char *command_path__find(const char *command, int *err);

#endif /* DENET_SESSION_COMMAND_PATH_H */
