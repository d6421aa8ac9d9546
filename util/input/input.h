/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_INPUT_H
#define DENET_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/info.h"
#include "machine/machine.h"
#include "sample.h"

/*
 * Reads our own perf.data files: regular ones, also of a writer that was killed, and the pipe
 * variant. Events of tasks go to a machine, samples to a callback, both in the order of their
 * times. Other programs' files are refused.
 */
struct input;

/* Contents of the file, besides the samples. */
struct input_totals {
	uint64_t samples;     /* that went to the callback */
	uint64_t lost;	      /* records that the recording lost */
	uint64_t unknown;     /* samples of events that this version does not know */
	uint64_t broken;      /* records whose fields make no sense, left out */
	uint64_t stacks;      /* samples with a copy of the stack in place of their user frames */
	uint64_t first, last; /* times of samples, ns; both 0: there was none */
	bool cut;	      /* the file ends within a record */
	bool unfinished;      /* a regular file has no features, which are written last */
};

/*
 * Opens a file, "-" for standard input. NULL on error; *err is set and the cause is logged.
 */
struct input *input__open(const char *path, int *err);
void input__close(struct input *input); /* accepts NULL */

/*
 * Receives a sample. Unknown fields are 0, the state '?'; count is 1 unless the file has a reason,
 * period and measured are the same. Samples of offcpu-idle have idle set, of queued-time runqueue.
 * The machine has all events up to the sample's time.
 */
typedef int (*input_sample_fn)(void *ctx, const struct sample *sample);

/*
 * Reads all of it. The machine forgets what no sample that is still to come can refer to. 0 or a
 * negative errno: that of fn, or one that was logged.
 */
int input__read(struct input *input, struct machine *machine, input_sample_fn fn, void *ctx);

/*
 * The name of the event that is time: "offcpu-time", "wall-time", or "thread-state", those of
 * denet-top. Known when the first sample comes; NULL: not yet.
 */
const char *input__event(const struct input *input);

/* Complete after input__read(). */
const struct input_info *input__info(const struct input *input);
const struct input_totals *input__totals(const struct input *input);

#endif /* DENET_INPUT_H */
