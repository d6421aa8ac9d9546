/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_KSYMS_CACHE_H
#define DENET_CAPTURE_KSYMS_CACHE_H

#include <stdbool.h>

#include "host/kallsyms.h"

/*
 * The kernel's symbols, for all who ask in one recording: it takes the kernel longer to list
 * them than anything else of a start, so they are read once, when the first one asks.
 * Zero-initialised has not read them.
 */
struct kernel {
	struct kallsyms *kallsyms; /* NULL: not read, dropped, or not to be had */
	struct kallsyms_bounds bounds;
	int err; /* why there are no bounds; 0: there are, or nobody has asked */
	bool read;
};

/* NULL if they cannot be read, or their addresses are hidden. Valid until kernel__drop(). */
const struct kallsyms *kernel__symbols(struct kernel *kernel);

/*
 * Where the kernel lies, also after kernel__drop(). 0, -EPERM if its addresses are hidden, or
 * why its symbols cannot be read, negative.
 */
int kernel__bounds(struct kernel *kernel, struct kallsyms_bounds *bounds);

/* Frees the symbols; who asks for them after that reads them again. */
void kernel__drop(struct kernel *kernel);

#endif /* DENET_CAPTURE_KSYMS_CACHE_H */
