/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SYMBOL_SYMBOLS_H
#define DENET_SYMBOL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/strings.h"
#include "sample.h"
#include "symbol/labels.h"

struct machine;

/*
 * Names of the frames of samples. While samples are read, their frames become numbers: one for each
 * place in a file, whatever process it is mapped in. symbols__resolve() then looks all of them up,
 * each file once. Not thread-safe.
 */
struct symbols;

struct symbols_options {
	const char *symfs; /* a directory with the files of the recording; NULL: none */
	bool no_demangle;
	bool inlines; /* frames have the functions that were inlined there */
	bool lines;   /* names have places in the source behind them */
	bool no_fetch;	 /* no debuginfod server is asked for files */
	int deadline_ms; /* for all files; 0: a minute */
};

/* NULL: no memory. */
struct symbols *symbols__new(const struct symbols_options *options);
void symbols__delete(struct symbols *symbols); /* accepts NULL */

/*
 * The numbers of the frames of a sample, kernel before user, leaf first, into frames, which has
 * room for all. machine knows the sample's process as it was at the time. How many; -ENOMEM.
 */
int symbols__frames(struct symbols *symbols, const struct machine *machine,
		    const struct sample *sample, uint32_t *frames);

/* A file of the recording had that build-id; "[kernel.kallsyms]" and "[vdso]" as well. 0, -ENOMEM
 */
int symbols__build_id(struct symbols *symbols, const char *path, const unsigned char *id,
		      size_t len);

/*
 * Finds the names of all frames, of which no more can be added then. machine has the kernel's
 * mappings. elsewhere: the recording is of another machine, or from before the last boot. Frames
 * that cannot be resolved stay without a name and are logged with -v. 0 or a negative errno.
 */
int symbols__resolve(struct symbols *symbols, const struct machine *machine, bool elsewhere);

/*
 * The labels of a frame, numbers from 0 on, once it is resolved: one or, with those of inlined
 * functions, several, the innermost first.
 */
const uint32_t *symbols__labels_of(const struct symbols *symbols, uint32_t frame, size_t *nr);
const struct symbol_label *symbols__label(const struct symbols *symbols, uint32_t label);
size_t symbols__nr_labels(const struct symbols *symbols);

/* Where a frame is. */
struct symbol_place {
	const struct symbol_label *label; /* of the innermost function */
	uint64_t in_function;		  /* bytes from its start; 0 unless label->known */
	uint64_t in_file; /* offset in the file; where there is none, the address */
};
struct symbol_place symbols__place(const struct symbols *symbols, uint32_t frame);

#endif /* DENET_SYMBOL_SYMBOLS_H */
