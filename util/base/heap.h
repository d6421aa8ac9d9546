/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_HEAP_H
#define DENET_HEAP_H

#include <stdint.h>

/* Bytes allocated by malloc(3) and not freed. */
uint64_t heap__used(void);

/*
 * Lets the private memory of this process grow by so many bytes at most: beyond that, malloc(3) and
 * mmap(2) of writable memory fail. For a child that reads untrusted files. Does nothing with the
 * address sanitizer, which maps the whole address space. 0 or a negative errno.
 */
int heap__limit(uint64_t bytes);

#endif /* DENET_HEAP_H */
