/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SESSION_SESSION_H
#define DENET_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"
#include "session/run.h"

struct status;

/* Everything around a capture but its samples: the run, the delay, the line on the terminal. */
struct session {
	struct run run;
	struct capture *capture; /* set by session__capture() */
	struct status *status;   /* NULL: no line is shown */
	uint64_t started;        /* CLOCK_MONOTONIC, as the other times */
	uint64_t next_status;
};

/*
 * Begins the run: takes over the signals and forks COMMAND, which is held. The options are borrowed
 * until session__free(), which must follow an error as well. 0 or a negative errno (logged).
 */
int session__init(struct session *session, const struct session_options *options);

/*
 * Makes the capture of these options, with COMMAND as its target if there is no other, and starts
 * it. session->capture is set even if the start failed. 0 or a negative errno (logged).
 */
int session__capture(struct session *session, const struct capture_options *options,
		     const struct capture_sink *sink);

/* Releases COMMAND: the session has started. 0 or a negative errno (logged). */
int session__release(struct session *session);

/*
 * Polls the capture until there is data or something is due: the session's own work, or the
 * caller's at due (ns, CLOCK_MONOTONIC), and for a minute at most. 0 or a negative errno; a signal
 * is no error.
 */
int session__poll(struct session *session, uint64_t due);

/* The reason if it ends; a signal is logged with -v. */
enum session_end session__look_for_end(struct session *session);

/* Begins recording blocks once the delay is over. 0 or a negative errno (logged). */
int session__end_delay(struct session *session, uint64_t now);

/* True if the status line is to be updated; the next update is then due in a second. */
bool session__wants_status(struct session *session, uint64_t now);

/* Erases the status line, to make room for other output on the terminal. */
void session__erase_status(struct session *session);

/* The same, for good. */
void session__delete_status(struct session *session);

/* Frees the capture, and then the run, which waits for COMMAND after a failure. Not the struct. */
void session__free(struct session *session);

#endif /* DENET_SESSION_SESSION_H */
