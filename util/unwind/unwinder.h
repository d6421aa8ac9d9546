/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_UNWIND_UNWINDER_H
#define DENET_UNWIND_UNWINDER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "unwind/regs.h"

/*
 * Unwinds user stacks from registers and a copy of the stack, by the call frame information of the
 * mapped files (.eh_frame, .debug_frame, also that in .gnu_debugdata), as the address space was at
 * the time. Where there is none, as in code that was made at run time, it takes one step along the
 * frame pointer.
 *
 * It opens and reads files of others: it may hang on a dead file system, and crash on a file that
 * shrinks or that libdw cannot handle. Use it in a child: unwind/worker.h does. Not thread-safe.
 */
struct unwinder;
struct machine; /* machine/machine.h */

/* Greatest number of frames of a result. */
#define UNWIND_MAX_FRAMES 512

enum unwind_status {
	UNWIND_COMPLETE = 0, /* up to the root of the thread */
	/* The frames are right, but there are more: */
	UNWIND_CUT_STACK,   /* beyond the copy of the stack, or on another one */
	UNWIND_CUT_CFI,	    /* no usable call frame information, no frame pointer */
	UNWIND_CUT_GARBAGE, /* the next frame made no sense and was left out */
	UNWIND_CUT_LIMIT,   /* max_frames were found */
	/* There are no frames: */
	UNWIND_NO_MAPS, /* the process is not known */
	UNWIND_32BIT,	/* of a 32-bit program */
	UNWIND_FAILED,	/* the process that unwinds got stuck or died */
	UNWIND_NR_STATUS,
};

/* A word or two for messages: "complete". */
const char *unwind__status_name(enum unwind_status status);

struct unwind_sample {
	pid_t pid;
	uint64_t time; /* ns, when the registers were taken */
	struct unwind_regs regs;
	const void *stack; /* from the stack pointer on */
	size_t stack_bytes;
	uint32_t max_frames; /* at most UNWIND_MAX_FRAMES; 0: as many */
};

/*
 * The leaf first, an instruction of the thread; then return addresses. Each lies in an executable
 * mapping of the process, and the stack pointer rises from each to the next, but for a step from a
 * signal handler to the interrupted code, which may be on another stack, and from a leaf that has
 * its return address in a register.
 */
struct unwind_result {
	enum unwind_status status;
	uint32_t nr;
	const uint64_t *ips; /* valid until the next call */
};

/*
 * machine is borrowed, and may change between calls. NULL with a negative errno in *err;
 * -ENOTSUP on machines other than x86-64 and arm64.
 */
struct unwinder *unwinder__new(const struct machine *machine, int *err);
void unwinder__delete(struct unwinder *unwinder); /* accepts NULL */

/* Unwinds. 0 and the result, whatever its status, or -ENOMEM. */
int unwinder__unwind(struct unwinder *unwinder, const struct unwind_sample *sample,
		     struct unwind_result *result);

/*
 * Keeps in *place the id of the file that is being opened or read, 0 in between, so that the file
 * can be identified if the process hangs or dies. NULL: stops that.
 */
void unwinder__tell_file(struct unwinder *unwinder, volatile uint64_t *place);

/* Marks a file, by its id, that is not to be opened any more. 0 or -ENOMEM. */
int unwinder__avoid(struct unwinder *unwinder, uint64_t file_id);

struct unwinder_stats {
	uint64_t opened; /* files */
	uint64_t refused; /* files that could not be opened, or are no ELF file */
	uint64_t spaces; /* address spaces that were set up */
};

/* Counts since unwinder__new(). */
void unwinder__stats(const struct unwinder *unwinder, struct unwinder_stats *stats);

#endif /* DENET_UNWIND_UNWINDER_H */
