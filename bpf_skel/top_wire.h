/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The records of denet-top's sampler, beside those of wire.h: of each thread that it keeps a
 * top_wire_sample, then a wire_reason if its call is about a file, a socket or a futex; then a
 * top_wire_socket if that is a socket, or a top_wire_uring if it is an io_uring and a wire_reason
 * of the file of its latest request; then top_wire_regs if user stacks are wanted, and a wire_stack
 * if stacks of the kernel are; then a top_wire_track if something is tracked.
 */
#ifndef DENET_TOP_WIRE_H
#define DENET_TOP_WIRE_H

#include "wire.h"

/* Bit numbers in top_wire_settings.states. */
enum top_wire_state {
	TOP_WIRE_RUN = 0, /* on a CPU, or displaced from it by the sampler */
	TOP_WIRE_RUNQ,	  /* waits for a CPU */
	TOP_WIRE_SLEEP,
	TOP_WIRE_DISK, /* uninterruptible */
	TOP_WIRE_IDLE, /* a kernel thread, uninterruptible, and no load */
	TOP_WIRE_STOPPED,
	TOP_WIRE_TRACED,
	TOP_WIRE_PARKED,
	TOP_WIRE_ZOMBIE,
	TOP_WIRE_DEAD,
	TOP_WIRE_OTHER,
	TOP_WIRE_STATES,
};

enum top_wire_kind {
	TOP_WIRE_SAMPLE = 64, /* none of enum wire_kind */
	TOP_WIRE_SOCKET = 65,
	TOP_WIRE_URING = 66,
	TOP_WIRE_REGS = 67,
	TOP_WIRE_TRACK = 72,
};

struct top_wire_sample {
	struct wire_head head;
	__u64 time;	/* ns, CLOCK_MONOTONIC, when the thread was looked at */
	__u64 state_ns; /* how long it has been in its state; 0: not known */
	__u64 start;	/* ns since boot: tells threads of one tid apart */
	__u64 cgroup;
	__u64 wchan; /* address in the function of the kernel in which it waits; 0: in none */
	__u64 args[6];
	__s32 nr; /* of the system call; -1: in none, or not known */
	__u32 pid;
	__u32 tid;
	__u32 uid;    /* effective */
	__u32 pid_ns; /* inode of the innermost PID namespace of the thread */
	__u32 cpu;    /* where it is, or was last */
	__u32 state;  /* enum top_wire_state */
	__u32 flags;  /* TOP_WIRE_FLAG_* */
	char comm[WIRE_COMM_LEN];
	char exe[WIRE_NAME_LEN]; /* last name of the program's path; "": none */
	__u64 switches; /* how often the thread had left its CPU */
};

#define TOP_WIRE_FLAG_KTHREAD 1U
#define TOP_WIRE_FLAG_COMPAT 2U	 /* the call is of the table of 32-bit programs */
#define TOP_WIRE_FLAG_UNKNOWN 4U /* it runs, so that its registers are not in memory */
#define TOP_WIRE_FLAG_REASON 8U	 /* behind it follow a wire_reason, */
#define TOP_WIRE_FLAG_SOCKET 16U /* a top_wire_socket, */
#define TOP_WIRE_FLAG_KERNEL 32U /* and a wire_stack, without an id */
#define TOP_WIRE_FLAG_IDLE 64U	 /* by the rules */
#define TOP_WIRE_FLAG_URING 128U /* a top_wire_uring behind its wire_reason, */
#define TOP_WIRE_FLAG_URING_FILE 256U /* and another wire_reason */
#define TOP_WIRE_FLAG_SAME_KERNEL 512U /* the kernel stack is that of the last time */
#define TOP_WIRE_FLAG_REGS 1024U /* top_wire_regs come before the wire_stack */
#define TOP_WIRE_FLAG_POLLS_ONE 2048U /* its wire_reason is of the only file that it polls */
#define TOP_WIRE_FLAG_TRACK 0x10000U /* a top_wire_track is the last record */

#define TOP_WIRE_UNIX_PATH 128 /* a power of two above the kernel's 108 */

/* Figures of TCP are 0 for other sockets. */
struct top_wire_socket {
	struct wire_head head;
	__u64 peer_ino; /* of a Unix socket: that of the other end; 0: not known */
	__u64 bytes_sent;
	__u64 bytes_acked;
	__u64 bytes_received;
	__u32 peer_pid; /* of a Unix socket: the process that made the connection's other end */
	__u32 cwnd;
	__u32 ssthresh;
	__u32 srtt_us;
	__u32 mdev_us;
	__u32 rtt_min_us;
	__u32 rcv_wnd;
	__u32 snd_wnd;
	__u32 packets_out;
	__u32 retrans_out;
	__u32 total_retrans;
	__u32 lost_out;
	__u32 sacked_out;
	__u32 reordering;
	__u32 unread;	 /* bytes that were received and not read */
	__u32 in_flight; /* bytes that were sent and not acknowledged */
	__u32 unsent;	 /* bytes that were written and not sent */
	__u32 delivered; /* packets, and those of them with marks of congestion */
	__u32 delivered_ce;
	__u32 reord_seen; /* how often packets were met in another order */
	__u16 family;
	__u16 protocol;
	__u8 type;  /* SOCK_STREAM ... */
	__u8 state; /* of TCP: as in /proc/net/tcp */
	__u8 ca_state;
	__u8 retransmits; /* of the packet that is not acknowledged */
	__u8 cwnd_limited;
	__u8 bound; /* a Unix socket has an address */
	/* Of a Unix socket that is bound, or whose other end is: */
	__u8 path_len;
	__u8 path_of_peer;
	__u32 owner; /* of a Unix socket: the user who made it */
	char path[TOP_WIRE_UNIX_PATH]; /* without a file, it begins with a NUL */
};

/* An io_uring, and the request that was submitted last. */
struct top_wire_uring {
	struct wire_head head;
	__u64 offset;	   /* of the request in its file */
	__u32 unsubmitted; /* requests that the program has written, and not submitted */
	__u32 completed;   /* requests that have ended, and the program has not taken notice of */
	__s32 fd;	   /* of the request; with registered, the number of a registered file */
	__u32 len;
	__u32 rw_flags; /* or other flags of the kind of the request */
	__u8 has_request;  /* there was one */
	__u8 opcode;
	__u8 registered;
	__u8 flags; /* IOSQE_* */
};

/* The user registers of a thread of a 64-bit program that is off the CPU. */
struct top_wire_regs {
	struct wire_head head;
	__u64 regs[USER_NR_REGS];
};

/* Stamps and counts that the tracker keeps of the thread, see track_wire.h. */
struct top_wire_track {
	struct wire_head head;
	__u64 entered;	   /* 0: it is in no call, or in one that was not seen to begin */
	__u64 seq;	   /* of that call; 0: the same */
	__u64 since;	   /* of its state; 0: not seen */
	__u64 request_seq; /* of its latest request that is in flight; 0: there is none */
	__s32 nr;	   /* of the call */
	__u32 requests;	   /* in flight, TRACK_WIRE_LATEST at most */
	__u32 waker_tid;
	__u32 owner; /* of the lock that it waits for; 0: not known */
	__u8 calls_known;
	__u8 owner_shared;
	__u8 waker_kind; /* enum track_wire_waker */
	__u8 what;	 /* TRACK_WIRE_CALLS ... */
	__u8 reserved[4];
	char waker[WIRE_COMM_LEN];
};

/* Fixed before the programs are loaded, beside struct wire_settings. */
struct top_wire_settings {
	__u32 states;	    /* bits of enum top_wire_state; 0: all */
	__u16 client_ports; /* a socket of such a port or a higher one has asked for a connection */
	__u8 idle;	    /* keep idle threads as well */
	__u8 by_call;	    /* only threads in a call of top_calls, */
	__u8 by_comm;	    /* or with a name of top_comms */
	__u8 tracked;	    /* TRACK_WIRE_CALLS ... */
	__u8 track_slot;    /* the sampler's among those of the tracker */
	__u8 marks;	    /* calls and requests that are met are to be told when they end */
	__u8 reserved[4];
};

#define TOP_WIRE_MAX_COMMS 64

/* Of one pass over all threads; user space clears them before it. */
struct top_wire_counts {
	__u64 seen;	/* threads in our PID namespace, without our own */
	__u64 targets;	/* of these, those that the options name */
	__u64 idle;	/* of these, those that were left out as idle, */
	__u64 futex;	/* of which these wait for a futex, maybe for a lock; */
	__u64 filtered; /* or by their state, call or name */
	__u64 kept;
	__u64 moved; /* of these, those that were switched while they were looked at */
};

WIRE_ASSERT(top_wire_sample, 8 + 5 * 8 + 48 + 32 + WIRE_COMM_LEN + WIRE_NAME_LEN + 8);
WIRE_ASSERT(top_wire_socket, 8 + 32 + 20 * 4 + 4 + 12 + TOP_WIRE_UNIX_PATH);
WIRE_ASSERT(top_wire_uring, 40);
WIRE_ASSERT(top_wire_regs, 8 + USER_NR_REGS * 8);
WIRE_ASSERT(top_wire_track, 64 + WIRE_COMM_LEN);
WIRE_ASSERT(top_wire_settings, 16);
WIRE_ASSERT(top_wire_counts, 56);

#endif /* DENET_TOP_WIRE_H */
