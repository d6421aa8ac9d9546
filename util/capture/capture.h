/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_H
#define DENET_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/options.h"
#include "host/kallsyms.h"
#include "sample.h"
#include "wire.h"

/*
 * The capture: BPF programs in the kernel, rings, and the decoding of their bytes into struct
 * sample. A caller makes one, starts it, polls it, drains a window now and then, stops it. Not
 * thread-safe; one thread drives one capture.
 */
struct capture;
struct task_event; /* machine/task_event.h */
struct tracepoint_hit; /* capture/tracepoint_rings.h */

/* pid and tid of a waker without a thread id here; larger than any real pid. */
#define CAPTURE_PID_INTERRUPT 0x7fffffffU
#define CAPTURE_PID_OUTSIDE 0x7ffffffeU /* not in our PID namespace */

/*
 * The consumer of a capture. Each callback returns 0 or a negative errno, which ends the poll or
 * drain and is returned by it. Any of them may be NULL.
 */
struct capture_sink {
	void *ctx;
	/* a block, or the sum of some */
	int (*sample)(void *ctx, const struct sample *sample);
	/*
	 * An event of a target, decoded from a record of the kernel and already handled by
	 * options.machine; in the order of time.
	 */
	int (*task)(void *ctx, const struct task_event *event);
	/*
	 * All side-band records from before this time have been delivered; records that are older
	 * than a sample may come after it.
	 */
	int (*settled)(void *ctx, uint64_t time);
	/* a cgroup that was made during the recording, if options.cgroups */
	int (*cgroup)(void *ctx, uint64_t id, const char *path);
	/* a target hit a tracepoint of options.tracepoints; in the order of time, as events */
	int (*hit)(void *ctx, const struct tracepoint_hit *hit);
	/* the ring of a CPU had no room for this many records */
	int (*lost)(void *ctx, uint64_t records, uint32_t cpu);
	/*
	 * All later deliveries are younger than all deliveries before the previous call, as
	 * PERF_RECORD_FINISHED_ROUND requires.
	 */
	int (*round)(void *ctx);
};

/* sample_type of the side band; its bytes at the end of each record are
 * u32 pid, tid; u64 time; u32 cpu, res; u64 id. */
#define CAPTURE_SIDEBAND_SAMPLE_TYPE \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* A task that existed when the recording began. */
struct capture_task {
	pid_t pid;
	pid_t tid;
	pid_t ppid;
	bool target;
	bool kthread;
	char comm[16];
};

struct capture_tally {
	uint64_t count;
	uint64_t ns;
};

/* Wake-ups of targets: seen = direct + accumulated + filtered + not_drawn + lost. */
struct capture_wakeups {
	struct capture_tally seen;
	struct capture_tally direct;
	struct capture_tally accumulated;
	struct capture_tally filtered; /* as blocks are: by state and length */
	struct capture_tally not_drawn;
	struct capture_tally lost;
	uint64_t missed; /* by recursion: not seen, and their blocks stay whole */
};

/*
 * The lives of threads in the recording, with on_cpu: ns = running + queued + blocked + filtered +
 * unaccounted. In ns of CLOCK_MONOTONIC, whatever the samples stand for.
 */
struct capture_lives {
	uint64_t count;	  /* threads */
	uint64_t ns;	  /* from birth, or the start, to exit, or the end */
	uint64_t running_ns;
	uint64_t queued_ns; /* waiting for a CPU */
	uint64_t blocked_ns;
	uint64_t filtered_ns; /* left out by filters of users, cgroups and CPUs */
	uint64_t uneven;  /* threads with unaccounted time */
	uint64_t unaccounted_ns;
	uint64_t looks;   /* ticks of the CPUs' clocks that met a target */
	uint64_t lost;	  /* records of threads that the rings had no room for */
};

/*
 * The conservation: seen = direct + accumulated + in_histogram + in_flight + not_drawn + filtered_*
 * + lost_*. In measured ns, not scaled by sampling.
 */
struct capture_stats {
	struct capture_tally seen;	 /* ended blocks of targets and those in flight */
	struct capture_tally direct;
	struct capture_tally accumulated;
	struct capture_tally in_histogram; /* of all states and lengths, if options.histogram */
	struct capture_tally in_flight;	 /* still blocked at the end */
	struct capture_tally not_drawn;	 /* by capture__set_sampling() */
	struct capture_tally filtered_state;
	struct capture_tally filtered_min;
	struct capture_tally filtered_max;
	struct capture_tally filtered_idle; /* waits for work, with options.filter.idle */
	struct capture_tally filtered_blocked; /* in flight, with no_still_blocked */
	struct capture_tally lost_ring;	 /* no room in the ring */
	struct capture_tally lost_internal; /* the histogram had no row for it */
	struct capture_tally drawn; /* of direct, drawn ones; ns: time they stand for */
	double variance;	 /* of the ns of the samples, ns squared: the estimate */
	struct capture_tally lost_stack; /* in direct or accumulated, without its stack */
	struct capture_lives lives; /* all 0 without on_cpu */
	struct capture_wakeups wakeups; /* all 0 without wakers, but for missed */
	/*
	 * Waits for a CPU of all targets, in samples or not, as counted by the scheduler; waits for
	 * a cgroup's CPU quota are separate.
	 */
	uint64_t runnable_ns;
	uint64_t preempted_ns; /* of it, outside of the blocks of sleeping threads */
	uint64_t throttled_ns;
	bool throttling_unknown; /* the kernel does not show it: part of runnable_ns */
	uint64_t unseen_switches;	 /* no storage, recursion, not shown: length unknown */
	uint64_t unseen_births;		 /* of any task: a target among them is not recorded */
	uint64_t unseen_deaths;		 /* of any task: nothing is lost by it */
	uint64_t lost_records;		 /* of all kinds, by the rings' count */
	uint64_t lost_sideband;		 /* side-band records the ring had no room for */
	uint64_t hits;			 /* of tracepoints, delivered */
	uint64_t lost_hits;		 /* of any thread: the rings had no room for */
	uint64_t flooded;		 /* others that were left out for coming too fast */
	uint64_t full_entries;		 /* sent directly because the sums were full */
	uint64_t full_stacks;
	uint64_t lost_reasons;		 /* records of reasons the rings had no room for */
	uint64_t copies;		 /* of user stacks */
	uint64_t lost_copies;		 /* the rings had no room for */
	uint64_t ringless_copies;	 /* not sent, since their CPU had no ring yet */
	uint64_t without_copy;		 /* blocks of the two that were not lost themselves */
	uint64_t compat_copies;		 /* the same: of 32-bit tasks none is taken */
	uint64_t unread_copies;		 /* the same: the stack was not in memory */
	uint64_t orc_walks;		 /* kernel stacks that the programs walked by ORC rules */
	uint64_t orc_fallbacks;		 /* of these, walked by the kernel after all */
	struct capture_tally user_walks[USER_WALK_ENDS]; /* by their end, with the time of blocks */
	uint64_t truncated_kernel;	 /* chains cut at max_frames */
	uint64_t truncated_user;
	uint64_t windows;
	uint64_t start_ns;		 /* CLOCK_MONOTONIC */
	uint64_t end_ns;
	uint64_t task_bytes;		 /* approximate task storage of live targets */
	uint64_t bpf_map_bytes;		 /* by the kernel's accounting */
	uint64_t bpf_run_ns;		 /* 0 unless kernel.bpf_stats_enabled */
	uint64_t bpf_run_count;
};

/*
 * Loads the programs and opens the rings. Needs CAP_BPF and CAP_PERFMON (or root). On error returns
 * NULL, sets *err to a negative errno and logs the cause and the remedy. The options are copied,
 * the sink is borrowed.
 */
struct capture *capture__new(const struct capture_options *options,
			     const struct capture_sink *sink, int *err);

/*
 * Attaches, gives every task its storage and stamps sleeping ones. Blocks are recorded from here
 * on, unless options.delayed. 0 or a negative errno (logged).
 */
int capture__start(struct capture *capture);

/*
 * Begins recording blocks with options.delayed. Until then it has followed births and names. 0 or a
 * negative errno (logged).
 */
int capture__begin(struct capture *capture);

/* The tasks that existed at the start; valid until capture__delete(). */
const struct capture_task *capture__tasks(const struct capture *capture, size_t *nr);

/* A time before the task iterator listed them (CLOCK_MONOTONIC). */
uint64_t capture__tasks_seen(const struct capture *capture);

/*
 * The bounds of the kernel's own code. 0, -EPERM if its addresses are hidden, or the negative errno
 * of reading its symbols.
 */
int capture__kernel_bounds(struct capture *capture, struct kallsyms_bounds *bounds);

/*
 * Reads the rings and passes their contents to the sink; waits up to timeout_ms for something to
 * read (a ring half full, or with options.wake_bytes in it, or wake_fd readable if it is not -1).
 * Returns the number of records read or a negative errno (-EINTR on a signal).
 */
int capture__poll(struct capture *capture, int timeout_ms, int wake_fd);

/* True when a generation is nearly full and needs capture__drain() early. */
bool capture__wants_drain(const struct capture *capture);

/* Number of samples of sums in the window so far. */
uint64_t capture__pending_sums(const struct capture *capture);

/* Ends the window: swaps the generations, reads rings and sums, calls sink->round. */
int capture__drain(struct capture *capture);

/*
 * True while a task of pids/tids (or a descendant, if inherited) is alive. A death that the
 * programs missed is noticed CAPTURE_RECOUNT_MS after the last birth or death that they saw, or
 * half a minute later if that was long ago.
 */
#define CAPTURE_RECOUNT_MS 1000
bool capture__targets_alive(struct capture *capture);

/*
 * Detaches, reports threads that are still blocked, drains the rest. deadline_ms limits access to
 * other processes' memory. Idempotent.
 */
int capture__stop(struct capture *capture, int deadline_ms);

/*
 * The threads with the longest waits for a CPU, the longest first, at most a few dozens; threads
 * that have ended are included from 1 ms on. Complete after capture__stop(); valid until
 * capture__delete().
 */
const struct thread_waits *capture__waiting_threads(const struct capture *capture, size_t *nr);

/* Fills in the statistics up to now; final after capture__stop(). */
int capture__stats(struct capture *capture, struct capture_stats *stats);

/*
 * From now on blocks of at least threshold_ns are samples with their own length, and of the
 * shorter ones those of at least period_ns, too; a block below both comes with a probability
 * of its length / period_ns, and then stands for period_ns. So the expected sum is the true
 * one. period_ns 0: all count. At most CAPTURE_MAX_PERIOD_NS.
 */
void capture__set_sampling(struct capture *capture, uint64_t period_ns, uint64_t threshold_ns);

/* The current values: with options.max_rate the programs increase both while samples are many. */
void capture__sampling(const struct capture *capture, uint64_t *period_ns, uint64_t *threshold_ns);

/*
 * Switches the kernel's statistics of BPF run time on or off; they add some tens of nanoseconds to
 * each run. 0 or a negative errno: it takes CAP_SYS_ADMIN.
 */
int capture__measure(struct capture *capture, bool on);

/* Work of the programs since the previous call; all 0 in the first. */
struct capture_cost {
	uint64_t runs;		/* while capture__measure() was on, on all CPUs */
	uint64_t run_ns;	/* of these */
	uint64_t seen;		/* blocks */
	uint64_t kept;		/* of these, recorded in samples */
	uint64_t not_drawn;	/* of these, not drawn */
	uint64_t short_ns;	/* of those in sums and those that were not drawn */
	uint64_t seen_busiest;	/* of these, on the busiest CPU */
};
int capture__cost(struct capture *capture, struct capture_cost *cost);

/* True if samples carry copies: requested, and supported here. */
bool capture__copies(const struct capture *capture);

/* Whether user stacks are walked by unwind tables; only those of blocked threads are copied. */
bool capture__walks_by_tables(const struct capture *capture);

/*
 * With copies.chosen: from now on samples of the process carry copies, or no longer. 0 or a
 * negative errno: -E2BIG if there are too many such processes.
 */
int capture__choose(struct capture *capture, pid_t pid, bool chosen);

/* The hook that was attached. */
enum attach_hook capture__attach_hook(const struct capture *capture);

/* Accepts NULL. */
void capture__delete(struct capture *capture);

#endif /* DENET_CAPTURE_H */
