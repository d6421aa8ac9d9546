/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TESTS_STOPPED_H
#define DENET_TESTS_STOPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "machine/machine.h"
#include "unwind/unwinder.h"

/* The system calls of pause(3) and epoll_wait(3): arm64 has none of these names. */
#ifdef SYS_pause
#define STOPPED_IN_PAUSE SYS_pause
#define STOPPED_IN_EPOLL SYS_epoll_wait
#else
#define STOPPED_IN_PAUSE SYS_ppoll
#define STOPPED_IN_EPOLL SYS_epoll_pwait
#endif

/* A process that blocks, and its stack. A zeroed one holds no process. */
struct stopped {
	pid_t pid;
	pid_t tid; /* the thread that is looked at */
	int in;	   /* writes to its stdin */
	struct unwind_regs regs;
	char *stack; /* from its stack pointer on */
	size_t stack_bytes;
};

/*
 * Starts argv, found like execvp(3), but names without a slash are first looked for beside the
 * tests' own programs (tests/unwind). 0 or -errno; -ENOENT if there is no such program.
 */
int stopped__start(struct stopped *stopped, const char *const *argv);

/* True if the program has ended, as one that the kernel does not run; stopped__free() reaps it. */
bool stopped__has_ended(const struct stopped *stopped);

/*
 * Waits, some seconds at most, until a thread of it (the first one, or if other any but that)
 * blocks in system call nr, and looks at that one from now on. 0, -ETIMEDOUT, or -ECHILD if the
 * program has ended, as one that the kernel cannot run.
 */
int stopped__await(struct stopped *stopped, long nr, bool other);

/*
 * Takes its registers and up to bytes of its stack: the thread is interrupted for a moment, and
 * goes on with its system call. 0 or -errno; -EPERM: this machine does not let us.
 */
int stopped__take(struct stopped *stopped, size_t bytes);

/*
 * The same when it next enters, or leaves, a system call from code at start up to end. 0,
 * -errno, -ETIMEDOUT if it does not.
 */
int stopped__take_entering(struct stopped *stopped, size_t bytes, uint64_t start, uint64_t end);

/* Calls fn for its executable mappings, as of now. 0, fn's first other result, or -errno. */
int stopped__each_map(const struct stopped *stopped, uint64_t time,
		      int (*fn)(void *ctx, const struct task_event *event), void *ctx);

/* Passes them to a machine. 0 or -errno. */
int stopped__tell_maps(const struct stopped *stopped, struct machine *machine, uint64_t time);

/*
 * Whether an address of it is in the dynamic linker, by the mappings that machine has been told of.
 * False if it has no mapping there.
 */
bool stopped__in_linker(const struct stopped *stopped, const struct machine *machine,
			uint64_t address);

/*
 * The frames that gdb finds, without inlined functions: their number, at most max, or -errno;
 * -ENOENT if there is no gdb, -EPERM if it has no access. gdb's output goes to stderr if verbose.
 */
int stopped__ask_gdb(const struct stopped *stopped, uint64_t *ips, size_t max, bool verbose);

/* Where a file that the build makes beside the tests' programs is. 0 or -errno. */
int stopped__path(const char *name, char *path, size_t size);

/* Kills it and frees; a zeroed one is accepted. */
void stopped__free(struct stopped *stopped);

#endif /* DENET_TESTS_STOPPED_H */
