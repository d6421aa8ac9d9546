/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_REASON_H
#define DENET_CAPTURE_REASON_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/idmap.h"
#include "host/kallsyms.h"
#include "sample.h"
#include "wire.h"

/* Fills in the class of each system call, by number. */
void reason__classify(uint8_t calls[WIRE_MAX_CALLS]);

/*
 * A reason record in words, as far as the record tells them: fault is false. Returns the
 * bytes of the record, or -EINVAL if it is none, is cut, or counts more names than it has
 * room for.
 */
int reason__decode(const void *data, size_t size, struct reason *reason);

/* The reasons of the sums of one generation, by id. Zero-initialised is empty. */
struct reason_store {
	struct idmap offsets;
	struct buffer records;
};

/* Keeps a copy of a record that reason__decode() has taken. 0 or -ENOMEM. */
int reason_store__add(struct reason_store *store, const struct wire_reason *wire);

/* False if there is none of that id. */
bool reason_store__find(const struct reason_store *store, uint64_t id, struct reason *reason);
void reason_store__clear(struct reason_store *store);
void reason_store__free(struct reason_store *store);

/* Ranges of the kernel functions by which reasons are recognized. Zero-initialised: none. */
struct reason_symbols {
	const struct kallsyms *kallsyms;
	struct reason_range {
		uint64_t start, end;
	} faults[8];
	size_t nr;
};

/* Those of kallsyms, which is to outlive them; NULL: page faults and leaves are not known. */
void reason_symbols__init(struct reason_symbols *symbols, const struct kallsyms *kallsyms);

/* Whether the chain goes through the handling of a page fault. */
bool reason_symbols__in_fault(const struct reason_symbols *symbols, const struct frames *kernel);

/*
 * The function in which a thread waits: the first frame that is none of the timers and
 * wrappers that all waits go through. NULL: not known.
 */
const char *reason_symbols__leaf(const struct reason_symbols *symbols,
				 const struct frames *kernel);

#endif /* DENET_CAPTURE_REASON_H */
