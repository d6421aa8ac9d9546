/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUFFER_H
#define DENET_BUFFER_H

#include <stddef.h>
#include <stdint.h>

/* A growable run of bytes. Zero-initialised is empty; free with buffer__free(). */
struct buffer {
	char *data;
	size_t len;
	size_t capacity;
};

/* Makes room for size more bytes and returns where they go; NULL: no memory. */
void *buffer__reserve(struct buffer *buffer, size_t size);

/* Appends size bytes. 0 or -ENOMEM. */
int buffer__append(struct buffer *buffer, const void *data, size_t size);

/* Appends a number in this machine's byte order. 0 or -ENOMEM. */
int buffer__append_u32(struct buffer *buffer, uint32_t value);
int buffer__append_u64(struct buffer *buffer, uint64_t value);

/* Drops the first size bytes. */
void buffer__consume(struct buffer *buffer, size_t size);

void buffer__free(struct buffer *buffer);

#endif /* DENET_BUFFER_H */
