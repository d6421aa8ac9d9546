/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SESSION_SESSION_H
#define DENET_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"

struct signals;
struct status;
struct workload;

/* What ends a run. */
enum session_end {
	SESSION_GOES_ON = 0,
	SESSION_COMMAND_ENDED,
	SESSION_TARGETS_ENDED,
	SESSION_SIGNAL,
	SESSION_FULL, /* a limit of its caller's */
};

struct run_options {
	const struct capture_options *capture; /* no target and not all: COMMAND is the target */
	char *const *command;                  /* NULL-terminated; NULL: none */
	bool stdout_to_stderr;                 /* of COMMAND: our stdout is the recording's */
	uint64_t delay_ns;                     /* COMMAND runs for so long before blocks count */
	bool quiet;
	const char *name; /* what users read that it is: "recording" */
};

/*
 * What is around a capture, whatever becomes of its samples: signals, COMMAND, the delay, the line
 * on the terminal, and the end.
 */
struct session {
	struct run_options options;
	struct signals *signals;
	struct workload *workload; /* NULL: there is no COMMAND */
	struct capture *capture;   /* set by session__capture() */
	struct status *status;     /* NULL: no line is shown */
	uint64_t started;          /* CLOCK_MONOTONIC, as the other times */
	uint64_t begin;            /* when the delay is over; 0: it is, or there is none */
	uint64_t next_status;
	bool terminated; /* COMMAND has been told to end */
};

/*
 * Takes over the signals and makes COMMAND, which is held. What the options point to is borrowed
 * until session__free(), which must follow an error as well. 0 or a negative errno (logged).
 */
int session__init(struct session *run, const struct run_options *options);

/*
 * Makes the capture of these options, with COMMAND for its target where it is that, and starts it.
 * run->capture is there even if it could not be started. 0 or a negative errno (logged).
 */
int session__capture(struct session *run, const struct capture_options *options,
		 const struct capture_sink *sink);

/* Lets COMMAND go: the run has started. 0 or a negative errno (logged). */
int session__release(struct session *run);

/*
 * Polls the capture until something is there or due: the run's own, or the caller's at due (ns,
 * CLOCK_MONOTONIC), and for a minute at most. 0 or a negative errno; a signal is no error.
 */
int session__poll(struct session *run, uint64_t due);

/* Why it ends, if it does; a signal is said with -v. */
enum session_end session__look_for_end(struct session *run);

/* Blocks are recorded once the delay is over. 0 or a negative errno (logged). */
int session__end_delay(struct session *run, uint64_t now);

/* Whether the line on the terminal is to be shown anew; the next one is then due in a second. */
bool session__wants_status(struct session *run, uint64_t now);

/* Erases that line: it is not shown again. */
void session__delete_status(struct session *run);

/* It has ended: from here on the next signal ends the process, and COMMAND with it. */
void session__finish(struct session *run);

/* Has COMMAND end, if there is one that has not. */
void session__terminate(struct session *run);

/* If COMMAND ended the run: 0, or the negative errno of an exec that failed (logged). */
int session__exec_error(const struct session *run, enum session_end end);

/* What the process should exit with: the status of COMMAND where that counts, else 0. */
int session__final_status(struct session *run, enum session_end end);

/*
 * Frees what the session owns, not the session. A COMMAND that nobody told to end is waited for: a
 * recording that fails does not take it along.
 */
void session__free(struct session *run);

#endif /* DENET_SESSION_SESSION_H */
