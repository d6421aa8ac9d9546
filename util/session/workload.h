/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SESSION_WORKLOAD_H
#define DENET_SESSION_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct signals;

/* The COMMAND that we run: made, held until the capture is attached, then let go. */
struct workload;

struct workload_options {
	char *const *argv;	       /* NULL-terminated, borrowed */
	const struct signals *signals; /* COMMAND gets what these replaced; borrowed */
	bool stdout_to_stderr;	       /* our stdout is the recording's */
	bool map_code; /* it has mapped the code of COMMAND while it is held, see command_code.h */
};

/*
 * Whether COMMAND can be found and may be executed, as execvp(3) looks for it. 0 or a
 * negative errno (logged).
 */
int workload__check(const char *command);

/*
 * Forks the process and holds it, stopped, before its exec. It dies with us as long as it
 * is held. NULL on error, *err is a negative errno (logged).
 */
struct workload *workload__new(const struct workload_options *options, int *err);

/* Whether it has been let go. */
bool workload__is_released(const struct workload *workload);

/* The PID of COMMAND, which it has from workload__new() on. */
pid_t workload__pid(const struct workload *workload);

/* Lets it exec, and does not wait for that. 0 or a negative errno (logged). */
int workload__release(struct workload *workload);

/* True once it has ended. Never waits. */
bool workload__ended(struct workload *workload);

/* True if COMMAND has ended and nobody has waited for it: /proc still has its counters. */
bool workload__is_zombie(const struct workload *workload);

/* After its end: 0, or the negative errno of an exec that failed (logged). */
int workload__exec_error(const struct workload *workload);

/* Asks it to end (SIGTERM), if it has not. */
void workload__terminate(struct workload *workload);

/* Waits for its end. */
void workload__wait(struct workload *workload);

/* After its end: the exit status, or 128 + the number of the signal that ended it. */
int workload__status(const struct workload *workload);

/*
 * After its end: the most memory that it, or a descendant that was waited for, had at a time, in
 * KiB. 0: unknown, for it is no more than what this program had, whose copy it was before its exec.
 */
uint64_t workload__peak_kb(const struct workload *workload);

/* Kills a workload that was never released. Accepts NULL. */
void workload__delete(struct workload *workload);

#endif /* DENET_SESSION_WORKLOAD_H */
