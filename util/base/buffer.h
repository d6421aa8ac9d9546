/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUFFER_H
#define DENET_BUFFER_H

#include <stddef.h>

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

/* Drops the first size bytes. */
void buffer__consume(struct buffer *buffer, size_t size);

void buffer__free(struct buffer *buffer);

#endif /* DENET_BUFFER_H */
