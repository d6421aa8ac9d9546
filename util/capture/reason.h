/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_REASON_H
#define DENET_CAPTURE_REASON_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/idmap.h"
#include "sample.h"
#include "wire.h"

/* Fills in the class of each system call, by number. */
void reason__classify(uint8_t calls[WIRE_MAX_CALLS]);

/*
 * Decodes a reason record into names, as far as it goes: fault is false. Returns the bytes of the
 * record, or -EINVAL if it is none, is cut, or counts more names than fit.
 */
int reason__decode(const void *data, size_t size, struct reason *reason);

/* The reasons of the sums of one generation, by id. Zero-initialised is empty. */
struct reason_store {
	struct idmap offsets;
	struct buffer records;
};

/* Keeps a copy of a record that reason__decode() has accepted. 0 or -ENOMEM. */
int reason_store__add(struct reason_store *store, const struct wire_reason *wire);

/* The reason of an id. False: there is none. */
bool reason_store__find(const struct reason_store *store, uint64_t id, struct reason *reason);
void reason_store__clear(struct reason_store *store);
void reason_store__free(struct reason_store *store);

#endif /* DENET_CAPTURE_REASON_H */
