/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_SYSCALL_CATEGORY_H
#define DENET_STAT_SYSCALL_CATEGORY_H

#include "stat/stat_data.h"

/* What a system call is for: the categories of denet 0.6, in its order. */
enum syscall_category {
	SYSCALL_FILE_IO,  /* files, their names and attributes, waiting for descriptors */
	SYSCALL_MEMORY,   /* mappings and NUMA policy */
	SYSCALL_PROCESS,  /* processes and threads, their scheduling and limits */
	SYSCALL_NETWORK,  /* sockets */
	SYSCALL_TIME,     /* clocks, sleeps, timers */
	SYSCALL_IPC,      /* futexes, pipes, eventfd, System V and POSIX IPC */
	SYSCALL_SECURITY, /* credentials, permissions, keys, security modules */
	SYSCALL_SIGNAL,
	SYSCALL_SYSTEM, /* the machine: mounts, modules, its name, tracing */
	SYSCALL_OTHER,  /* never implemented or removed long ago, and names that are not known */
	SYSCALL_CATEGORIES,
};

/*
 * The category of a call by its name. The calls that read and write go by the type of their file:
 * a socket's are SYSCALL_NETWORK, a pipe's SYSCALL_IPC.
 */
enum syscall_category syscall_category__of(const char *name, enum stat_file file);

/* True for a name that the table has, in SYSCALL_OTHER or elsewhere. */
bool syscall_category__has(const char *name);

/* "file_io" and so on. */
const char *syscall_category__name(enum syscall_category category);

#endif /* DENET_STAT_SYSCALL_CATEGORY_H */
