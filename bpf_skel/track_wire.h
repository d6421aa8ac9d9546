/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What denet-top's tracker keeps of threads and requests, and its records of those that have ended.
 * Several samplers may share a tracker by its pinned maps: with any change here, TRACK_WIRE_VERSION
 * gets the next number.
 */
#ifndef DENET_TRACK_WIRE_H
#define DENET_TRACK_WIRE_H

#include "wire.h"

#define TRACK_WIRE_MAGIC 0x6b727464U
#define TRACK_WIRE_VERSION 2

/* What is tracked: bits. */
#define TRACK_WIRE_CALLS 1U
#define TRACK_WIRE_OFFCPU 2U
#define TRACK_WIRE_BLOCK 4U

#define TRACK_WIRE_SAMPLERS 8 /* that share a tracker, each with a bit and a ring */
#define TRACK_WIRE_LATEST 8   /* requests of a thread that are looked for, a power of two */
#define TRACK_WIRE_REQUESTS 16384
#define TRACK_WIRE_NEVER (~0ULL)
#define TRACK_WIRE_CALL_NAMES 512
#define TRACK_WIRE_NAME_LEN 32

/* Of a thread. Stamps are CLOCK_MONOTONIC in ns, 0 what was not seen. */
struct track_wire_task {
	__u64 entered; /* when it entered the call that it is in; 0: in none, or not seen */
	__u64 seq;     /* calls that it has entered */
	__u64 came;    /* when it got a CPU last, */
	__u64 left;    /* when it left it, */
	__u64 woken;   /* and when it was woken up */
	__u64 nr_requests;
	__u64 requests[TRACK_WIRE_LATEST]; /* addresses of the latest, by their number */
	__s32 nr;	 /* of the call */
	__u32 mark;	 /* samplers that met it in a call, and above them the call's number */
	__u32 waker_tid; /* who woke it up last; 0: an interrupt, or it has no id here */
	__u32 owner;	 /* of the lock that it waits for, since it left its CPU; 0: not known */
	__u32 wanted;	 /* samplers that have it as a target */
	__u8 known;	 /* whether it is in a call is known */
	__u8 preempted;	 /* it left its CPU, and could have gone on */
	__u8 owner_shared; /* the owner may be of another process */
	__u8 waker_kind; /* enum track_wire_waker */
	char waker[WIRE_COMM_LEN];
};

enum track_wire_waker {
	TRACK_WIRE_WAKER_NONE, /* none was seen */
	TRACK_WIRE_WAKER_THREAD,
	TRACK_WIRE_WAKER_INTERRUPT,
};

/* track_wire_task.mark holds that many bits of the call's number. */
#define TRACK_WIRE_MARK_SHIFT 8
#define TRACK_WIRE_MARK_SEQ 0xffffffU

/* A request that has not ended, by its address. */
struct track_wire_request {
	__u64 task;  /* address of the thread that made it; 0: an interrupt */
	__u64 start; /* when it was made, as the kernel tells it; 0: it does not */
	__u64 inserted;
	__u64 issued;
	__u64 seq; /* number among those of its thread */
	__u64 sector;
	__u32 bytes;
	__u32 dev; /* major << 20 | minor */
	__u32 insert_pid;
	__u32 insert_tid;
	__u32 issue_pid;
	__u32 issue_tid;
	__u32 flags;  /* TRACK_WIRE_IO_* above the operation */
	__u32 mark;   /* samplers that met it */
	__u32 wanted; /* samplers that have its thread as a target */
	__u32 reserved;
};

/* Above the kernel's REQ_OP_*. */
#define TRACK_WIRE_IO_OP 0xffU
#define TRACK_WIRE_IO_SYNC 0x100U
#define TRACK_WIRE_IO_META 0x200U
#define TRACK_WIRE_IO_PRIO 0x400U
#define TRACK_WIRE_IO_FUA 0x800U
#define TRACK_WIRE_IO_RAHEAD 0x1000U

/* A sampler. */
struct track_wire_slot {
	__u64 min_call_ns; /* calls as long are told; TRACK_WIRE_NEVER: sampled ones only */
	__u64 min_request_ns;
	__u64 lost; /* records that its ring had no room for */
	__u32 used; /* 0: it gets no records */
	__u32 inherits; /* what targets start is a target */
};

/* Of all samplers together. */
struct track_wire_common {
	__u32 magic; /* these two never move */
	__u32 version;
	__u32 what; /* TRACK_WIRE_CALLS ... */
	__u32 pid_ns; /* inode of the PID namespace of all ids; 0: the first one */
	__u64 least_call_ns; /* the least of all slots */
	__u64 least_request_ns;
	__u64 lost; /* requests and threads that there was no room for */
	__u32 inherits; /* bits of slots */
	__u32 reserved;
};

enum track_wire_kind {
	TRACK_WIRE_CALL = 96, /* none of the other kinds */
	TRACK_WIRE_REQUEST = 97,
};

struct track_wire_call {
	struct wire_head head;
	__u64 entered;
	__u64 ns;
	__u64 seq;
	__s64 ret;
	__s32 nr;
	__u32 pid;
	__u32 tid;
	__u32 compat; /* the number is of the table of 32-bit programs */
};

struct track_wire_done {
	struct wire_head head;
	__u64 time;
	struct track_wire_request request;
	__u32 pid; /* the thread that the end interrupted, or that saw to it */
	__u32 tid;
	__s32 error; /* a status of the block layer; 0: none */
	__u32 reserved;
};

WIRE_ASSERT(track_wire_task, 48 + 8 * TRACK_WIRE_LATEST + 24 + WIRE_COMM_LEN);
WIRE_ASSERT(track_wire_request, 88);
WIRE_ASSERT(track_wire_slot, 32);
WIRE_ASSERT(track_wire_common, 48);
WIRE_ASSERT(track_wire_call, 56);
WIRE_ASSERT(track_wire_done, 120);

#endif /* DENET_TRACK_WIRE_H */
