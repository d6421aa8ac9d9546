/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SYMBOL_SYMBOL_JOBS_H
#define DENET_SYMBOL_SYMBOL_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/strings.h"
#include "symbol/elf_files.h"

/* Longer names are cut. */
#define SYMBOL_NAME_MAX 1024u

/* The function found at an address. */
struct symbol_answer {
	const char *name; /* NULL: of no function that is known */
	uint64_t start;   /* of the function, as addresses of the query are */
};

/* A function at an address that the compiler put into another one, or the line of the other one. */
struct symbol_inline {
	size_t index;     /* of the address in its query */
	const char *name; /* NULL: that of the answer */
	const char *file; /* NULL: not known */
	uint32_t line;
};

/* Functions to find by their addresses in one file, or in the memory of one process. */
struct symbol_query {
	bool is_memory; /* of wanted.mappings[0].pid, born then; addresses are the process's */
	uint64_t born;
	struct elf_wanted wanted;
	const uint64_t *addresses; /* offsets in the file; ascending */
	size_t nr;
	struct symbol_answer *answers; /* of each address; zeroed by the caller */
	struct buffer inlines;         /* struct symbol_inline, by index, the innermost first */
	struct elf_build_id found_id;  /* of the file that was read, where none was wanted */
	int err; /* 0; else nothing is known: -ENOENT, -ETIMEDOUT, -ECHILD: it killed its reader */
};

struct symbol_jobs_options {
	struct elf_world world;
	bool no_demangle;
	bool inlines; /* fill in inlines */
	bool lines;   /* with places in the source; else there are none */
};

/*
 * Answers all queries, whose inlines the caller frees, in a confined child, deadline_ms in all: a
 * file that hangs or is broken on purpose costs its own names and no other ones. Names belong to
 * strings. 0 or a negative errno.
 */
int symbol_jobs__run(struct symbol_query *queries, size_t nr,
		     const struct symbol_jobs_options *options, struct strings *strings,
		     int deadline_ms);

#endif /* DENET_SYMBOL_SYMBOL_JOBS_H */
