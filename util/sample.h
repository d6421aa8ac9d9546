/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SAMPLE_H
#define DENET_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "user_regs.h"

/* Frames of one side of a callchain, leaf first. */
struct frames {
	const uint64_t *ips;
	uint32_t nr;
	bool truncated; /* the walk stopped at the limit, not at the root */
};

/* The object that a block waited for. Unknown strings are empty. */
struct reason {
	int32_t nr;	  /* of the system call; -1: in none */
	const char *call; /* its name; "" if there is none or it is not known */
	uint64_t args[6]; /* of a sum: of one of its blocks */
	bool fault;	  /* a page fault, in user space or in the call */
	bool futex;	  /* args[0] is the address of a futex */
	int32_t fd;	  /* the descriptor that the call waits on; -1: none */
	uint64_t ino;	  /* of the file; 0: none */
	uint32_t major;	  /* device that the file is on, or that it is */
	uint32_t minor;
	char path[256];	  /* as /proc/PID/fd has it: also socket:[INODE] and pipe:[INODE] */
	char local[56];	  /* end points of a socket: address:port */
	char remote[56];
	int32_t ready_fd; /* the descriptor that ended a wait of epoll; -1: not known */
	char ready_remote[56]; /* its remote end, if it is a connected IP socket */
	uint32_t owner;	  /* tid of the holder of the mutex that was waited for; 0: not known */
	bool owner_shared; /* it may be of another process */
	bool inner_pids;  /* owner is an id of a PID namespace below the recorder's */
	char title[64];	  /* what its process calls itself, see setproctitle(3bsd) */
	uint64_t heap_start; /* of the heap that the futex lies in; 0: it lies elsewhere */
	/* Known when the side band of the time is, see record/wait_names.h: */
	char owner_comm[16];
	char futex_at[64]; /* the object that the futex lies in: SYMBOL+0xOFFSET */
};

#define USER_COPY_REGS USER_NR_REGS

/*
 * The user side of a thread when its block ended: what it takes to unwind its stack. Registers
 * are in DWARF's numbering, USER_REG_SP and USER_REG_PC among them.
 */
struct user_copy {
	const uint64_t *regs; /* USER_COPY_REGS of them */
	const void *bytes;    /* of the stack, from the stack pointer on */
	uint32_t nr;	      /* of the bytes */
};

/* The kind of a sample's time, which determines whose thread and callchain it has. */
enum sample_kind {
	SAMPLE_OFFCPU, /* by a thread off the CPU: one block, or the sum of several */
	SAMPLE_WAKEUP, /* by the threads that this one woke, until it did */
	SAMPLE_ONCPU,  /* by a thread that ran on a CPU */
	SAMPLE_KINDS,
};

/* Why a user chain has no more frames. */
enum chain_end {
	CHAIN_WHOLE = 0,   /* it leads to the root, or has as many frames as the limit allows */
	CHAIN_NO_TABLE,	   /* the unwind table of a file was not made yet */
	CHAIN_NO_CFI,	   /* code without call frame information and without a frame pointer */
	CHAIN_UNREADABLE,  /* the stack is not in memory, or no stack */
	CHAIN_NO_RULE,	   /* the call frame information has a rule that tables do not */
	CHAIN_BUSY,	   /* the mappings were being changed */
	CHAIN_FORBIDDEN,   /* the file of the code may not be opened */
	CHAIN_BEYOND_COPY, /* the rest of the stack was not copied */
	CHAIN_GARBAGE,	   /* the next frame made no sense */
	CHAIN_NO_POINTERS, /* along frame pointers: one frame, or garbage behind some */
	CHAIN_ENDS,
};

/*
 * Time of one thread in one callchain: one block, or the sum of several that ended in one
 * window, or time on a CPU. The only thing that outputs see; what the kernel sent is gone by
 * then. Frames belong to the producer and are valid during the callback.
 */
struct sample {
	enum sample_kind kind;
	uint64_t time;	 /* ns, CLOCK_MONOTONIC: when the (latest) block ended */
	uint64_t period; /* ns for which it stands */
	uint64_t measured; /* ns of its own blocks: less than period where they were drawn */
	uint64_t runqueue; /* of period: ns at the end in which it waited for a CPU */
	uint64_t count;	 /* blocks, or looks at a CPU, in it; 1 for a direct sample */
	uint64_t cgroup; /* cgroup id, 0 unless requested */
	uint32_t pid;
	uint32_t tid;
	uint32_t cpu;	/* where the (latest) block ended */
	char state;	/* 'R', 'S', 'D', 'T', 't', 'I', 'P' or '?' */
	bool preempted; /* state 'R' and not a yield */
	bool kthread;
	bool handed_over; /* with wakers: another thread of its process ended the block */
	bool still_blocked; /* SAMPLE_OFFCPU: had not ended when the recording did */
	const char *call; /* by the chain: a system call or "a page fault"; NULL: unknown */
	const char *idle; /* the call of the rule by which it waits for work; NULL: it does not */
	bool not_sampled; /* SAMPLE_ONCPU: it ran, and no look at a CPU met it: no frames */
	bool for_any; /* it waits for any of several descriptors, as event loops do */
	bool never_ran; /* still blocked, and since before the recording began */
	struct frames kernel;
	struct frames user;
	bool by_tables; /* user was found by unwind tables, and not by frame pointers */
	/* Of a walk by tables; callchain/callchain.h gives a sample the end of its final frames. */
	enum chain_end user_end;
	const struct reason *reason; /* NULL: not requested, or lost */
	const struct user_copy *copy; /* valid as frames are; NULL: not requested, or lost */
};

/* How long a thread waited in the recording, runnable but not running. */
struct thread_waits {
	pid_t pid;
	pid_t tid;
	char comm[16];
	uint64_t runnable_ns;  /* for a CPU */
	uint64_t throttled_ns; /* for the CPU quota of its cgroup */
};

#endif /* DENET_SAMPLE_H */
