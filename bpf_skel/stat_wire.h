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
	__u64 lock_ns;	/* waits for futexes, from switch-out to switch-in; 0 if none are counted */
	__u64 owned_ns; /* of these, waits for a mutex whose holder was known */
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

/* The object that an off-CPU thread waits for, where such waits are counted. */
enum stat_wire_wait {
	STAT_WIRE_WAIT_NONE = 0,
	STAT_WIRE_WAIT_FUTEX,	/* at an address */
	STAT_WIRE_WAIT_RECEIVE, /* on a socket of that inode */
	STAT_WIRE_WAIT_SEND,
};

/* A futex, or a socket, of a process. */
struct stat_wire_object {
	__u64 id; /* address or inode */
	__u32 pid;
	__u32 reserved;
};

/* What kind of memory a futex lies in. */
enum stat_wire_place_kind {
	STAT_WIRE_PLACE_NEW = 0, /* not looked at yet */
	STAT_WIRE_PLACE_HEAP,
	STAT_WIRE_PLACE_STACK, /* of a process's first thread */
	STAT_WIRE_PLACE_FILE,  /* also zeroed memory behind a file's mapping */
	STAT_WIRE_PLACE_ANON,
};

#define STAT_WIRE_FILE_NAME 48

/* Where a futex lies. */
struct stat_wire_place {
	__u64 base; /* address from which offsets count: for a file, of the file's offset 0 */
	__u64 look; /* address whose mapping is still to be found; 0: none */
	__u32 kind; /* enum stat_wire_place_kind */
	__u32 tries;
	char file[STAT_WIRE_FILE_NAME]; /* without its directories */
};

struct stat_wire_lock {
	struct stat_wire_times waits;
	__u64 waiters[4]; /* a bit for each thread that waited, by a hash */
	__u64 wakers[4];  /* the same of threads that woke others up */
	__u64 wakes;
	__u64 owner_met;
	struct stat_wire_place place;
	__u32 last_waker;
	__u32 owner;
	__u32 waiter; /* of the longest wait */
	char comm[WIRE_COMM_LEN];
	__u32 reserved;
};

struct stat_wire_socket {
	struct stat_wire_times receive;
	struct stat_wire_times send;
	__u32 tid; /* the thread that waited last */
	__u16 family;
	__u16 protocol;
	__u16 local_port;  /* host order */
	__u16 remote_port; /* network order */
	__u8 local[16];
	__u8 remote[16];
	char comm[WIRE_COMM_LEN];
	__u32 reserved;
};

/* Blocks of a thread in calls of one number on one file. */
struct stat_wire_file_key {
	__u64 ino;
	__u32 dev;
	__u32 pid;
	__u32 tid;
	__u32 nr;
};

struct stat_wire_file_wait {
	__u64 count;
	__u64 ns;
	struct wire_reason reason; /* what the file is, at the first of these blocks */
};

#define STAT_WIRE_MAX_FILES 4096

/* Operations of block devices, as REQ_OP_* of the kernel; others are STAT_WIRE_IO_OTHER. */
#define STAT_WIRE_IO_READ 0
#define STAT_WIRE_IO_WRITE 1
#define STAT_WIRE_IO_FLUSH 2
#define STAT_WIRE_IO_DISCARD 3
#define STAT_WIRE_IO_OTHER 4

struct stat_wire_io_key {
	__u32 dev; /* major << 20 | minor */
	__u32 op;
};

struct stat_wire_io {
	struct stat_wire_times times;
	__u64 bytes;
	__u64 errors;
	/* Of threads that had issued one of them, until they ran again: */
	__u64 waited_ns;
	__u64 waits;
	__u64 longest_ns;
	__u32 waiter; /* of the longest one */
	char comm[WIRE_COMM_LEN];
	__u32 reserved;
};

#define STAT_WIRE_MAX_OBJECTS 8192
#define STAT_WIRE_MAX_HOLDERS 8192
#define STAT_WIRE_MAX_IO 1024
#define STAT_WIRE_MAX_REQUESTS 16384 /* under way */

/* A thread that has not ended, from the iterator. */
struct stat_wire_thread {
	__u32 pid;
	__u32 tid;
	__u32 ppid;
	__u32 flags; /* STAT_WIRE_KTHREAD and those behind it */
	__u64 incarnation;
	__u64 leader; /* incarnation of its process's first thread; 0: that is no target */
	__u64 time;   /* its sums are those of then */
	char comm[WIRE_COMM_LEN];
	__u32 first_call;
	__u32 open_call; /* key of the call that it is in; 0: none */
	__u64 open_since;
	__u64 wait_id; /* of wait */
	__u64 wait_ns; /* its wait so far */
	__u32 wait;    /* enum stat_wire_wait */
	__u32 owner;   /* of the mutex that it waits for; 0: unknown, or it is no mutex */
	__u64 lock;    /* futex of its longest wait for a mutex with a known holder; 0: none */
	__u64 lock_max_ns;
	/* Of a wait for a futex: what to look for behind it */
	__u32 futex_op;
	__u32 futex_value;
	struct stat_wire_sums sums;
};

#define STAT_WIRE_KTHREAD 1U
#define STAT_WIRE_ASLEEP 2U /* for a futex, and has not run in the measurement */
#define STAT_WIRE_LEAVING 4U /* it exits; its last switch is to come */

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
#define STAT_WIRE_MAX_OWN_NAMES 64 /* of COMMAND's threads */

/* Events that found no room in a map. */
struct stat_wire_losses {
	__u64 ended; /* threads */
	__u64 calls;
	__u64 locks; /* waits */
	__u64 sockets;
	__u64 requests;
	__u64 files; /* blocks */
	__u64 folds; /* steps of the ends of threads: a reader compares it before and after */
	__u64 gone;  /* threads whose exit was seen */
	__u64 left;  /* of these, those whose last switch was seen, too */
};

WIRE_ASSERT(stat_wire_times, 32 + 4 * STAT_WIRE_BUCKETS);
WIRE_ASSERT(stat_wire_sums, 32 + 4 * STAT_WIRE_BUCKETS + 32 * WIRE_STATE_MAX + 48);
WIRE_ASSERT(stat_wire_call, 24 + 32 + 4 * STAT_WIRE_BUCKETS);
WIRE_ASSERT(stat_wire_thread, 120 + 32 + 4 * STAT_WIRE_BUCKETS + 32 * WIRE_STATE_MAX + 48);
WIRE_ASSERT(stat_wire_ended_key, 20);
WIRE_ASSERT(stat_wire_object, 16);
WIRE_ASSERT(stat_wire_place, 24 + STAT_WIRE_FILE_NAME);
WIRE_ASSERT(stat_wire_lock, 160 + 64 + 16 + 24 + STAT_WIRE_FILE_NAME + 32);
WIRE_ASSERT(stat_wire_socket, 2 * 160 + 12 + 32 + 20);
WIRE_ASSERT(stat_wire_io, 160 + 40 + 24);
WIRE_ASSERT(stat_wire_file_key, 24);
WIRE_ASSERT(stat_wire_file_wait, 16 + sizeof(struct wire_reason));
WIRE_ASSERT(stat_wire_losses, 72);

#endif /* DENET_STAT_WIRE_H */
