/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SYMBOL_ELF_SYMBOLS_H
#define DENET_SYMBOL_ELF_SYMBOLS_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The functions of ELF files, by address. The files may be broken on purpose: to be read in a child
 * with base/bus_guard.h and base/confine.h.
 */

struct elf_symbol {
	uint64_t start; /* as the file's segments have it */
	uint64_t end;
	const char *name; /* in the file */
	uint32_t rank;	  /* of several with one start, the lowest is the name; */
	uint32_t order;	  /* of those of one rank, the one that came first */
};

/* Zero-initialised is empty. */
struct elf_symbols {
	struct elf_symbol *all;
	size_t nr;
	size_t capacity;
};

/* Functions that are kept at most; what is beyond has no name. */
#define ELF_SYMBOLS_MAX (1u << 24)

/*
 * Adds the functions of all symbol tables of a file, which must stay open as long as names are
 * used. 0, also if there is none, or -ENOMEM.
 */
int elf_symbols__add(struct elf_symbols *symbols, Elf *elf);

/* To be called once, after the last file. */
void elf_symbols__sort(struct elf_symbols *symbols);

/*
 * The function at an address: of nested ones the inner one; of several names of one function that
 * which perf takes. NULL: none.
 */
const struct elf_symbol *elf_symbols__find(const struct elf_symbols *symbols, uint64_t address);

void elf_symbols__free(struct elf_symbols *symbols);

#endif /* DENET_SYMBOL_ELF_SYMBOLS_H */
