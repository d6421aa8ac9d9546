/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_SCREEN_H
#define DENET_TOP_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "screen/tty.h"
#include "top/activity.h"
#include "top/columns.h"
#include "top/csv_reader.h"
#include "top/sampler.h"

#define SCREEN_COLUMNS 11 /* to begin with, at most */

struct screen_options {
	enum top_column columns[SCREEN_COLUMNS]; /* to group by at the start */
	size_t nr_columns;
	enum activity_time time; /* that percentiles are of at the start */
	bool colours;
	const char *source; /* of a recording, whose path it is; NULL: this machine */
};

/*
 * The activity on the terminal, which it takes over, and keys. Nothing of it waits: looks go on
 * while the terminal takes nothing.
 */
struct screen;

/* options are borrowed. On error NULL, with a negative errno in *err (logged). */
struct screen *screen__open(const struct screen_options *options, int *err);

/* Leaves the terminal as it was, and prints the messages that came. Accepts NULL. */
void screen__close(struct screen *screen);

/* A pass begins; its threads; it has ended. 0 or -ENOMEM. */
int screen__begin(struct screen *screen, const struct top_pass *pass);
int screen__add(struct screen *screen, const struct thread_sample *sample,
		struct top_names *names);
/* The same of a recording. */
int screen__add_row(struct screen *screen, const struct csv_row *row);
void screen__end(struct screen *screen, const struct top_pass *pass);

/* Whether a recording is still being read: what it has so far is shown, and that it is not all. */
void screen__set_reading(struct screen *screen, bool reading);

/* What to wait for with poll(2), and until when (CLOCK_MONOTONIC; UINT64_MAX: for ever). */
void screen__poll(const struct screen *screen, struct pollfd fds[TTY_FDS]);
uint64_t screen__due(const struct screen *screen);

/* Does what is to be done after that: takes keys, and draws. 0 or a negative errno. */
int screen__work(struct screen *screen, const struct pollfd fds[TTY_FDS]);

/* The user wants the end, or the terminal is gone. */
bool screen__has_quit(const struct screen *screen);

#endif /* DENET_TOP_SCREEN_H */
