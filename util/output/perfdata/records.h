/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_PERFDATA_RECORDS_H
#define DENET_OUTPUT_PERFDATA_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Our own contents of a perf.data file: its events, and the fields of their records. */

/* Ids of the events in the file; fixed, since readers know them. */
enum writer_event {
	WRITER_OFFCPU_TIME = 1, /* "offcpu-time"; in every file, the first one */
	WRITER_OFFCPU_IDLE = 2, /* "offcpu-idle": waits for work */
	WRITER_RUNQUEUE_TIME = 3, /* "queued-time": woken or preempted, waiting for a CPU */
	WRITER_WAKEUP_TIME = 4, /* "wakeup-time": of wakers, the waits that they ended */
	WRITER_ONCPU_TIME = 5, /* "on-cpu-time": on a CPU */
	WRITER_SAMPLING = 33,   /* "denet:rates": see writer__trace() */
	WRITER_OFFCPU_WAIT = 34, /* "denet:waits": reasons of samples of offcpu-time */
};

/* The fields of a sample of one of our tracepoints. */
struct writer_trace {
	uint64_t time;
	uint64_t period; /* the weight for readers; 0: none */
	uint64_t ip;     /* a kernel function, whose name perf report shows; 0: none */
	uint32_t pid, tid, cpu;
	const void *fields;
	size_t size;
};

/* Fields of WRITER_SAMPLING: period and threshold from now on, and the reason. */
struct writer_sampling {
	uint64_t old_period_ns; /* 0: each block is recorded */
	uint64_t new_period_ns; /* of blocks shorter than both, one is drawn for so much time */
	uint64_t old_threshold_ns;
	uint64_t new_threshold_ns;
	uint32_t max_rate; /* limit of samples a second; 0: not the reason */
	uint32_t bpf_ppm;  /* millionths of the busiest CPU */
	uint32_t own_ppm;  /* millionths of a CPU, over all of them */
	uint32_t limit_ppm; /* limit of both together; 0: not the reason */
	char text[80];	   /* the reason as text, ends in a NUL */
};

/* The fields of WRITER_OFFCPU_WAIT; strings end in a NUL. */
struct writer_wait {
	uint64_t ns;
	uint64_t blocks;
	int32_t nr; /* of the system call; -1: in none */
	char state[4];
	uint64_t args[6];
	uint64_t futex; /* its address; 0: none */
	uint64_t inode;
	char name[32]; /* of the system call */
	char kind[16]; /* "syscall", "page-fault" or "none" */
	char device[16];
	char path[256];
	char local[56];
	char remote[56];
	char text[104]; /* all of it as text, in at most 100 columns */
	int32_t owner;	/* tid of the mutex's holder; 0: not known */
	int32_t ready;	/* the descriptor that ended a wait of epoll; -1: not known */
	char owner_comm[16];
	char object[64]; /* variable that holds the futex */
	char peer[56];	 /* the remote end of the socket ready */
	char title[64];	 /* of the process */
};

#endif /* DENET_OUTPUT_PERFDATA_RECORDS_H */
