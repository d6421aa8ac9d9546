/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SYMBOL_INLINES_H
#define DENET_SYMBOL_INLINES_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Inlined functions at an address, with lines of their source, from the debug information of a
 * file. For a confined child, as elf_files.h.
 */
struct inlines;

/* NULL: the file has no debug information. The file must stay open. */
struct inlines *inlines__new(Elf *elf);
void inlines__delete(struct inlines *inlines); /* accepts NULL */

/*
 * Calls fn for each function that is inlined at an address, the innermost first, and at the end
 * for the function around them, with symbol NULL: the symbol table has its name. file may be NULL,
 * and line is then 0: where the code is or, but for the first one, the call. Stops at fn's first
 * result other than 0, which is returned; 0, also if nothing is known.
 */
typedef int (*inlines_fn)(void *ctx, const char *symbol, const char *file, int line);
int inlines__each(struct inlines *inlines, uint64_t address, inlines_fn fn, void *ctx);

#endif /* DENET_SYMBOL_INLINES_H */
