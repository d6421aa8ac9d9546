/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SESSION_RUN_H
#define DENET_SESSION_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/options.h"

struct signals;
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
 * Everything around what a command does with its targets, be that a capture or not: signals,
 * COMMAND, the end, and the exit status.
 */
struct run {
	const struct session_options *options; /* borrowed */
	struct signals *signals;
	struct workload *workload; /* NULL: there is no COMMAND */
	pid_t target;              /* COMMAND, if it is the target; 0: it is none */
	/* CLOCK_MONOTONIC: end of the delay, set by the caller; 0: it is over, or there is none. */
	uint64_t begin;
	int signal;      /* the one that ends the run; 0: none */
	bool terminated; /* COMMAND has got a signal to end */
};

/*
 * Takes over the signals and forks COMMAND, which is held. With map_code a COMMAND that is the
 * target maps its code meanwhile (command_code.h). The options are borrowed until run__free(),
 * which must follow an error as well. 0 or a negative errno (logged).
 */
int run__init(struct run *run, const struct session_options *options, bool map_code);

/* True if processes or threads are named as targets. */
bool run__has_targets(const struct run *run);

/*
 * Makes COMMAND the only target of targets, if it is one. They then borrow its PID until
 * run__free(). True if it is.
 */
bool run__add_command(const struct run *run, struct capture_targets *targets);

/* Lets COMMAND exec, if there is one. 0 or a negative errno (logged). */
int run__release(struct run *run);

/* The reason to end, if a signal has come or COMMAND has ended. */
enum session_end run__look_for_end(struct run *run);

/*
 * Called at the end: from here on the next signal ends the process, and COMMAND with it. Warns if
 * the delay was not over, or cgroups of the targets have gone.
 */
void run__finish(struct run *run);

/* Sends COMMAND a signal to end, if it has not ended. */
void run__terminate(struct run *run);

/* If COMMAND ended the run: 0, or the negative errno of an exec that failed (logged). */
int run__exec_error(const struct run *run, enum session_end end);

/*
 * The process's exit status: that of COMMAND, whose end it waits for, if it is the target or ended
 * by itself, else 0.
 */
int run__final_status(struct run *run, enum session_end end);

/*
 * Frees what the run owns, not the struct; one that is all zeros is accepted. Waits for a COMMAND
 * that was released and not told to end: it outlives a failure, which is told.
 */
void run__free(struct run *run);

#endif /* DENET_SESSION_RUN_H */
