/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_UNWIND_PROTOCOL_H
#define DENET_UNWIND_PROTOCOL_H

#include <stdint.h>
#include <sys/types.h>

#include "machine/machine.h"
#include "unwind/shm_ring.h"
#include "unwind/regs.h"

/*
 * Contents of the entries of the shm_ring. Both sides are the same program, one a fork of the
 * other, so the layout may change at any time.
 */

/* SHM_RING_EVENT, followed by its name or path with the NUL; SHM_RING_FORGET has only a time. */
struct protocol_event {
	struct task_event event; /* its pointers are invalid */
};

/* SHM_RING_SAMPLE: stack_bytes of stack follow, rounded up to 8, then room for the answer. */
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

/* Offset of the answer, in bytes from the beginning of the sample. */
static inline size_t protocol__answer_at(size_t stack_bytes)
{
	return sizeof(struct protocol_sample) + ((stack_bytes + 7) & ~(size_t)7);
}

/*
 * The child's side: serves entries until the other end of bell is closed, a socket on which either
 * side wakes the other by a byte. avoid: nr_avoid files that are not to be opened. 0 or a negative
 * errno.
 */
int protocol__serve(struct shm_ring *shm_ring, struct machine *machine, int bell,
		    const uint64_t *avoid, size_t nr_avoid);

#endif /* DENET_UNWIND_PROTOCOL_H */
