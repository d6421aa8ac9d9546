/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_MACHINE_TASK_EVENT_H
#define DENET_MACHINE_TASK_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * An event of a task, decoded once: from a side-band record of the kernel, or from /proc and the
 * task iterator for the time before the recording. Strings belong to the sender and are valid
 * during the call that passes the event.
 */
enum task_event_kind {
	TASK_EVENT_FORK, /* a process or, with pid == ppid, a thread */
	TASK_EVENT_EXIT,
	TASK_EVENT_EXEC, /* with the new name */
	TASK_EVENT_COMM,
	TASK_EVENT_MMAP,
	TASK_EVENT_CGROUP,
	TASK_EVENT_KERNEL_MMAP, /* the kernel, or a module: path is its name */
};

struct task_map {
	uint64_t start;
	uint64_t len;
	uint64_t pgoff; /* bytes */
	uint32_t maj;
	uint32_t min;
	uint64_t ino;
	uint64_t generation;  /* of the inode number; 0: not known */
	uint32_t prot, flags; /* as mmap(2) */
	bool data;	      /* not executable */
	const char *path;     /* "//anon" where there is no file */
};

struct task_event {
	enum task_event_kind kind;
	pid_t pid;
	pid_t tid;
	uint64_t time; /* ns, CLOCK_MONOTONIC; 0: before the recording */
	union {
		struct {
			pid_t ppid, ptid;
		}; /* FORK, EXIT */
		const char *comm; /* EXEC, COMM */
		struct task_map map; /* MMAP, KERNEL_MMAP */
		struct {
			uint64_t id;
			const char *path;
		} cgroup;
	};
	const void *record; /* the kernel's record that this was decoded from; NULL: none */
	size_t size;
};

/*
 * Decodes a record of the kernel (MMAP, MMAP2, COMM, FORK, EXIT, CGROUP) that ends in a sample_id
 * of {u32 pid, tid; u64 time; u32 cpu, res; u64 id}. Its size field must be size, all fixed
 * fields must be there, and names must end in a NUL within the record. Pure. 0 or -EINVAL.
 */
int task_event__decode(const void *record, size_t size, struct task_event *event);

/* The time in the sample_id of such a record. 0, or -EINVAL if it is too short to have one. */
int task_event__time(const void *record, size_t size, uint64_t *time);

#endif /* DENET_MACHINE_TASK_EVENT_H */
