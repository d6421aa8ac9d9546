/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_WAIT_PLACE_H
#define DENET_CAPTURE_WAIT_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "host/kallsyms.h"
#include "sample.h"

struct idle_table;
struct wait_function;

/*
 * The facts of a wait that the functions of its kernel chain show. The system call is taken from
 * the chain and not from the registers: that costs the programs nothing, and sums need no key for
 * it. Names live as long as the wait_places.
 */
struct wait_place {
	const char *call; /* the system call; NULL: not in a rule */
	const char *entry; /* the system call, in a rule or not; NULL: none */
	const char *leaf; /* the function that waits; NULL: neither in a rule nor a lock */
	bool fault;	  /* a page fault, in user space or in the call */
	bool for_any;	  /* for any of several descriptors, in epoll_wait, poll or select */
};

#define WAIT_PLACES_KNOWN_BITS 9

/* An address that was looked up. */
struct wait_places_known {
	uint64_t ip;
	const struct wait_function *function; /* NULL: not needed */
};

/* The addresses of the functions needed. Zero-initialised is empty. */
struct wait_places {
	struct buffer functions; /* struct wait_function, by address */
	struct wait_places_known known[1 << WAIT_PLACES_KNOWN_BITS];
};

/*
 * Finds the functions that the rules of the table name, and those of page faults, locks, and timers
 * that waits go through. NULL kallsyms: none is known. Neither is needed after that. 0 or -ENOMEM.
 */
int wait_places__init(struct wait_places *places, const struct kallsyms *kallsyms,
		      const struct idle_table *table);
void wait_places__free(struct wait_places *places);

/* Reads a kernel chain, leaf first. */
struct wait_place wait_places__find(struct wait_places *places, const struct frames *kernel);

#endif /* DENET_CAPTURE_WAIT_PLACE_H */
