/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUS_GUARD_H
#define DENET_BUS_GUARD_H

#include <stdint.h>

/*
 * For a process that maps other users' files: a read behind the new end of a file that is truncated
 * while it is mapped would kill the process with SIGBUS. With the guard these pages read as zeros.
 * After it has read a mapping, the caller checks bus_guard__faults(): if it has grown, the data
 * read is invalid.
 */

/* Installs the guard for good. The mappings must be read-only. 0 or a negative errno. */
int bus_guard__install(void);

/* How many pages were missing so far. */
uint64_t bus_guard__faults(void);

/* The address of the page that was missing last. */
uintptr_t bus_guard__address(void);

#endif /* DENET_BUS_GUARD_H */
