/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The programs' state: settings, maps, and per-CPU room. */
#ifndef DENET_MAPS_BPF_H
#define DENET_MAPS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "kernel_walk.bpf.h"
#include "sample_budget.h"
#include "user_walk.bpf.h"
#include "wire.h"

#define ENTRIES_MAX 49152 /* windowed sums in one generation */
#define STACKS_MAX 49152  /* distinct stacks in one generation */
#define REASONS_MAX 16384  /* distinct reasons in one generation */
#define ENOSPC 28 /* of errno.h, which is not for programs */

const volatile struct wire_settings settings = {};
const volatile __u8 calls[WIRE_MAX_CALLS] = {}; /* enum wire_call, by number */

/* The phase of the recording; set by user space. */
volatile __u32 phase = WIRE_PHASE_IDLE;
volatile __u64 start_ns;      /* blocks that began before count from here */
volatile __u64 threshold_ns;  /* blocks this long become samples of their own */
volatile __u64 period_ns;     /* of the shorter ones, one is drawn for so much time; 0: all count */
struct sample_budget budget;  /* increases both of them */
volatile __u64 end_ns;        /* end of the recording; 0: not known yet */
volatile __u64 window_ns;     /* end of the window whose running time is reported */
volatile __u32 generation;    /* which of the two generations takes new sums */
volatile __u32 nr_sums[2];     /* entries in each generation */
volatile __u32 nr_stacks[2];      /* stacks in each generation */
volatile __u32 nr_reasons[2];       /* reasons in each generation */
volatile __s64 targets_alive; /* tasks with storage */
volatile __u64 targets_found; /* by the pass that counts them */
volatile __u32 strays; /* a task lacks a state that it should have; user space clears it */
volatile __u32 lists_named; /* what list_code lists was named by user space, which knows targets */
volatile __u64 last_incarnation;
volatile __u32 walking_pid; /* process whose memory the sleepable iterator is reading */

/* State of a task. It is freed with the task, so a reused pid cannot inherit a stamp. */
struct task_state {
	__u64 since;       /* when it left the CPU; 0: it has not */
	__u64 woken;       /* when it was woken last, since it was on a CPU; 0: it was not seen */
	__u64 incarnation; /* unique in a recording */
	__u64 run_delay;   /* sched_info.run_delay when it got a CPU last, or was enlisted */
	__u64 runnable_ns; /* it waited so long for a CPU, */
	__u64 throttled_ns; /* and so long for the CPU quota of its cgroup */
	__u8 flags;        /* TASK_STATE_* */
	__u8 state;        /* enum wire_state, of the block that began at since */
	__u8 preempted;
	__u8 ran; /* was on a CPU during the recording */
	__u8 throttled; /* the block waits for a quota */
	__u8 claimed; /* the iterator has told its block, and its wait for a CPU until the end */
	__u8 owner_shared; /* wire_user.owner_shared, of owner */
	__u8 handed_over;  /* a thread of its own process woke it last, see waker.bpf.h */
	/* The group that it was in at the last look, and TASK_CGROUP_WANTED if that is recorded. */
	__u64 cgroup[WIRE_CGROUP_MAX];
	__u32 owner; /* wire_reason.owner, when the block began */
	/* In a PID namespace, once it exits: it loses both numbers before its last switch. */
	__u32 pid;
	__u32 tid;
	/* Where time on a CPU is recorded, see running.bpf.h: */
	__u32 run_seen; /* run_ns as last reported, in part; or RUN_TOLD */
	__u64 on_since; /* when it got the CPU that it is on; 0: it is on none, or as ever */
	__u64 run_ns;	/* the stretches on a CPU that have ended */
	__u64 rest_ns;	/* blocks that have ended, and stretches that are not wanted */
	__u64 born;	/* 0: it lived before the recording */
};

/* With one byte more the kernel would use 256 bytes instead of 192. */
_Static_assert(sizeof(struct task_state) <= 120, "the states of 100,000 tasks take too much");

#define TASK_CGROUP_WANTED (1ULL << 63) /* no id of a cgroup is that large */

#define TASK_STATE_BY_TID 1U /* a target as a thread, not as part of its process */
#define TASK_STATE_KTHREAD 2U

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} task_states SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, struct wire_target);
	__type(value, __u32);
} targets SEC(".maps");

/* Processes whose memory did not answer: the sleepable iterator skips them. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, __u32);
	__type(value, __u32);
} skip_pids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
} rings SEC(".maps");

/*
 * For CPUs without a ring: they have just come online, or were offline in a suspend, after which
 * all threads may wake at once.
 */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} overflow_ring SEC(".maps");

/*
 * Of each generation a map, chosen by a branch: in a map of maps each place that is filled
 * takes a grace period, which made a start tens of ms longer.
 */
struct entries_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ENTRIES_MAX);
	__type(key, struct wire_entry_key);
	__type(value, struct wire_entry);
} entries0 SEC(".maps"), entries1 SEC(".maps");

/* Ids of the stacks that this generation has sent. */
struct stacks_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STACKS_MAX);
	__type(key, __u64);
	__type(value, __u64);
} stacks0 SEC(".maps"), stacks1 SEC(".maps");

/* Ids of the reasons that this generation has sent. */
struct reasons_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, REASONS_MAX); /* 1 where reasons are off */
	__type(key, __u64);
	__type(value, __u64);
} reasons0 SEC(".maps"), reasons1 SEC(".maps");

/* Becomes readable when the last target has died, which saves user space the polling. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* a page, set by user space */
} bell SEC(".maps");

/* Not read by programs: an update of a map of maps is a barrier, see window_maps.c. */
struct barrier_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} barrier_inner SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct barrier_map);
} barrier SEC(".maps");

/* Sent from the block on, or with the reason in front of it. */
struct full_block {
	struct wire_reason reason;
	struct wire_block block;
	__u64 ips[2 * WIRE_MAX_FRAMES];
};

struct full_stack {
	struct wire_stack stack;
	__u64 ips[WIRE_MAX_FRAMES];
};

/*
 * A CPU's room. Used by the switch hooks only, which the scheduler never nests: both run
 * with preemption off.
 */
struct cpu {
	struct wire_cpu own;
	struct full_block full;
	struct full_stack out;
	struct kernel_walk walk;
	struct user_walk user_walk;
	/* The last ones that were walked into full. */
	struct walked_side kernel_side;
	struct walked_side user_side;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu);
} cpus SEC(".maps");

/* The iterators' room; one of each runs at a time. */
struct iter_room {
	struct full_block full;
	struct kernel_walk walk;
	struct user_walk user_walk;
	struct frame_room found; /* by user_walk */
	struct {
		struct wire_user user;
		__u64 ips[WIRE_MAX_FRAMES];
	} user;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct iter_room);
} iter_rooms SEC(".maps");

/*
 * The value of a key in the map of a generation; NULL: none. The empty statements differ, so that
 * clang does not make one call of the two: of a map that is known only when the program runs, the
 * kernel would have to call the look-up through a pointer.
 */
static __always_inline void *find_in(void *map0, void *map1, __u32 gen, const void *key)
{
	void *value;

	if (gen & 1) {
		value = bpf_map_lookup_elem(map1, key);
		asm volatile("" : "+r"(value) : "i"(1));
	} else {
		value = bpf_map_lookup_elem(map0, key);
		asm volatile("" : "+r"(value) : "i"(0));
	}
	return value;
}

/* The value of an id in a set; NULL: none. */
static __always_inline void *find_id(void *set0, void *set1, __u32 gen, const __u64 *id)
{
	return find_in(set0, set1, gen, id);
}

/* 0, or negative if it has no room, or has the id already. */
static __always_inline long add_id(void *set0, void *set1, __u32 gen, const __u64 *id)
{
	__u64 one = 1;

	return gen & 1 ? bpf_map_update_elem(set1, id, &one, BPF_NOEXIST) :
			 bpf_map_update_elem(set0, id, &one, BPF_NOEXIST);
}

/*
 * A number of frames with a bound for the verifier: the mask is explicit, since clang would leave
 * it out.
 */
static __always_inline __u32 bounded_frames(__u32 nr)
{
	_Static_assert((WIRE_MAX_FRAMES & (WIRE_MAX_FRAMES + 1)) == 0, "no mask");
	asm volatile("%0 &= %1" : "+r"(nr) : "i"(WIRE_MAX_FRAMES));
	return nr;
}

/*
 * Sets the end of the recording, from a program that user space runs: with preemption disabled, so
 * that no switch of this CPU comes between the clock and the write.
 */
static __always_inline int set_end_ahead(void)
{
	end_ns = bpf_ktime_get_ns() + WIRE_END_AHEAD_NS;
	return 0;
}

/*
 * Whether the recording was over at that time. Its end is set before it comes, so each hook finds
 * out by its own clock, and all of them agree on it to the nanosecond.
 */
static __always_inline bool is_over(__u64 now)
{
	__u64 end = end_ns;

	return end && now > end;
}

static __always_inline struct cpu *this_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&cpus, &zero);
}

/* Sends a record to the ring of this CPU, or, without one, to the shared ring. */
static __always_inline long send_record(void *ctx, void *record, __u64 size)
{
	long err = bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, record, size);

	return err && err != -ENOSPC
		       ? bpf_ringbuf_output(&overflow_ring, record, size, BPF_RB_NO_WAKEUP)
		       : err;
}

static __always_inline void tally(struct wire_tally *tally, __u64 ns)
{
	tally->count++;
	tally->ns += ns;
}

static __always_inline void tally_outcome(struct cpu *cpu, enum wire_outcome outcome, __u64 ns)
{
	tally(&cpu->own.accounts.outcome[outcome], ns);
}

#endif /* DENET_MAPS_BPF_H */
