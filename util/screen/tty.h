/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SCREEN_TTY_H
#define DENET_SCREEN_TTY_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "screen/canvas.h"
#include "screen/keys.h"

/*
 * The terminal that standard input and output are, by way of ncurses, which no file but this and
 * term_type.c knows. Nothing here waits: what the terminal does not take is written later, and
 * until then nothing is drawn. A process has one of these.
 */
struct tty;

/*
 * Takes the terminal over. colours: use them where it has some. On error NULL, and *err is -ENOTTY
 * (standard input or output is no terminal), -ENOTSUP (TERM names none, or one whose cursor cannot
 * be moved) or another negative errno; nothing is logged, and the terminal is as it was.
 */
struct tty *tty__open(bool colours, int *err);

/* Leaves it as it was. Accepts NULL. */
void tty__close(struct tty *tty);

/* What to wait for with poll(2). */
#define TTY_FDS 3
void tty__poll(const struct tty *tty, struct pollfd fds[TTY_FDS]);

/*
 * Does what is to be done after that: goes on with writing, follows another size of the terminal,
 * and stops the process at Ctrl-Z, to go on with its next line. False: the terminal is gone.
 */
bool tty__handle(struct tty *tty, const struct pollfd fds[TTY_FDS]);

/* The next key that was pressed; SCREEN_KEY_NONE: no other. */
int tty__key(struct tty *tty);

/* Draws all of it the next time. */
void tty__redraw(struct tty *tty);

/* The size has changed, or what was drawn is lost: true once after that. */
bool tty__is_stale(struct tty *tty);

/* The size of the terminal, in characters. */
size_t tty__lines(const struct tty *tty);
size_t tty__columns(const struct tty *tty);

/* Whether it shows UTF-8, and whether colours are used. */
bool tty__has_utf8(const struct tty *tty);
bool tty__has_colours(const struct tty *tty);

/* All that was drawn has been taken by the terminal. */
bool tty__is_ready(const struct tty *tty);

/* Shows a canvas of the terminal's size. 0 or a negative errno. */
int tty__show(struct tty *tty, const struct canvas *canvas);

#endif /* DENET_SCREEN_TTY_H */
