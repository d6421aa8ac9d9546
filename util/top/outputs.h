/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_OUTPUTS_H
#define DENET_TOP_OUTPUTS_H

#include <stdbool.h>

#include "top/batch.h"
#include "top/csv_samples.h"
#include "top/perf_file.h"
#include "top/screen.h"

/* What becomes of the samples; one of these at least. */
struct outputs_options {
	bool tables; /* on standard output */
	bool json;   /* the same */
	bool screen; /* the same, which is the terminal */
	bool by_stack; /* tables by stacks leave out looks without such */
	struct batch_options batch;
	struct screen_options on_screen;
	struct csv_samples_options csv;
	struct perf_file_options perf;
};

struct outputs {
	const struct outputs_options *options; /* borrowed */
	struct top_names names;
	struct batch *batch;	 /* NULL: no tables */
	struct screen *screen;	 /* NULL: none */
	struct csv_samples *csv; /* NULL: none */
	struct perf_file *perf;	 /* the same */
	struct user_maps *user_maps;
	uint64_t lead; /* of the last pass, see wall_time.h */
	bool waits;	 /* there is something that is not written yet, */
	uint64_t oldest; /* and that is its time; 0: not set yet */
};

/* 0 or a negative errno (logged). outputs__close() must follow in any case. */
int outputs__open(struct outputs *outputs, const struct outputs_options *options);

/*
 * Before the threads of a pass are added: outputs__learn() for each that has a user stack, of which
 * only that is used, then outputs__learned(), which looks up all names at once. 0 or a negative
 * errno.
 */
int outputs__learn(struct outputs *outputs, const struct thread_sample *sample);
int outputs__learned(struct outputs *outputs);

/* Tables, if there are any, do not leave out a pass. */
bool outputs__is_in_tables(const struct outputs *outputs, const struct top_pass *pass);

/* A pass begins; its threads; it has ended. 0 or a negative errno. */
int outputs__begin(struct outputs *outputs, const struct top_pass *pass);
int outputs__add(struct outputs *outputs, const struct top_pass *pass,
		 const struct thread_sample *sample);
int outputs__end(struct outputs *outputs, const struct top_pass *pass);

/* A call or a request has ended: a record of the tracker. 0 or a negative errno. */
int outputs__complete(struct outputs *outputs, const void *data, size_t size);

/* Nothing comes from now until next: writes what would wait for a second by then. 0 or -errno. */
int outputs__tick(struct outputs *outputs, uint64_t now, uint64_t next);

/* Prints a table, if there are any, with own_ppm as of batch__print(). 0 or a negative errno. */
int outputs__print(struct outputs *outputs, uint32_t own_ppm);

/* The screen is over: messages go to standard error from now on. */
void outputs__leave_screen(struct outputs *outputs);

/* Completes all files; err is that of what came before. Returns it, or the first one. */
int outputs__close(struct outputs *outputs, int err);

#endif /* DENET_TOP_OUTPUTS_H */
