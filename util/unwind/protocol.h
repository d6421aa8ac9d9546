/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_UNWIND_PROTOCOL_H
#define DENET_UNWIND_PROTOCOL_H

#include <stdint.h>
#include <sys/types.h>

#include "machine/machine.h"
#include "unwind/shm_ring.h"
#include "unwind/regs.h"

/*
 * What the entries of an exchange hold. Both sides are one program, of which one is a copy of the
 * other: nothing here needs to last.
 */

/* SHM_RING_EVENT, whose name or path and its NUL follow; SHM_RING_FORGET has only a time. */
struct protocol_event {
	struct task_event event; /* whose pointers mean nothing */
};

/* EXCHANGE_SAMPLE: stack_bytes of stack follow, rounded up to 8, then room for the answer. */
struct protocol_sample {
	pid_t pid;
	uint32_t max_frames;
	uint64_t time;
	uint64_t stack_bytes;
	struct unwind_regs regs;
};

struct protocol_answer {
	uint32_t status; /* enum unwind_status */
	uint32_t nr;
	uint64_t ips[];
};

/* Where the answer is, in bytes from the beginning of the sample. */
static inline size_t protocol__answer_at(size_t stack_bytes)
{
	return sizeof(struct protocol_sample) + ((stack_bytes + 7) & ~(size_t)7);
}

/*
 * The child's side: does what comes until the other end of bell, a socket on which either side
 * wakes the other by a byte, is closed. avoid: nr_avoid files that are not to be opened. 0 or
 * a negative errno.
 */
int protocol__serve(struct shm_ring *shm_ring, struct machine *machine, int bell,
		    const uint64_t *avoid, size_t nr_avoid);

#endif /* DENET_UNWIND_PROTOCOL_H */
