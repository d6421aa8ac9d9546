/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SCREEN_TERM_GUARD_H
#define DENET_SCREEN_TERM_GUARD_H

#include <stddef.h>
#include <termios.h>

/*
 * Leaves a terminal as it was when this process crashes: handlers of the signals that a crash ends
 * in write bytes that were prepared, set the modes, and raise the signal again. A process has one
 * of these.
 */

/* Room for the bytes. */
#define TERM_GUARD_BYTES 512

/* Whose descriptor, modes and bytes, which are copied. 0 or a negative errno. */
int term_guard__arm(int fd, const struct termios *modes, const void *bytes, size_t size);

/* The terminal is as it was. */
void term_guard__disarm(void);

#endif /* DENET_SCREEN_TERM_GUARD_H */
