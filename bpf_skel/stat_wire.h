/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The counts and totals that bpf_skel/stat.bpf.c keeps, as user space reads them. Compiled by clang
 * -target bpf and by gcc, as wire.h is; the two sides are built together.
 */
#ifndef DENET_STAT_WIRE_H
#define DENET_STAT_WIRE_H

#include "wire.h"

/* Lengths in powers of two of ns: the first bucket holds those below 1 << STAT_WIRE_SHIFT. */
#define STAT_WIRE_BUCKETS 32
#define STAT_WIRE_SHIFT 7

struct stat_wire_times {
	__u64 count;
	__u64 ns;
	__u64 max_ns;
	__u64 not_min_ns; /* ~min: 0 stands for no value, and it only grows, as max does */
	__u32 hist[STAT_WIRE_BUCKETS];
};

/* The same without lengths. */
struct stat_wire_state {
	__u64 count;
	__u64 ns;
	__u64 max_ns;
	__u64 not_min_ns;
};

/* The time of a thread, or of threads that have ended. */
struct stat_wire_sums {
	struct stat_wire_times offcpu;
	struct stat_wire_state state[WIRE_STATE_MAX];
	__u64 wall_ns;
	__u64 running_ns;
	__u64 runnable_ns;
	__u64 blocked_ns;
};

/*
 * A system call. Those of one owner form a list: next is an index of the array of all of them, 0
 * is the end.
 */
struct stat_wire_call {
	__u32 key; /* STAT_WIRE_CALL_KEY() */
	__u32 next;
	__u64 errors;
	__u64 blocked_ns;
	struct stat_wire_times times;
};

/* Number, table of numbers, and type of the file: enum stat_wire_file. */
#define STAT_WIRE_CALL_NR 0xffffU
#define STAT_WIRE_CALL_COMPAT 0x10000U
#define STAT_WIRE_CALL_X32 0x20000U
#define STAT_WIRE_CALL_FILE_SHIFT 20
#define STAT_WIRE_CALL_USED 0x80000000U /* no key is 0 */

enum stat_wire_file {
	STAT_WIRE_FILE_NONE = 0,
	STAT_WIRE_FILE_REGULAR,
	STAT_WIRE_FILE_SOCKET,
	STAT_WIRE_FILE_PIPE,
	STAT_WIRE_FILE_OTHER,
};

#define STAT_WIRE_MAX_CALLS 65536 /* of all owners */
#define STAT_WIRE_LIST 512	  /* of one owner */

/* A thread that has not ended, from the iterator. */
struct stat_wire_thread {
	__u32 pid;
	__u32 tid;
	__u32 ppid;
	__u32 flags; /* STAT_WIRE_KTHREAD */
	__u64 incarnation;
	__u64 leader; /* incarnation of its process's first thread; 0: that is no target */
	__u64 time;   /* its sums are those of then */
	char comm[WIRE_COMM_LEN];
	__u32 first_call;
	__u32 open_call; /* key of the call that it is in; 0: none */
	__u64 open_since;
	struct stat_wire_sums sums;
};

#define STAT_WIRE_KTHREAD 1U

/* Threads of a process that have ended while they had that name; pid 0: of any process. */
struct stat_wire_ended_key {
	__u32 pid;
	char comm[WIRE_COMM_LEN];
};

struct stat_wire_ended {
	__u32 ppid;
	__u32 flags;
	__u32 threads;
	__u32 first_call;
	__u32 leader_ended; /* the process's first thread is among them */
	__u32 reserved;
	struct stat_wire_sums sums;
};

#define STAT_WIRE_MAX_ENDED 8192
#define STAT_WIRE_MAX_NAMES 1024

/* What found no room. */
struct stat_wire_losses {
	__u64 ended; /* threads */
	__u64 calls;
	__u64 folds; /* steps of the ends of threads: a reader compares it before and after */
};

WIRE_ASSERT(stat_wire_times, 32 + 4 * STAT_WIRE_BUCKETS);
WIRE_ASSERT(stat_wire_sums, 32 + 4 * STAT_WIRE_BUCKETS + 32 * WIRE_STATE_MAX + 32);
WIRE_ASSERT(stat_wire_call, 24 + 32 + 4 * STAT_WIRE_BUCKETS);
WIRE_ASSERT(stat_wire_thread, 72 + 32 + 4 * STAT_WIRE_BUCKETS + 32 * WIRE_STATE_MAX + 32);
WIRE_ASSERT(stat_wire_ended_key, 20);
WIRE_ASSERT(stat_wire_losses, 24);

#endif /* DENET_STAT_WIRE_H */
