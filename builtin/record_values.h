/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUILTIN_RECORD_VALUES_H
#define DENET_BUILTIN_RECORD_VALUES_H

#include <argp.h>
#include <stdint.h>

#include "host/cpus.h"
#include "record/parse.h"
#include "record/rotation.h"

/*
 * The texts behind denet-record's options, made into values. What is no such value is a usage
 * error, which says what would be one; none of these functions returns then.
 */

/* A usage error: says it, and where help is, and exits with 2. */
#define usage_error(state, ...) argp_error(state, __VA_ARGS__)

/* A time in ns; a bare number is ms. option: as the user typed it. */
void record_value__time(struct argp_state *state, const char *option, const char *text,
			uint64_t *ns);

/* The times, in ns, of --off-cpu-period, --window and -D, each in its own bounds. */
void record_value__period(struct argp_state *state, const char *text, uint64_t *ns);
void record_value__window(struct argp_state *state, const char *text, uint64_t *ns);
void record_value__delay(struct argp_state *state, const char *text, uint64_t *ns);

/* --off-cpu-max-rate, --max-stack, --switch-max-files: numbers from 1 on. */
void record_value__rate(struct argp_state *state, const char *text, uint32_t *rate);
void record_value__max_stack(struct argp_state *state, const char *text, uint32_t *frames);
void record_value__max_files(struct argp_state *state, const char *text, uint64_t *files);

/* Adds the ids of -p or -t to list. */
void record_value__ids(struct argp_state *state, const char *option, const char *text,
		       struct id_list *list);

/* Appends the names of -u or -G to what an earlier one gave; *names is freed by the caller. */
void record_value__names(struct argp_state *state, const char *option, const char *text,
			 char **names);

void record_value__cpus(struct argp_state *state, const char *text, struct cpus *cpus);

/* --call-graph; *bytes of each stack are copied, 0: none. */
void record_value__call_graph(struct argp_state *state, const char *text, enum call_graph *mode,
			      uint32_t *bytes);

/* -m, in pages. */
void record_value__pages(struct argp_state *state, const char *text, uint32_t *pages);

/* --max-size, in bytes. */
void record_value__max_size(struct argp_state *state, const char *text, uint64_t *bytes);

/* --switch-output; text is NULL where the option has no value. */
void record_value__switch_output(struct argp_state *state, const char *text,
				 struct rotation_options *rotation);

#endif /* DENET_BUILTIN_RECORD_VALUES_H */
