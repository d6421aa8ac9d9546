/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SESSION_STATUS_H
#define DENET_SESSION_STATUS_H

#include <stdbool.h>
#include <stdint.h>

/* The line on the terminal that shows the progress of a recording. One at a time. */
struct status;

struct status_figures {
	uint64_t elapsed_ns;
	uint64_t samples;
	uint64_t bytes;
	uint64_t blocks;
	uint64_t lost;
};

/*
 * NULL if no line is to be shown: quiet, stderr is no terminal, or no memory. The other functions
 * accept NULL. Log lines erase it from now on.
 */
struct status *status__new(bool quiet);

/* Shows the figures but blocks, unless another program has the terminal now. */
void status__show(struct status *status, const struct status_figures *figures);

/* The same for denet-record --off-cpu-hist, which counts blocks and has no samples and no file. */
void status__show_hist(struct status *status, const struct status_figures *figures);

/* The same for denet-stat: the number of threads that it counts for. */
void status__show_counting(struct status *status, uint64_t elapsed_ns, uint64_t threads);

/* Shows the number of samples that are still being unwound instead. */
void status__show_unwinding(struct status *status, uint64_t left);

/* Erases the line. */
void status__delete(struct status *status);

#endif /* DENET_SESSION_STATUS_H */
