/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_HEAP_H
#define DENET_HEAP_H

#include <stdint.h>

/* Bytes that malloc(3) has given out and not got back. */
uint64_t heap__used(void);

/*
 * From now on the private memory of this process may grow by so many bytes: beyond that,
 * malloc(3) and mmap(2) of writable memory fail. For a child that reads what others wrote.
 * With the address sanitizer, which maps the whole address space, nothing is done. 0 or a
 * negative errno.
 */
int heap__limit(uint64_t bytes);

#endif /* DENET_HEAP_H */
