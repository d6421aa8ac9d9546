/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_USER_REQUEST_H
#define DENET_TOP_USER_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mutex_owner.h"
#include "user_regs.h"

/* What is read. */
enum user_request_kind {
	USER_REQUEST_STACK,	 /* a struct user_stack, from these registers on */
	USER_REQUEST_CMDLINE,	 /* of the process: its arguments, apart by blanks */
	USER_REQUEST_AIO_SUBMIT, /* a struct aio_answer, of the first iocb in the list at address */
	USER_REQUEST_AIO_WAIT,	 /* the same, of the request of the context that ended last */
	USER_REQUEST_LOCK_OWNER, /* the tid of who holds the lock at address; 0: not known */
};

/* A thread off the CPU. */
struct user_request {
	enum user_request_kind kind;
	pid_t pid;
	pid_t tid;
	uint64_t address;
	uint64_t switches; /* how often it had left its CPU when it was seen */
	/* For a stack: */
	uint64_t time;	  /* when its registers were seen, ns, CLOCK_MONOTONIC */
	uint64_t program; /* stands for the program that its process runs */
	uint64_t regs[USER_NR_REGS];
	/* For Linux AIO: */
	uint64_t context; /* an aio_context_t */
	/* For a lock: */
	struct mutex_wait wait;
	uint32_t tracked;    /* who held it when the wait began, as it is in memory; 0: not known */
	bool tracked_shared; /* that may be a thread of another process */
	bool inner_pids;     /* ids in memory are those of a PID namespace below ours */
};

#endif /* DENET_TOP_USER_REQUEST_H */
