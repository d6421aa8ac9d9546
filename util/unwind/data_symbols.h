/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_UNWIND_DATA_SYMBOLS_H
#define DENET_UNWIND_DATA_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/idmap.h"

struct machine;

/*
 * Names of the variables of mapped files. A child reads a file's symbols when one of its addresses
 * is first looked up, since files may hang or be broken on purpose. Zero-initialised is empty.
 */
struct data_symbols {
	struct idmap files; /* id of a mapped file -> struct file_symbols */
	unsigned int stuck; /* files that did not answer in time */
};

/* Symbols kept of one file, the first ones of its table. */
#define DATA_SYMBOLS_MAX 65536
/* Files whose symbols are kept. */
#define DATA_SYMBOLS_FILES 64

/*
 * Writes the name of an address of a process at a time: VARIABLE+0xOFFSET, or FILE+0xADDRESS if the
 * file's table has no variable there. May take a quarter of a second for a file that hangs, twice
 * at most. 0; -ENOENT: the address is in no mapped file, or the file cannot be read; -ENOMEM.
 */
int data_symbols__find(struct data_symbols *symbols, const struct machine *machine, pid_t pid,
		       uint64_t time, uint64_t addr, char *out, size_t size);

void data_symbols__free(struct data_symbols *symbols);

#endif /* DENET_UNWIND_DATA_SYMBOLS_H */
