/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SYMBOL_LABELS_H
#define DENET_SYMBOL_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/idmap.h"

/* The label of a frame. Equal names of one place have one label. */
struct symbol_label {
	const char *name;  /* of the function or, if none is known, "PLACE+0xOFFSET" */
	const char *place; /* path of the file, "[kernel.kallsyms]", "[MODULE]"; "" if unknown */
	bool kernel;
	bool known; /* name is that of a function */
};

/* Names of frames, each once under a number. Zero-initialised is empty. */
struct labels {
	struct buffer all; /* struct symbol_label */
	struct idmap by_key;
};

/* The number of a label, whose texts are compared by their pointers. 0 or -ENOMEM. */
int labels__get(struct labels *labels, const struct symbol_label *label, uint32_t *number);

const struct symbol_label *labels__at(const struct labels *labels, uint32_t number);
size_t labels__nr(const struct labels *labels);
void labels__free(struct labels *labels);

#endif /* DENET_SYMBOL_LABELS_H */
