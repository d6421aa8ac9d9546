/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SESSION_SIGNALS_H
#define DENET_SESSION_SIGNALS_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * How signals end a recording. SIGINT, SIGTERM and SIGHUP are read from a descriptor while it runs;
 * the first one ends it regularly. While the file is finished a second SIGINT or SIGTERM ends the
 * process at once. A process has one of these at a time.
 */
struct signals;

/* Takes over the signals. NULL on error, *err is a negative errno (logged). */
struct signals *signals__new(int *err);

/* Readable when a signal is there, SIGCHLD included; for poll(2). */
int signals__fd(const struct signals *signals);

/* Empties the descriptor. The number of the signal that ends the recording, 0: none. */
int signals__read(struct signals *signals);

/* True if SIGUSR2 has come since the last call: perf's signal for another file. */
bool signals__take_switch(struct signals *signals);

/*
 * From here on the next SIGINT or SIGTERM exits with status 1 at once, after a SIGTERM to workload
 * (0: none), and SIGHUP is ignored: the terminal may be gone already. So many SIGINT before that
 * are ignored.
 */
void signals__finish(struct signals *signals, pid_t workload, unsigned int patience);

/* For a forked child: the mask and the dispositions that this process was started with. */
void signals__restore(const struct signals *signals);

/* Restores the signals. Accepts NULL. */
void signals__delete(struct signals *signals);

#endif /* DENET_SESSION_SIGNALS_H */
