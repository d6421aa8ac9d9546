/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STRINGS_H
#define DENET_STRINGS_H

#include <stddef.h>

#include "base/idmap.h"

/* Texts, each kept once: two are equal where their pointers are. Zero-initialised is empty. */
struct strings {
	struct idmap by_hash; /* -> char * */
	size_t bytes;
};

/* The text of len bytes without a NUL in them, kept until strings__free(). NULL: no memory. */
const char *strings__get_part(struct strings *strings, const char *text, size_t len);

/* The same of a whole text. */
const char *strings__get(struct strings *strings, const char *text);

void strings__free(struct strings *strings);

#endif /* DENET_STRINGS_H */
