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

enum typed_calls_wait {
	TYPED_CALLS_RECEIVE = 2, /* as enum stat_wire_wait */
	TYPED_CALLS_SEND = 3,
};

/* The number of rt_sigreturn, as the programs take it. */
uint32_t typed_calls__sigreturn(void);

/* Sets the entries of calls that may wait for a socket to what they wait for, the others to 0. */
void typed_calls__mark_sockets(uint8_t *calls, size_t nr);

#endif /* DENET_STAT_TYPED_CALLS_H */
