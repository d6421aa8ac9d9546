/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_TYPED_CALLS_H
#define DENET_STAT_TYPED_CALLS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sets an entry, by the number of the call, for each that reads or writes the file of its first
 * argument: whether it is I/O, network or IPC depends on the type of the file.
 */
void typed_calls__mark(uint8_t *calls, size_t nr);

#endif /* DENET_STAT_TYPED_CALLS_H */
