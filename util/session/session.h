/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SESSION_SESSION_H
#define DENET_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"

struct signals;
struct status;
struct workload;

/* The reason why a session ends. */
enum session_end {
	SESSION_GOES_ON = 0,
	SESSION_COMMAND_ENDED,
	SESSION_TARGETS_ENDED,
	SESSION_SIGNAL,
	SESSION_FULL, /* a limit of its caller's */
};

struct session_options {
	struct capture_options capture; /* no target and not all: COMMAND is the target */
	char *const *command;           /* NULL-terminated; NULL: none */
	bool stdout_to_stderr;          /* of COMMAND: our stdout is not for its output */
	uint64_t delay_ns;              /* COMMAND runs for so long before recording begins */
	const char *noun;               /* what is made, for messages: "recording" */
	const char *done;               /* the verb of it: "recorded" */
	bool quiet;
	unsigned int patience; /* so many SIGINT are ignored once the session has ended */
};

/*
 * Everything around a capture but its samples: signals, COMMAND, the delay, the line on the
 * terminal, and the end.
 */
struct session {
	const struct session_options *options; /* borrowed */
	struct signals *signals;
	struct workload *workload; /* NULL: there is no COMMAND */
	struct capture *capture;   /* set by session__capture() */
	struct status *status;     /* NULL: no line is shown */
	uint64_t started;          /* CLOCK_MONOTONIC, as the other times */
	uint64_t begin;            /* end of the delay; 0: it is over, or there is none */
	uint64_t next_status;
	bool terminated; /* COMMAND has got a signal to end */
};

/*
 * Takes over the signals and forks COMMAND, which is held. The options are borrowed until
 * session__free(), which must follow an error as well. 0 or a negative errno (logged).
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

/* Called at the end: from here on the next signal ends the process, and COMMAND with it. */
void session__finish(struct session *session);

/* Sends COMMAND a signal to end, if it has not ended. */
void session__terminate(struct session *session);

/* If COMMAND ended the session: 0, or the negative errno of an exec that failed (logged). */
int session__exec_error(const struct session *session, enum session_end end);

/* The process's exit status: that of COMMAND where that counts, else 0. */
int session__final_status(struct session *session, enum session_end end);

/*
 * Frees what the session owns, not the struct. Waits for a COMMAND that has not been signalled: a
 * failed recording does not end it.
 */
void session__free(struct session *session);

#endif /* DENET_SESSION_SESSION_H */
