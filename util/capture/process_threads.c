/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/process_threads.h"

#include <errno.h>

int process_threads__add(struct process_threads *threads, pid_t pid, pid_t tid)
{
	uint64_t *process = idmap__find(&threads->process_of, (uint64_t)tid);
	uint64_t *nr;

	if (process && *process == (uint64_t)pid)
		return 0;
	/* Its end was missed: the id is another thread's now. */
	if (process)
		process_threads__remove(threads, tid);
	nr = idmap__get(&threads->living, (uint64_t)pid);
	process = nr ? idmap__get(&threads->process_of, (uint64_t)tid) : NULL;
	if (!process) {
		if (nr && !*nr)
			idmap__remove(&threads->living, (uint64_t)pid);
		return -ENOMEM;
	}
	*process = (uint64_t)pid;
	(*nr)++;
	return 0;
}

void process_threads__remove(struct process_threads *threads, pid_t tid)
{
	const uint64_t *process = idmap__find(&threads->process_of, (uint64_t)tid);
	uint64_t pid, *nr;

	if (!process)
		return;
	pid = *process;
	idmap__remove(&threads->process_of, (uint64_t)tid);
	nr = idmap__find(&threads->living, pid);
	if (nr && --*nr == 0)
		idmap__remove(&threads->living, pid);
}

/* A thread of the process; 0: none. Looks at all of them, so it is for rare cases. */
static pid_t any_of(const struct process_threads *threads, pid_t pid)
{
	const struct idmap *map = &threads->process_of;

	for (size_t i = 0; i < map->capacity; i++) {
		if (map->slots[i].id != IDMAP_NONE && map->slots[i].value == (uint64_t)pid)
			return (pid_t)map->slots[i].id;
	}
	return 0;
}

void process_threads__forget(struct process_threads *threads, pid_t pid)
{
	/* As a rule only the first thread is left. */
	const uint64_t *process = idmap__find(&threads->process_of, (uint64_t)pid);

	if (process && *process == (uint64_t)pid)
		process_threads__remove(threads, pid);
	while (process_threads__of(threads, pid))
		process_threads__remove(threads, any_of(threads, pid));
}

int process_threads__exec(struct process_threads *threads, pid_t pid)
{
	if (!process_threads__of(threads, pid))
		return 0;
	process_threads__forget(threads, pid);
	return process_threads__add(threads, pid, pid);
}

size_t process_threads__of(const struct process_threads *threads, pid_t pid)
{
	const uint64_t *nr = idmap__find(&threads->living, (uint64_t)pid);

	return nr ? (size_t)*nr : 0;
}

size_t process_threads__processes(const struct process_threads *threads)
{
	return threads->living.used;
}

void process_threads__free(struct process_threads *threads)
{
	idmap__free(&threads->process_of);
	idmap__free(&threads->living);
}
