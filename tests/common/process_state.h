/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TESTS_PROCESS_STATE_H
#define DENET_TESTS_PROCESS_STATE_H

#include <sys/types.h>

/* The state of a process as in /proc/PID/stat, such as 'S'; '?': there is no such process. */
char process_state__of(pid_t pid);

#endif /* DENET_TESTS_PROCESS_STATE_H */
