/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_KSYMS_CACHE_H
#define DENET_CAPTURE_KSYMS_CACHE_H

#include <stdbool.h>

#include "host/kallsyms.h"

/*
 * The kernel's symbols, read at the first use, once for a recording: listing them is the longest
 * part of a start. Zero-initialised is empty.
 */
struct ksyms_cache {
	struct kallsyms *kallsyms; /* NULL: not read, dropped, or unreadable */
	struct kallsyms_bounds bounds;
	int err; /* error of finding the bounds; 0: none so far */
	bool read;
};

/*
 * Returns NULL if they cannot be read, or their addresses are hidden. Valid until
 * ksyms_cache__drop().
 */
const struct kallsyms *ksyms_cache__symbols(struct ksyms_cache *kernel);

/*
 * The kernel's bounds, also after ksyms_cache__drop(). 0, -EPERM if its addresses are hidden, or
 * the negative errno of reading its symbols.
 */
int ksyms_cache__bounds(struct ksyms_cache *kernel, struct kallsyms_bounds *bounds);

/* Frees the symbols; the next use reads them again. */
void ksyms_cache__drop(struct ksyms_cache *kernel);

#endif /* DENET_CAPTURE_KSYMS_CACHE_H */
