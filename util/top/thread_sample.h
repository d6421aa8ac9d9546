/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_THREAD_SAMPLE_H
#define DENET_TOP_THREAD_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sample.h"
#include "top/activity.h"
#include "top_wire.h"
#include "track_wire.h"

/* Stamps and counts that the tracker keeps of it. */
struct thread_track {
	uint32_t what;	      /* TRACK_WIRE_CALLS ...: that is followed; the rest is 0 */
	bool calls_known;     /* it is known: without entered it is in no call */
	uint64_t entered;     /* ns, CLOCK_MONOTONIC, when it entered the call that it is in */
	uint64_t seq;	      /* of that call */
	int32_t nr;	      /* the same; -1: in none */
	uint64_t since;	      /* when it got into its state; 0: not seen */
	uint64_t request_seq; /* of its latest request that is in flight; 0: there is none */
	uint32_t requests;    /* in flight, TRACK_WIRE_LATEST at most */
	enum track_wire_waker waker_kind;
	uint32_t waker_tid; /* 0: it has no id here, or is none */
	char waker[WIRE_COMM_LEN + 1];
	uint32_t owner; /* who held its lock when it began to wait, by an id of its own PID */
	bool owner_shared; /* namespace, and maybe of another process; 0: not known */
};

/* The request that a call of Linux AIO is about. */
struct aio_request {
	const char *file;   /* "": not known */
	int32_t fd;	    /* of that file; -1: not known */
	uint32_t completed; /* requests of its context that ended and were not fetched yet; */
	bool has_context;   /* their number is known */
};

/* What one thread was doing when it was looked at. */
struct thread_sample {
	uint64_t time;	   /* ns, CLOCK_MONOTONIC */
	uint64_t state_ns; /* how long it had been in its state; 0: not known */
	uint64_t start;	   /* ns since boot: tells threads of one tid apart */
	uint64_t cgroup;
	uint64_t wchan; /* address of the kernel function in which it waits; 0: in none */
	uint64_t args[6];
	int32_t nr; /* of its system call; -1: in none, or not known */
	uint32_t pid;
	uint32_t tid;
	uint32_t uid;
	uint32_t pid_ns; /* inode of its PID namespace */
	uint32_t cpu;
	enum top_wire_state state;
	bool kthread;
	bool compat;	   /* the call is of the table of 32-bit programs */
	bool call_unknown; /* it runs, or moved while it was looked at */
	bool has_object;   /* reason is that of its call */
	bool has_socket;   /* which is about this socket, */
	bool has_uring;	   /* or this io_uring, */
	bool has_request;  /* whose latest request is about the file of request */
	bool same_kernel;  /* its kernel stack is that of the last time */
	bool idle;	   /* by the rules: it waits for work */
	char comm[WIRE_COMM_LEN + 1];
	char exe[WIRE_NAME_LEN + 1]; /* last name of the program's path; "": none */
	struct reason reason;
	struct top_wire_socket socket;
	struct top_wire_uring uring;
	struct reason request;
	struct frames kernel; /* in the records, or filled in by the sampler */
	uint64_t kernel_id;   /* a hash over them; 0: there are none */
	/* USER_NR_REGS of user_regs.h, in the records; NULL: its user stack is not to be read. */
	const uint64_t *user_regs;
	uint64_t switches; /* how often it had left its CPU */
	struct thread_track track;
	struct frames user; /* filled in by the sampler */
	uint64_t user_id;
	const char *cmdline;	       /* the same; NULL: not known */
	const struct aio_request *aio; /* the same; NULL: it is in no such call, or not known */
	uint32_t lock_owner;  /* who holds the lock that it waits for, the same; 0: not known */
};

/*
 * Decodes the records of one thread, as the sampler writes them, at an address that is a multiple
 * of 8. Returns their bytes, or -EINVAL if they are cut or none of these.
 */
int thread_sample__decode(const void *data, size_t size, struct thread_sample *sample);

/* How long it has been in its state, and in its call. */
struct activity_times thread_sample__times(const struct thread_sample *sample);

/* A hash over frames; 0: there are none. */
uint64_t thread_sample__hash(const struct frames *frames);

#endif /* DENET_TOP_THREAD_SAMPLE_H */
