/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_EXTENTS_H
#define DENET_EXTENTS_H

#include <stddef.h>
#include <stdint.h>

struct extent {
	uint32_t start;
	uint32_t end; /* exclusive */
};

/*
 * Which parts of a row of numbered places are in use: extents that do not overlap, in order. Set
 * nr_places; zero for the rest is all free.
 */
struct extents {
	uint32_t nr_places;
	struct extent *used;
	size_t nr;
	size_t allocated;
};

/*
 * Takes nr places, not 0, that follow each other: the first that are free. 0, with where they begin
 * in *start; -ENOSPC if there are not as many in one piece, or -ENOMEM.
 */
int extents__take(struct extents *extents, uint32_t nr, uint32_t *start);

/* Of an extent that begins at start only nr places are kept, no more than it has; 0: none. */
void extents__shrink(struct extents *extents, uint32_t start, uint32_t nr);

/* Frees all that it allocated. */
void extents__free(struct extents *extents);

#endif /* DENET_EXTENTS_H */
