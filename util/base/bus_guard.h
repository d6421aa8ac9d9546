/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUS_GUARD_H
#define DENET_BUS_GUARD_H

#include <stdint.h>

/*
 * For a process that maps files of others: a file that is truncated while it is mapped would kill
 * with SIGBUS who reads behind its new end. With the guard, these pages read as zeros, and who
 * reads a mapping looks afterwards whether that happened: what it has read then is worth nothing.
 */

/* From now on. The mappings must be read-only. 0 or a negative errno. */
int bus_guard__install(void);

/* How many pages were missing so far. */
uint64_t bus_guard__faults(void);

/* The address of the page that was missing last. */
uintptr_t bus_guard__address(void);

#endif /* DENET_BUS_GUARD_H */
