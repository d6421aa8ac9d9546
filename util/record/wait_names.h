/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_WAIT_NAMES_H
#define DENET_RECORD_WAIT_NAMES_H

#include <stdint.h>
#include <sys/types.h>

#include "sample.h"
#include "unwind/data_symbols.h"

struct machine;

/* Ids of threads in PID namespaces below ours that are remembered. */
#define WAIT_NAMES_THREADS 64

/* Names for the ids and addresses in reasons. Zero-initialised but for machine is empty. */
struct wait_names {
	const struct machine *machine; /* borrowed */
	struct data_symbols symbols;
	struct inner_thread {
		pid_t pid;
		pid_t inner; /* its id there */
		pid_t tid;
	} threads[WAIT_NAMES_THREADS];
};

/*
 * Fills in the machine's facts of a sample's reason, of which reason is a copy, once the side band
 * of that time is complete. An owner that is no thread of the waiter's process, or, where the mutex
 * is shared between processes, of any process, is set to 0.
 */
void wait_names__fill(struct wait_names *names, const struct sample *sample,
		      struct reason *reason);

void wait_names__free(struct wait_names *names);

#endif /* DENET_RECORD_WAIT_NAMES_H */
