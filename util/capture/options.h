/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_OPTIONS_H
#define DENET_CAPTURE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/attach_hook.h"
#include "user_regs.h"

struct cgroup_ref; /* host/cgroup.h */
struct idle_table; /* capture/idle.h */
struct machine;    /* machine/machine.h */

/* What a capture records, and how: the options of capture__new(). */
struct capture_options {
	bool all;          /* every task is a target */
	const pid_t *pids; /* processes to record, nr_pids of them */
	size_t nr_pids;
	const pid_t *tids; /* threads to record */
	size_t nr_tids;
	/*
	 * These narrow the targets; what is empty narrows nothing. A thread is asked when its
	 * block ends, so one that changes its user or its cgroup comes in or drops out.
	 */
	const uint32_t *uids; /* effective users */
	size_t nr_uids;
	const struct cgroup_ref *groups; /* these cgroups and all below them */
	size_t nr_groups;                /* at most CAPTURE_MAX_GROUPS */
	const uint64_t *cpu_bits; /* CAPTURE_MAX_CPUS bits: the CPUs on which it ended; or NULL */
	bool delayed;             /* recording begins with capture__begin() */
	bool no_inherit;          /* children of targets are not targets */
	bool kernel_threads;      /* record kernel threads as well */
	uint64_t threshold_ns;
	uint64_t period_ns; /* of shorter blocks one is drawn for so much time; 0: all count */
	uint64_t seed;      /* of the draw */
	uint64_t min_ns;
	uint64_t max_ns;     /* UINT64_MAX: none */
	uint32_t states;     /* bits of capture__state_bit() */
	uint32_t max_frames; /* per side */
	bool kernel_stacks;
	bool user_stacks;
	bool cgroups; /* samples have their cgroup, and new cgroups are reported */
	bool reasons; /* samples tell what they waited for */
	/*
	 * Samples of single blocks carry user registers and so many bytes of the user stack, a
	 * multiple of 8, at most CAPTURE_MAX_COPY; 0: none. Not with ATTACH_HOOK_SWITCH_OUT.
	 */
	uint32_t copy_bytes;
	bool copy_chosen; /* only those of the processes of capture__choose(), and in the end */
	bool data_maps;   /* the side band tells of mappings that are not executable as well */
	const struct idle_table *idle; /* waits for work, left out; borrowed; NULL: none */
	bool raw_frames;               /* keep the tracer's own frames */
	bool split_runqueue;           /* samples tell how long they waited for a CPU */
	bool wakers;                   /* wake-ups of targets are samples, too (SAMPLE_WAKEUP) */
	bool no_still_blocked;         /* leave out threads that have not come back at the end */
	/*
	 * How long blocks are is counted (capture__hist()), and that is all: no stacks, no side
	 * band. The only samples are of threads that are still blocked at the end.
	 */
	bool histogram;
	struct machine *machine; /* follows the side band; borrowed; NULL: nobody wants that */
	uint32_t ring_pages; /* per CPU, a power of two; 0: as much as the rest asks for */
	/* capture__poll() ends when the ring of a CPU has so many bytes; 0, or more: half of it */
	uint32_t wake_bytes;
	enum attach_hook hook;
};

/* Frames per side that a chain can have; the default of kernel.perf_event_max_stack. */
#define CAPTURE_MAX_FRAMES 127

/* What of a user stack fits into a record of perf. */
#define CAPTURE_MAX_COPY (65480 - 8 * USER_NR_REGS)
#define CAPTURE_MAX_GROUPS 256
#define CAPTURE_MAX_PERIOD_NS 4000000000ULL
#define CAPTURE_MAX_CPUS 8192

/* The bit of a state in capture_options.states by its letter in ps(1); 0: no such state. */
uint32_t capture__state_bit(char letter);

/* All states that a block can be in. */
uint32_t capture__all_states(void);

/* perf's defaults where perf has them; a caller changes what it must. */
void capture_options__init(struct capture_options *options);

#endif /* DENET_CAPTURE_OPTIONS_H */
