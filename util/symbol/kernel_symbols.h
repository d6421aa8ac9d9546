/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SYMBOL_KERNEL_SYMBOLS_H
#define DENET_SYMBOL_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/task_event.h"

/* The functions of the kernel of a recording, its modules and BPF programs. */
struct kernel_symbols;

/* The kernel that was recorded. */
struct kernel_identity {
	const struct task_map *maps; /* the kernel first, then modules */
	size_t nr_maps;
	const unsigned char *id; /* its build-id */
	size_t id_len;           /* 0: not known */
	bool elsewhere;          /* not of this machine, or before its last boot */
};

/*
 * Reads the symbols of that kernel: this machine's if it runs the same one, else those that were
 * kept by build-id (denet-record --buildid-cache). Where a kernel has moved since, so have they.
 * If there are none, or they are hidden, functions have no names; a warning tells what helps. maps
 * are borrowed. NULL: no memory.
 */
struct kernel_symbols *kernel_symbols__new(const struct kernel_identity *identity);
void kernel_symbols__delete(struct kernel_symbols *symbols); /* accepts NULL */

struct kernel_symbol {
	const char *name;  /* NULL: not known */
	const char *place; /* "[kernel.kallsyms]", "[MODULE]", "[bpf]"; not NULL */
	size_t place_len;
	uint64_t offset; /* in the function or, without a name, in the place */
};

/* The function at an address. Names live as long as symbols, places as long as their maps. */
struct kernel_symbol kernel_symbols__find(const struct kernel_symbols *symbols, uint64_t address);

#endif /* DENET_SYMBOL_KERNEL_SYMBOLS_H */
