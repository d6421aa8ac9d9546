/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BENCH_PROCESS_H
#define DENET_BENCH_PROCESS_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* A command that is measured, as a process of its own. */
struct process {
	pid_t pid;
	int in;	 /* its standard input, -1: /dev/null */
	int out; /* its standard output, -1: it goes to the log */
	uint64_t started; /* CLOCK_MONOTONIC, ns */
	uint64_t ended;
	int status; /* as wait(2) has it */
	struct rusage usage; /* of it and of the children that it waited for */
};

/* In and out are pipes: it says READY and waits for a line, says DONE and waits for the end. */
#define PROCESS_GATED 1U

/*
 * Runs `exec COMMAND` in a shell; what it prints is appended to the file log. 0 or a
 * negative errno.
 */
int process__start(struct process *process, const char *command, const char *log,
		   unsigned int flags);

/* Waits until a gated process has said a word. 0 or a negative errno. */
int process__await_word(struct process *process, const char *word);

/* Lets a gated process go on. 0 or a negative errno. */
int process__release(struct process *process);

/*
 * Waits for the end, which a gated process may now come to, and takes the process's figures.
 * 0 or a negative errno.
 */
int process__wait(struct process *process);

/* Sends SIGKILL if it has not ended, and waits. */
void process__kill(struct process *process);

/* CPU time of all its threads so far, in ns; 0: it has ended. */
uint64_t process__cpu_ns(const struct process *process);

/* The same of its children that have not ended. */
uint64_t process__helpers_cpu_ns(const struct process *process);

/* How often its first thread has gone to sleep so far. */
uint64_t process__sleeps(const struct process *process);

static inline uint64_t rusage__cpu_ns(const struct rusage *usage)
{
	return ((uint64_t)usage->ru_utime.tv_sec + (uint64_t)usage->ru_stime.tv_sec) * 1000000000 +
	       ((uint64_t)usage->ru_utime.tv_usec + (uint64_t)usage->ru_stime.tv_usec) * 1000;
}

#endif /* DENET_BENCH_PROCESS_H */
