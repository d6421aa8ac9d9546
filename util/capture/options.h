/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_OPTIONS_H
#define DENET_CAPTURE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/attach_hook.h"
#include "user_regs.h"

/* Options of a capture. builtin/options/ fills these structs in from the command line. */

struct cgroup_ref; /* host/cgroup.h */
struct idle_table; /* capture/idle.h */
struct machine;    /* machine/machine.h */

/* The threads that are targets. Everything is borrowed. */
struct capture_targets {
	bool all;	     /* every task is a target */
	const pid_t *pids;   /* processes to record, nr_pids of them */
	size_t nr_pids;
	const pid_t *tids;   /* threads to record */
	size_t nr_tids;
	/*
	 * These narrow the targets unless empty. They are evaluated when a block ends, so threads
	 * that change their user or cgroup enter or leave.
	 */
	const uint32_t *uids; /* effective users */
	size_t nr_uids;
	const struct cgroup_ref *groups; /* these cgroups and all below them */
	size_t nr_groups;	    /* at most CAPTURE_MAX_GROUPS */
	const uint64_t *cpu_bits; /* CAPTURE_MAX_CPUS bits: CPUs on which blocks end; or NULL */
	bool children;       /* existing descendants of pids are targets, too */
	bool no_inherit;     /* tasks that targets start later are no targets */
	bool kernel_threads; /* record kernel threads as well */
	bool no_user_threads; /* and no others */
};

/* The blocks of targets that count. */
struct capture_filter {
	uint64_t min_ns;
	uint64_t max_ns; /* UINT64_MAX: none */
	uint32_t states; /* bits of capture__state_bit() */
	bool no_still_blocked; /* leave out threads that are still blocked at the end */
	const struct idle_table *idle; /* leaves out waits for work; borrowed; NULL: none */
};

/*
 * Samples of single blocks carry user registers and so many bytes of the user stack, a
 * multiple of 8, at most CAPTURE_MAX_COPY; 0: none. Not with ATTACH_HOOK_SWITCH_OUT.
 */
struct capture_copies {
	uint32_t bytes;
	bool chosen; /* for processes of capture__choose() only, and at the end */
	/* Only for threads still blocked: the programs walk all others by unwind tables. */
	bool tables;
	bool asked_for; /* tables are: that there are none is worth a warning */
};

/* How stacks are walked. */
struct capture_stacks {
	bool kernel;
	bool user;
	bool raw_frames;     /* keep the tracer's own frames */
	uint32_t max_frames; /* per side */
	struct capture_copies copies;
	enum attach_hook hook;
};

/* The event by which on-CPU samples are taken. */
enum capture_clock {
	CAPTURE_CLOCK_NONE, /* there are none */
	CAPTURE_CLOCK_CPU,  /* cpu-clock: a timer of each CPU */
	CAPTURE_CLOCK_CYCLES, /* of the PMU */
};

/*
 * On-CPU samples (SAMPLE_ONCPU). Their periods add up exactly to the time that their thread ran:
 * the rate determines only how fine the chains are.
 */
struct capture_on_cpu {
	enum capture_clock clock;
	uint64_t freq;	/* samples a second on each CPU; 0: use count */
	uint64_t count; /* one sample for so many units of the clock (cpu-clock: ns) */
};

struct capture_options {
	struct capture_targets targets;
	struct capture_filter filter;
	struct capture_stacks stacks;
	bool delayed;	     /* recording begins with capture__begin() */
	uint64_t threshold_ns; /* blocks as long as this are samples of their own */
	uint64_t period_ns;  /* of shorter blocks one is drawn for so much time; 0: record each */
	uint64_t seed;	     /* of the draw */
	uint32_t max_rate;   /* samples a second, see capture__sampling(); 0: no limit */
	bool cgroups;	     /* samples have their cgroup, and new cgroups are reported */
	bool reasons;	     /* samples have reasons: the objects that they waited for */
	bool data_maps;	     /* the side band includes mappings that are not executable */
	bool split_runqueue; /* samples have their part that waited for a CPU */
	struct capture_on_cpu on_cpu;
	bool wakers;	     /* wake-ups of targets are samples, too (SAMPLE_WAKEUP) */
	/*
	 * Only counts the lengths of blocks (capture__hist()): no stacks, no side band. The only
	 * samples are of threads that are still blocked at the end.
	 */
	bool histogram;
	struct machine *machine; /* follows the side band; borrowed; NULL: none */
	uint32_t ring_pages; /* per CPU, a power of two; 0: chosen by the other options */
	/* capture__poll() returns when a CPU's ring holds so many bytes; 0, or more: half of it */
	uint32_t wake_bytes;
	/* Hits of these tracepoints by targets are delivered as well; borrowed. */
	const uint16_t *tracepoints;
	size_t nr_tracepoints;
};

/* Greatest number of frames per side; the default of kernel.perf_event_max_stack. */
#define CAPTURE_MAX_FRAMES 127

/* Greatest part of a user stack that fits into a perf record, and perf's greatest option. */
#define CAPTURE_MAX_COPY (65480 - 8 * USER_NR_REGS)
#define CAPTURE_MAX_DUMP 65528
#define CAPTURE_MAX_GROUPS 256
#define CAPTURE_MAX_PERIOD_NS 4000000000ULL
#define CAPTURE_MAX_CPUS 8192

/* The default of --off-cpu-thresh, as perf has it: 500 ms. */
#define CAPTURE_DEFAULT_THRESHOLD_NS 500000000ULL

/* Sets perf's defaults where perf has them; a caller changes others. */
void capture_options__init(struct capture_options *options);

/* The bit of a state in capture_filter.states by its letter in ps(1); 0: no such state. */
uint32_t capture__state_bit(char letter);

/* All states that a block can be in. */
uint32_t capture__all_states(void);

/*
 * Parse texts of the command line. Nothing is printed, since the caller knows the option's name. On
 * error the value is unchanged.
 */

/*
 * Off-CPU states: letters of ps(1), R S D T t I P, apart by commas or not, or "all". Writes bits
 * of capture__state_bit(). 0 or -EINVAL.
 */
int capture_states__parse(uint32_t *states, const char *text);

/*
 * Off-CPU states by a mask of the kernel's task states (TASK_* of linux/sched.h); 0 is R. As in
 * bcc, the states that have any of its bits: I has that of D. 0 or -EINVAL: none has.
 */
int capture_states__of_mask(uint32_t *states, uint64_t mask);

/*
 * How user stacks are walked: "fp", "auto" and "tables" (both by tables, where there are some),
 * "dwarf", "dwarf,BYTES" or "auto,BYTES" (copies for processes without frame pointers). BYTES is
 * rounded up to a multiple of 8, and perf's CAPTURE_MAX_DUMP is taken for CAPTURE_MAX_COPY. 0,
 * -EINVAL if it is none of these, -ERANGE if BYTES is no number from 1 to CAPTURE_MAX_DUMP.
 */
int capture_copies__parse(struct capture_copies *copies, const char *text);

/*
 * The size of a ring: a number of pages, or bytes with a unit (perf's -m). Rounds up to a power
 * of two. 0, -EINVAL, or -ERANGE for none or more than 1 GB.
 */
int capture_ring__parse(uint32_t *pages, const char *text, size_t page_size);

#endif /* DENET_CAPTURE_OPTIONS_H */
