/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The wire: the records and settings exchanged by the BPF programs and user space. Compiled by
 * clang -target bpf and by gcc; fixed widths, explicit padding, sizes asserted.
 *
 * Nothing here is ever written to a file: the decoder (util/capture/decode.c) turns these records
 * into struct sample, and they end there. Both sides are built together, so fields may move; the
 * enums below index arrays on both sides.
 */
#ifndef DENET_WIRE_H
#define DENET_WIRE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "user_regs.h"

#define WIRE_MAX_FRAMES 127 /* per side; default of kernel.perf_event_max_stack */
#define WIRE_COMM_LEN 16

/* The off-CPU state of a block. Bit numbers in wire_settings.states. */
enum wire_state {
	WIRE_STATE_R = 0, /* runnable: preempted or yielded */
	WIRE_STATE_S = 1, /* interruptible sleep */
	WIRE_STATE_D = 2, /* uninterruptible sleep */
	WIRE_STATE_T = 3, /* stopped by a signal */
	WIRE_STATE_t = 4, /* stopped by a tracer */
	WIRE_STATE_I = 5, /* idle kernel thread (uninterruptible, not load) */
	WIRE_STATE_P = 6, /* parked */
	WIRE_STATE_X = 7, /* dying: never comes back, never a block */
	WIRE_STATE_OTHER = 8,
	WIRE_STATE_MAX = 9,
};

/* Phase of a recording. */
enum wire_phase {
	WIRE_PHASE_IDLE = 0,  /* inactive */
	WIRE_PHASE_ENLISTING, /* tasks get their state; nothing is stamped or recorded */
	WIRE_PHASE_RUNNING,
	WIRE_PHASE_CLOSING,   /* the end has come; iterators report what is under way */
};

/* How far ahead the end of a recording is set, so that each CPU sees it before it comes. */
#define WIRE_END_AHEAD_NS 100000U

/* The outcome of a block. Every block that is seen has exactly one. */
enum wire_outcome {
	WIRE_OUTCOME_DIRECT = 0,	    /* sent as a sample of its own */
	WIRE_OUTCOME_ACCUMULATED,	    /* added to a windowed sum */
	WIRE_OUTCOME_FILTERED_STATE,   /* state not requested */
	WIRE_OUTCOME_FILTERED_MIN,	    /* shorter than min_block */
	WIRE_OUTCOME_FILTERED_MAX,	    /* longer than max_block */
	WIRE_OUTCOME_FILTERED_IDLE, /* a wake-up that ended a wait for work */
	WIRE_OUTCOME_NOT_DRAWN,	    /* others stand for it in the sample */
	WIRE_OUTCOME_LOST_RING,	    /* no room in the ring */
	WIRE_OUTCOME_LOST_INTERNAL,    /* the histogram has no row for it */
	WIRE_OUTCOME_MAX,
};

struct wire_tally {
	__u64 count;
	__u64 ns;
};

/* The end of a walk by tables; the first value is no failure. */
enum user_walk_end {
	USER_WALK_WHOLE = 0,
	USER_WALK_FRAMES,     /* there are more than fit */
	USER_WALK_NO_TABLE,   /* the table of a file was not made yet */
	USER_WALK_NO_CFI,     /* no call frame information, and no chain of frame pointers */
	USER_WALK_UNREADABLE, /* the stack is not in memory, or no stack */
	USER_WALK_NO_RULE,    /* the rule has no equivalent in ours */
	USER_WALK_BUSY,	      /* the mappings were being changed */
	USER_WALK_FORBIDDEN,  /* user space may not open a file, and so has no table of it */
	USER_WALK_ENDS,
};

/* Per-CPU counters; user space adds the CPUs up. */
struct wire_accounts {
	struct wire_tally seen; /* counted before any decision */
	struct wire_tally outcome[WIRE_OUTCOME_MAX];
	__u64 unseen;		/* switches of targets without storage, or that were not shown */
	__u64 lost_stacks;	/* stack records the ring had no room for */
	__u64 full_entries;	/* blocks sent directly because the sums were full */
	__u64 full_stacks;	/* blocks sent directly because the stack set was full */
	__u64 lost_reasons;	/* reason records the ring had no room for */
	__u64 copies;		/* copies of user stacks that were sent */
	__u64 lost_copies;	/* the ring had no room for */
	__u64 ringless_copies;	/* not sent, since the CPU had no ring yet */
	__u64 compat_copies;	/* not taken, since the task is a 32-bit one */
	__u64 unread_copies;	/* not taken, since no byte at sp was in memory */
	__u64 orc_walks;	/* kernel stacks that the programs walked themselves */
	__u64 orc_fallbacks;	/* of these, walked by the kernel after all */
	struct wire_tally user_walks[USER_WALK_ENDS]; /* blocks by how the walk by tables ended */
	struct wire_tally no_stack; /* kept blocks whose stacks were not parked */
	__u64 runnable_ns;  /* waits for a CPU, whatever the outcome of their blocks */
	__u64 preempted_ns; /* of these, outside of sleeps */
	__u64 throttled_ns; /* waits for the CPU quota of a cgroup */
	/* With on_cpu, of all blocks whatever their outcome: */
	__u64 queued_ns;    /* their runnable part */
	__u64 blocked_ns;   /* and the rest of them */
	__u64 lost_runs;    /* wire_run records the ring had no room for */
};

/* Lengths of the blocks of one state: a bucket for each range. */
#define WIRE_HIST_BUCKETS 32

struct wire_hist {
	struct wire_tally buckets[WIRE_HIST_BUCKETS];
};

/* The part of a CPU's map value that user space reads: its first bytes. */
struct wire_cpu {
	__u64 now; /* of the last switch whose first hook was shown */
	__u32 next; /* the thread that it gave the CPU to */
	__u32 reserved;
	__u64 random; /* state of the draw, 0: not seeded yet */
	struct wire_accounts accounts;
};

enum wire_kind {
	WIRE_BLOCK = 1, /* one block, with its stacks */
	WIRE_STACK = 2, /* a stack that sums of this generation refer to */
	WIRE_USER = 3,	/* user frames of a thread that is still blocked */
	WIRE_CGROUP_BORN = 4,
	WIRE_REASON = 5, /* object that the next block, or sums of this generation, waited for */
	WIRE_COPY = 6,	/* user registers and stack of the next block on this CPU */
	WIRE_THREAD = 7, /* a thread's waits for a CPU, when it ends */
	WIRE_RUN = 8,	 /* a thread's running time */
};

struct wire_head {
	__u32 kind; /* enum wire_kind */
	__u32 size; /* bytes of the whole record, this head included */
};

/* The frames follow the struct: nr_kernel, then nr_user, each leaf first. */
struct wire_block {
	struct wire_head head;
	__u64 time;	   /* ns, CLOCK_MONOTONIC: when the block ended */
	__u64 ns;	   /* how long it was */
	__u64 weight;	   /* ns that it stands for; more than ns if it was drawn */
	__u64 cgroup;	   /* id of its cgroup, 0 unless requested */
	__u32 pid;	   /* process (tgid) */
	__u32 tid;	   /* thread */
	__u32 cpu;	   /* where it ended; in flight: where the thread ran last */
	__u32 state;	   /* enum wire_state */
	__u32 flags;	   /* WIRE_BLOCK_* */
	__u32 stack_bytes; /* of the wire_copy that was sent before it; 0: there is none */
	__u16 nr_kernel;   /* frames, leaf first */
	__u16 nr_user;
	__u32 reserved;
	__u64 incarnation; /* of the thread */
	__u64 since;	   /* when it began, or the recording did; for blocks in flight */
	__u64 runqueue_ns; /* of ns, at its end: woken, or preempted, it waited for a CPU */
};

/* Class of a system call, by its number: the argument that names the object of the wait. */
enum wire_call {
	WIRE_CALL_OTHER = 0,
	WIRE_CALL_FD,	 /* the first argument is a descriptor */
	WIRE_CALL_POLL,	 /* the first argument points to descriptors: the first one is reported */
	WIRE_CALL_PATH,	 /* the first argument points to a path */
	WIRE_CALL_PATHAT, /* the second one does */
	WIRE_CALL_FUTEX,
	WIRE_CALL_FUTEX_WAIT, /* the one without an operation, since 6.7 */
	WIRE_CALL_EPOLL,      /* a WIRE_CALL_FD that waits for other descriptors */
	WIRE_CALL_JUDGED = 32, /* a bit: by some rule a wait in it may be one for work */
	WIRE_CALL_IDLE_GIVEN = 64, /* a bit: that is a user's rule, whatever ends the wait */
	WIRE_CALL_IDLE = 128, /* a bit: a thread that sleeps in it waits for work */
};

enum wire_object {
	WIRE_OBJECT_NONE = 0,
	WIRE_OBJECT_FILE,
	WIRE_OBJECT_SOCKET,
	WIRE_OBJECT_PATH, /* as the caller wrote it: names hold one string */
};

#define WIRE_MAX_CALLS 512
#define WIRE_PATH_NAMES 8
#define WIRE_NAME_LEN 48
#define WIRE_TITLE_LEN 64

/*
 * The object that a thread waited for. In the ring it stands in front of its block, in one piece
 * with it; alone, it belongs to sums.
 */
struct wire_reason {
	struct wire_head head;
	__u64 id; /* hash over the key of a reason; never 0 */
	__u32 generation;
	__s32 nr; /* of the system call; -1: in none */
	__u64 args[6];
	__u32 flags;  /* WIRE_REASON_* */
	__u32 object; /* enum wire_object */
	__u64 ino;
	__u32 dev;  /* of the file's file system, as the kernel packs it: major << 20 | minor */
	__u32 rdev; /* of a device */
	__u32 mode;
	__s32 fd;
	__u16 family;
	__u16 protocol;
	__u16 local_port;  /* host order */
	__u16 remote_port; /* network order */
	__u8 local[16];
	__u8 remote[16];
	__u32 nr_names;
	__u32 owner;	  /* tid of the mutex's holder in the waiter's PID namespace; 0: unknown */
	__u64 heap_start; /* of the process whose heap the futex lies in; 0: it lies elsewhere */
	__s32 ready_fd;	  /* of an epoll: the descriptor that ended the wait; -1: unknown */
	__u16 ready_family;
	__u16 ready_port; /* of its remote end, network order */
	__u8 ready_remote[16];
	char title[WIRE_TITLE_LEN]; /* of the process: the first of its arguments as it is now */
	char names[WIRE_PATH_NAMES][WIRE_NAME_LEN]; /* of the path, the last one first */
};

#define WIRE_REASON_COMPAT 1U /* a 32-bit call: the number is of another table */
#define WIRE_REASON_CUT 2U    /* the path has more names in front */
#define WIRE_REASON_SHARED 4U /* the owner may be of another process */
#define WIRE_REASON_INNER_PIDS 8U /* the waiter is in a PID namespace below the recorder's */

#define WIRE_BLOCK_PREEMPTED 1U /* the state is R and the switch was involuntary */
#define WIRE_BLOCK_KTHREAD 2U	/* a kernel thread */
#define WIRE_BLOCK_TRUNC_KERNEL 4U /* as many frames as the limit allows: cut */
#define WIRE_BLOCK_TRUNC_USER 8U
#define WIRE_BLOCK_IN_FLIGHT 16U /* had not ended when the recording did */
#define WIRE_BLOCK_NEVER_RAN 32U /* in flight since before the recording began */
#define WIRE_BLOCK_WAKEUP 64U	 /* not a block: a wake-up, in its waker's context */
#define WIRE_BLOCK_HANDED_OVER 512U /* with wakers: a thread of the same process ended it */
#define WIRE_BLOCK_THROTTLED 256U /* the state is R, for want of its cgroup's CPU quota */
#define WIRE_BLOCK_BY_TABLES 1024U /* the user frames were found by unwind tables; */
#define WIRE_BLOCK_WALK_SHIFT 16 /* the bits from here on: that walk's enum user_walk_end */
#define WIRE_BLOCK_ON_CPU 4096U	/* not a block: a look at a CPU; ns is what its thread has run */
#define WIRE_BLOCK_COPY_LOST 128U /* its copy was taken, and there was no ring or no room in it */

/* The frames follow the struct, leaf first. */
struct wire_stack {
	struct wire_head head;
	__u64 id; /* hash over the frames; 0 is the empty stack, never sent */
	__u32 generation;
	__u16 nr;
	__u16 user; /* 1: user frames, 0: kernel frames */
};

/* From the sleepable iterator: joined with the block of the same thread and stamp. */
struct wire_user { /* the frames follow */
	struct wire_head head;
	__u64 incarnation;
	__u64 since; /* the stamp it had when its frames were read */
	__u32 tid;
	__u16 nr;
	__u8 truncated;
	__u8 compat; /* a 32-bit task */
	__u32 owner; /* as wire_reason.owner */
	__u8 owner_shared; /* it may be of another process */
	__u8 by_tables; /* the frames were found by unwind tables, up to the root */
	__u8 forbidden; /* they were not, for want of a file that may not be opened */
	__u8 reserved;
	char title[WIRE_TITLE_LEN]; /* as wire_reason.title */
};

#define WIRE_REGS USER_NR_REGS
#define WIRE_PAGE 4096
/*
 * A sample of perf is at most 65528 bytes long, of which its header and the id of its event take
 * 8 each, the size of the raw data 4, and the struct its own.
 */
#define WIRE_MAX_COPY (65480 - 8 * WIRE_REGS)
/* A read of a bpf_iter returns at most 32 kB, which include the frames of the same task. */
#define WIRE_MAX_ITER_COPY 28672

#define WIRE_MAX_COPY_PIDS 4096

/*
 * Registers, and the stack from sp on up to the record's end, from which a block's user stack is
 * unwound. In the ring it stands before its block; records of interrupts may come between the two,
 * so they are joined by thread and time. From the sleepable iterator it follows the wire_user of
 * the same thread, and time is that one's since.
 */
struct wire_copy {
	struct wire_head head;
	__u64 incarnation;
	__u64 time; /* wire_block.time, or wire_user.since */
	__u64 regs[WIRE_REGS];
};

/* The time that a thread waited for a CPU in the recording, if it is worth a record. */
struct wire_thread {
	struct wire_head head;
	__u32 pid;
	__u32 tid;
	__u64 runnable_ns;
	__u64 throttled_ns;
	char comm[WIRE_COMM_LEN];
};

/*
 * The life of a thread in the recording so far: its running time that passes the filters, and the
 * rest. Both only grow. From an iterator, or from a thread that ends.
 */
struct wire_run {
	struct wire_head head;
	__u64 incarnation;
	__u64 time;
	__u64 run_ns;
	__u64 rest_ns;
	__u64 life_ns; /* at the end of the thread or of the recording: how long it was; else 0 */
	__u64 cgroup;  /* as in wire_block, as are the following */
	__u32 pid;
	__u32 tid;
	__u32 cpu;
	__u32 flags;
};

/* Threads that end with less are in the counters of CPUs only. */
#define WIRE_THREAD_LEAST_NS 1000000U

/* A cgroup was made: its path and a NUL follow the struct. */
struct wire_cgroup_born {
	struct wire_head head;
	__u64 id;
};

#define WIRE_MAX_PATH 4096

/* Windowed sums: one entry for each (task incarnation, state, stacks, cgroup). */
struct wire_entry_key {
	__u64 incarnation; /* unique for each task in a recording; survives PID reuse */
	__u64 kernel_id;   /* wire_stack.id */
	__u64 user_id;
	__u64 reason_id; /* wire_reason.id, 0 unless requested */
	__u64 cgroup;
	__u32 pid;
	__u32 tid;
	__u32 state;
	__u32 flags;
};

struct wire_entry {
	__u64 ns;
	__u64 count;
	__u64 time; /* end of the latest block */
	__u32 cpu;  /* of the latest block */
	__u32 reserved;
	__u64 runqueue_ns; /* of ns */
};

/* A task, as the start iterator saw it. */
struct wire_task {
	__u32 pid;
	__u32 tid;
	__u32 ppid;
	__u32 flags; /* WIRE_TASK_* */
	__u64 start; /* ns since boot (CLOCK_BOOTTIME) at which it began */
	char comm[WIRE_COMM_LEN];
};

#define WIRE_TASK_TARGET 1U
#define WIRE_TASK_KTHREAD 2U
#define WIRE_TASK_OWN 4U

/* A key of the target map, compared with a task. */
enum wire_target_kind {
	WIRE_TARGET_PID = 1,
	WIRE_TARGET_TID = 2,
	WIRE_TARGET_UID = 3, /* narrows the others */
};

struct wire_target {
	__u32 kind; /* enum wire_target_kind */
	__u32 id;
};

/* Where a cgroup is: in v2, or in the v1 hierarchy of the perf_event controller. */
enum wire_cgroup_hierarchy {
	WIRE_CGROUP_V2 = 0,
	WIRE_CGROUP_V1 = 1,
	WIRE_CGROUP_MAX = 2,
};

/* A key of the map of cgroups that are recorded. */
struct wire_cgroup {
	__u64 id; /* the inode of its directory */
	__u32 hierarchy;
	__u32 reserved;
};

#define WIRE_MAX_CGROUPS 256
#define WIRE_MAX_CPUS 8192

/* Filters of the targets, and the namespace of their ids. */
struct wire_filter {
	__u32 pid_ns; /* inode of the recorder's PID namespace; 0: the first one */
	__u8 cpus;    /* only blocks that end on the CPUs of cpu_bits */
	__u8 users;   /* only tasks of WIRE_TARGET_UID */
	__u8 cgroup_v2;
	__u8 cgroup_v1;
	__u64 cpu_bits[WIRE_MAX_CPUS / 64];
};

/* Kernel code that distinguishes an interrupt from a thread's own work; 0: unknown. */
struct wire_irq_ranges {
	__u64 interrupt_start; /* the code by which interrupts enter */
	__u64 interrupt_end;
	__u64 bh_start; /* the function by which a thread does soft interrupts' work itself */
	__u64 bh_end;
};

/* Pids of wakers that are no thread or have no id here. No real pid is that large. */
#define WIRE_PID_INTERRUPT 0x7fffffffU
#define WIRE_PID_OUTSIDE 0x7ffffffeU /* not in the recorder's PID namespace */

/* An ORC table of the kernel, by which its stacks are unwound: that of vmlinux or of a module. */
struct wire_orc_table {
	__u64 start; /* of the code that it describes */
	__u64 end;
	__u64 ips;     /* kernel address of nr s32: offsets from themselves, ascending */
	__u64 entries; /* kernel address of nr packed struct orc_entry */
	__u64 nr;
};

#define WIRE_MAX_ORC_MODULES 512
#define WIRE_ORC_RULES 32768 /* cached rules; a power of two */
#define WIRE_ORC_NO_END 255

/*
 * Constants of this kernel for the walk of kernel stacks (kernel_walk.bpf.h). User space
 * writes it once the kernel's symbols are known; modules may change it.
 */
struct wire_orc {
	struct wire_orc_table vmlinux;
	__u64 schedule_start; /* __schedule() */
	__u64 schedule_end;
	__u64 switch_ret;     /* the return address in it of all tasks that were switched out */
	__u32 frame_words;    /* from the stack pointer there to its CFA, the same for all tasks */
	__s32 frame_bp;	      /* from the CFA to the caller's bp, in words */
	__u64 syscall_start;  /* do_syscall_64() */
	__u64 syscall_end;
	__u64 syscall_caller; /* the one return address in its caller; learnt by the programs */
	__u64 stops[4];	      /* two ranges of code that stands in for a return address */
	__u64 scheduler[4];   /* two ranges of code that bpf_get_task_stack() leaves out */
	__u32 nr_modules;     /* tables in orc_modules, by ascending start */
	__u32 epoch;	      /* changes with the modules: a rule found meanwhile is not kept */
	__u8 ready;	      /* the walk has been proven: the hooks may use it */
	__u8 type_shift;      /* of the bit fields behind the two offsets of an orc_entry */
	__u8 type_mask;
	__u8 end_shift; /* WIRE_ORC_NO_END: the type tells the end */
	__u8 renumbered; /* Linux 7.3 numbers registers anew */
	__u8 reserved[3];
};

/* A task that is off the CPU, as seen by the iterator: where __schedule() left it. */
struct wire_orc_sleeper {
	__u64 sp;    /* of __schedule(), behind the call of __switch_to_asm() */
	__u64 bp;
	__u64 ret;   /* the address behind that call */
	__u64 entry; /* the six bytes of the orc_entry of that address; 0: not found */
};

/* Asks for a module's table: the address of its struct module in, the table out. */
struct wire_orc_module {
	__u64 module;
	struct wire_orc_table table;
};

/* Fixed before the programs are loaded, so that the verifier prunes what is off. */
/* Blocks that carry copies of stacks, if any; those of blocked threads always do. */
enum wire_copied {
	WIRE_COPIED_ALL = 0,
	WIRE_COPIED_CHOSEN, /* those of the processes of copy_pids */
	WIRE_COPIED_BRIDGED, /* some of those whose walk by tables met a file without one */
};

struct wire_settings {
	__u64 min_ns;	    /* shorter blocks are not recorded; 0: no minimum */
	__u64 max_ns;	    /* longer blocks are not recorded; ~0: no maximum */
	__u32 states;	    /* bit mask over enum wire_state */
	__u32 own_pid;	    /* the recorder: never recorded */
	__u32 max_frames;   /* per side, at most WIRE_MAX_FRAMES */
	__u32 copy_bytes;   /* of user stack; a multiple of 8; 0: none is copied */
	__u64 seed;	    /* of the draw */
	__u64 max_rate;	    /* samples a second, enforced by a coarser draw; 0: no limit */
	__u8 all;	    /* every task is a target */
	__u8 kernel_threads;
	__u8 no_inherit;
	__u8 kernel_stacks;
	__u8 user_stacks;
	__u8 cgroups;	  /* 0: no ids in samples; else 1 + enum wire_cgroup_hierarchy */
	__u8 walk_at_out; /* stacks are parked at switch-out, if any are needed */
	__u8 split_runqueue; /* blocks have their runnable part */
	__u8 wakeup_stamps; /* by stamps of wake-ups, not by sched_info */
	__u8 wakers;
	__u8 reasons;
	__u8 copied;	  /* enum wire_copied */
	__u8 histogram; /* only the lengths of blocks are counted */
	__u8 skip_idle; /* wake-ups of threads that wait for work are left out */
	__u8 children; /* living descendants of a target process are targets, too */
	__u8 judge_idle; /* kernel stacks are walked only for possible waits for work */
	__u8 on_cpu;	 /* running time is reported, and a clock samples the CPUs */
	__u8 no_user_threads; /* only kernel threads are targets */
	__u8 reserved[6];
	struct wire_filter filter;
	struct wire_irq_ranges waker;
};

#define WIRE_ASSERT(type, bytes) \
	_Static_assert(sizeof(struct type) == (bytes), #type " is not " #bytes " bytes")
WIRE_ASSERT(wire_head, 8);
WIRE_ASSERT(wire_block, 96);
WIRE_ASSERT(wire_stack, 24);
WIRE_ASSERT(wire_reason, 184 + WIRE_TITLE_LEN + WIRE_PATH_NAMES * WIRE_NAME_LEN);
WIRE_ASSERT(wire_user, 40 + WIRE_TITLE_LEN);
WIRE_ASSERT(wire_copy, 24 + 8 * WIRE_REGS);
WIRE_ASSERT(wire_thread, 48);
WIRE_ASSERT(wire_run, 72);
WIRE_ASSERT(wire_entry_key, 56);
WIRE_ASSERT(wire_entry, 40);
WIRE_ASSERT(wire_task, 40);
WIRE_ASSERT(wire_target, 8);
WIRE_ASSERT(wire_cgroup, 16);
WIRE_ASSERT(wire_cgroup_born, 16);
WIRE_ASSERT(wire_filter, 8 + WIRE_MAX_CPUS / 8);
WIRE_ASSERT(wire_irq_ranges, 32);
WIRE_ASSERT(wire_hist, 16 * WIRE_HIST_BUCKETS);
WIRE_ASSERT(wire_settings, 72 + 8 + WIRE_MAX_CPUS / 8 + 32);
WIRE_ASSERT(wire_accounts, 16 * (2 + WIRE_OUTCOME_MAX + USER_WALK_ENDS) + 144);
WIRE_ASSERT(wire_orc_table, 40);
WIRE_ASSERT(wire_orc, 40 + 56 + 64 + 16);
WIRE_ASSERT(wire_orc_sleeper, 32);
WIRE_ASSERT(wire_orc_module, 48);

#endif /* DENET_WIRE_H */
