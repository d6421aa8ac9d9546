/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SESSION_COMMAND_CODE_H
#define DENET_SESSION_COMMAND_CODE_H

/*
 * Maps a page of each file whose code a program begins with: its own, that of its interpreter, and
 * of its libraries, which its dynamic linker is asked for. For the process that is going to exec
 * it, so that it has them already when a recording looks at what its targets have mapped. command
 * is as for execvp(3). What cannot be found is not mapped; takes half a second at most.
 */
void command_code__map(const char *command);

#endif /* DENET_SESSION_COMMAND_CODE_H */
