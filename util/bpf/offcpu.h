/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_OFFCPU_H
#define DENET_BPF_OFFCPU_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/accounts.h"
#include "bpf/attach_hook.h"
#include "bpf/blocked_iter.h"
#include "bpf/bpf_stats.h"
#include "bpf/cpu_clock.h"
#include "bpf/target_maps.h"
#include "bpf/task_iter.h"
#include "bpf/window_maps.h"
#include "wire.h"

/*
 * The programs of bpf_skel/offcpu.bpf.c and their maps. Each BPF object has such a wrapper,
 * util/bpf/NAME.c for bpf_skel/NAME.bpf.c, the only file that includes its skeleton. Nothing is
 * pinned: closing its descriptors frees all.
 */
struct offcpu;
struct kallsyms;
struct user_rules;

/* Settings that are fixed when the programs are loaded. */
struct offcpu_config {
	struct wire_settings settings;
	enum attach_hook hook;
	bool user_tables; /* walk user stacks by tables, if supported */
	struct cpu_clock_config clock; /* for settings.on_cpu */
	size_t nr_targets;                    /* entries that target_maps__add() is going to make */
	__u8 calls[WIRE_MAX_CALLS];           /* enum wire_call by number; for settings.reasons */
	__u64 hist_bounds[WIRE_HIST_BUCKETS]; /* shortest block of each; for settings.histogram */
};

/* Its maps, variables and iterators that have modules of their own. */
struct offcpu_maps {
	struct target_maps targets; /* to be filled in before offcpu__attach() */
	struct window_maps windows;
	struct blocked_iter blocked;
	struct accounts accounts;
};

/*
 * Loads the programs with the hook of the config or, for AUTO, the first that the kernel accepts.
 * NULL on error, with *err set and the cause logged.
 */
struct offcpu *offcpu__new(const struct offcpu_config *config, int *err);
void offcpu__delete(struct offcpu *offcpu); /* accepts NULL */

/* Valid as long as the programs. */
struct offcpu_maps *offcpu__maps(struct offcpu *offcpu);

enum attach_hook offcpu__attach_hook(const struct offcpu *offcpu);

/* True if waits for a CPU quota are distinguished from waits for a CPU. */
bool offcpu__knows_throttling(const struct offcpu *offcpu);

/* True if blocks carry copies of user stacks, which depends on kernel and hook. */
bool offcpu__copies(const struct offcpu *offcpu);

/* The tables for walking user stacks; NULL: stacks are walked by frame pointers. Borrowed. */
struct user_rules *offcpu__user_rules(struct offcpu *offcpu);

/* With copies for chosen processes: switches them on or off. 0 or a negative errno. */
int offcpu__choose(struct offcpu *offcpu, pid_t pid, bool chosen);

/* Gives a CPU's ring to the programs. 0 or a negative errno. */
int offcpu__set_ring(struct offcpu *offcpu, unsigned int cpu, int fd);

/* The map for records of CPUs that have no ring, see capture/overflow_ring.h. Borrowed. */
int offcpu__overflow_ring(const struct offcpu *offcpu);

/* Starts the clock of a CPU, with settings.on_cpu. 0 or a negative errno (logged). */
int offcpu__start_clock(struct offcpu *offcpu, unsigned int cpu);

/*
 * Passes the running time of threads until time_ns to fn, as wire_run records, for those that have
 * run since the last call. No program that began before time_ns may be running, see
 * window_maps__wait(). 0 or a negative errno.
 */
int offcpu__report_runs(struct offcpu *offcpu, uint64_t time_ns, task_iter_fn fn, void *ctx);

/*
 * The same of all threads at the end, after offcpu__close() and the report of blocks, to which
 * their ends belong.
 */
int offcpu__report_last_runs(struct offcpu *offcpu, task_iter_fn fn, void *ctx);

/* Attaches all hooks; births are seen from here on. 0 or a negative errno. */
int offcpu__attach(struct offcpu *offcpu);

/*
 * Makes the programs walk kernel stacks by the kernel's ORC tables. 0; -EOPNOTSUPP if these
 * programs cannot, or an error of orc__start(): bpf_get_stack() finds the frames then. After
 * offcpu__attach().
 */
int offcpu__walk_kernel_stacks(struct offcpu *offcpu, const struct kallsyms *kallsyms);

/* Reads the tables of kernel modules again if any was loaded or removed; see orc__update(). */
int offcpu__update_modules(struct offcpu *offcpu);

/* Makes the storage of every target; fn receives struct wire_task of every task. */
int offcpu__enlist(struct offcpu *offcpu, task_iter_fn fn, void *ctx);

/* Begins the recording: *start_ns (CLOCK_MONOTONIC) is the stamp of blocked tasks. */
int offcpu__begin(struct offcpu *offcpu, uint64_t *start_ns);

/*
 * Ends the recording at *end_ns (CLOCK_MONOTONIC), a moment after the call: what is under way then
 * is cut there, and nothing begins later. 0 or a negative errno.
 */
int offcpu__close(struct offcpu *offcpu, uint64_t *end_ns);

/* Stops all recording. */
int offcpu__end(struct offcpu *offcpu);

/* Sets the sampling; period 0: all blocks are recorded; see capture__set_sampling(). */
void offcpu__set_sampling(struct offcpu *offcpu, uint64_t period_ns, uint64_t threshold_ns);
void offcpu__sampling(const struct offcpu *offcpu, uint64_t *period_ns, uint64_t *threshold_ns);

/* Run time and memory of programs and maps, and missed runs. 0 or a negative errno. */
int offcpu__bpf_stats(const struct offcpu *offcpu, struct bpf_stats *bpf_stats);

/*
 * How often all programs ran so far, while it was measured, and for how long. 0 or a negative
 * errno.
 */
int offcpu__runs(const struct offcpu *offcpu, uint64_t *runs, uint64_t *run_ns);

#endif /* DENET_BPF_OFFCPU_H */
