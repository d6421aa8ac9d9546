/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TESTS_PERFDATA_EVENTS_H
#define DENET_TESTS_PERFDATA_EVENTS_H

#include "output/perfdata/writer.h"

/* Shorthands for the events of tasks in a file. They return writer__task_event()'s result. */

static const struct task_event text_mapping = {
	.kind = TASK_EVENT_KERNEL_MMAP,
	.pid = -1,
	.map = { .start = 0xffffffff81000000,
		 .len = 0x1000000,
		 .pgoff = 0xffffffff81000000,
		 .path = "[kernel.kallsyms]_text" },
};

static inline int write_name(struct writer *writer, pid_t pid, pid_t tid, const char *name)
{
	const struct task_event event = {
		.kind = TASK_EVENT_COMM, .pid = pid, .tid = tid, .comm = name
	};

	return writer__task_event(writer, &event);
}

static inline int write_fork(struct writer *writer, pid_t pid, pid_t parent, pid_t tid)
{
	const struct task_event event = {
		.kind = TASK_EVENT_FORK, .pid = pid, .tid = tid, .ppid = parent, .ptid = parent
	};

	return writer__task_event(writer, &event);
}

#endif /* DENET_TESTS_PERFDATA_EVENTS_H */
