/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TESTS_MACHINE_EVENTS_H
#define DENET_TESTS_MACHINE_EVENTS_H

#include "machine/machine.h"

/* Shorthands for the events of tasks. They return machine__handle()'s result. */

static inline int born(struct machine *machine, pid_t pid, pid_t tid, pid_t ppid, uint64_t time)
{
	const struct task_event event = { .kind = TASK_EVENT_FORK, .pid = pid, .tid = tid,
					  .time = time, .ppid = ppid, .ptid = ppid };

	return machine__handle(machine, &event);
}

static inline int forks(struct machine *machine, pid_t pid, pid_t parent, uint64_t time)
{
	return born(machine, pid, pid, parent, time);
}

static inline int ends(struct machine *machine, pid_t pid, pid_t tid, uint64_t time)
{
	const struct task_event event = { .kind = TASK_EVENT_EXIT, .pid = pid, .tid = tid,
					  .time = time };

	return machine__handle(machine, &event);
}

static inline int is_called(struct machine *machine, pid_t pid, pid_t tid, const char *name,
			    uint64_t time)
{
	const struct task_event event = { .kind = TASK_EVENT_COMM, .pid = pid, .tid = tid,
					  .time = time, .comm = name };

	return machine__handle(machine, &event);
}

static inline int execs(struct machine *machine, pid_t pid, const char *name, uint64_t time)
{
	const struct task_event event = { .kind = TASK_EVENT_EXEC, .pid = pid, .tid = pid,
					  .time = time, .comm = name };

	return machine__handle(machine, &event);
}

static inline struct task_event mapping(pid_t pid, uint64_t start, uint64_t len, const char *path,
					uint64_t time)
{
	return (struct task_event){ .kind = TASK_EVENT_MMAP, .pid = pid, .tid = pid, .time = time,
				    .map = { .start = start, .len = len, .pgoff = 0x1000,
					     .ino = path[0] == '/' && path[1] != '/' ? 7 : 0,
					     .prot = 5, .path = path } };
}

static inline int maps_code(struct machine *machine, pid_t pid, uint64_t start, uint64_t len,
			    const char *path, uint64_t time)
{
	const struct task_event event = mapping(pid, start, len, path, time);

	return machine__handle(machine, &event);
}

/* The path of what is at an address of a process at a time, "-" if nothing is. */
static inline const char *path_at(const struct machine *machine, pid_t pid, uint64_t time,
				  uint64_t addr)
{
	const struct process *process = machine__process_at(machine, pid, time);
	const struct maps *maps = process__maps_at(process, time);
	const struct maps_entry *map = maps ? maps__find(maps, time, addr) : NULL;

	return map ? map->file->path : "-";
}

#endif /* DENET_TESTS_MACHINE_EVENTS_H */
