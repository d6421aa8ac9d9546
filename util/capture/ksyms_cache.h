/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_KSYMS_CACHE_H
#define DENET_CAPTURE_KSYMS_CACHE_H

#include <stdbool.h>

#include "host/kallsyms.h"

/*
 * The kernel's symbols, read once for a recording, at the first use: listing them is the longest
 * part of a start. Zero-initialised has not read them.
 */
struct ksyms_cache {
	struct kallsyms *kallsyms; /* NULL: not read, dropped, or not to be had */
	struct kallsyms_bounds bounds;
	int err; /* why there are no bounds; 0: there are, or they were not asked for */
	bool read;
};

/* NULL if they cannot be read, or their addresses are hidden. Valid until ksyms_cache__drop(). */
const struct kallsyms *ksyms_cache__symbols(struct ksyms_cache *kernel);

/*
 * Where the kernel lies, also after ksyms_cache__drop(). 0, -EPERM if its addresses are hidden, or
 * why its symbols cannot be read, negative.
 */
int ksyms_cache__bounds(struct ksyms_cache *kernel, struct kallsyms_bounds *bounds);

/* Frees the symbols; the next use reads them again. */
void ksyms_cache__drop(struct ksyms_cache *kernel);

#endif /* DENET_CAPTURE_KSYMS_CACHE_H */
