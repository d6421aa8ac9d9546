/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_HOST_SIMILAR_H
#define DENET_HOST_SIMILAR_H

#include <stddef.h>

/*
 * The names in a directory that are most like another one, at most five, apart by commas and the
 * nearest first. Empty if none is like it, or the directory cannot be read.
 */
void similar__names(const char *dir, const char *name, char *names, size_t size);

/* Insertions, deletions and replacements that make one of two names of the other. */
size_t similar__distance(const char *a, const char *b);

#endif /* DENET_HOST_SIMILAR_H */
