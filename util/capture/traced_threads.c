/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/traced_threads.h"

#include <errno.h>
#include <string.h>

#include "machine/task_event.h"

void traced_threads__init(struct traced_threads *threads, const struct capture_targets *targets)
{
	*threads = (struct traced_threads){
		.all = targets->all,
		.kernel_threads = targets->kernel_threads,
		.no_inherit = targets->no_inherit,
		.no_threads = targets->no_inherit && targets->nr_tids,
		.by_cpu = targets->cpu_bits,
	};
	if (targets->cpu_bits)
		memcpy(threads->cpu_bits, targets->cpu_bits, sizeof(threads->cpu_bits));
}

void traced_threads__free(struct traced_threads *threads)
{
	idmap__free(&threads->tids);
}

int traced_threads__add(struct traced_threads *threads, const struct capture_task *task)
{
	bool listed = threads->all ? task->kthread && !threads->kernel_threads : task->target;

	return !listed || idmap__get(&threads->tids, (uint64_t)task->tid) ? 0 : -ENOMEM;
}

/* A child is a target if its creator is. */
static int follow_birth(struct traced_threads *threads, const struct task_event *event)
{
	bool is_thread = event->pid == event->ppid;

	idmap__remove(&threads->tids, (uint64_t)event->tid);
	if (!idmap__find(&threads->tids, (uint64_t)event->ptid))
		return 0;
	if (!threads->all && (is_thread ? threads->no_threads : threads->no_inherit))
		return 0;
	return idmap__get(&threads->tids, (uint64_t)event->tid) ? 0 : -ENOMEM;
}

int traced_threads__follow(struct traced_threads *threads, const struct task_event *event)
{
	switch (event->kind) {
	case TASK_EVENT_FORK:
		return follow_birth(threads, event);
	case TASK_EVENT_EXIT:
		idmap__remove(&threads->tids, (uint64_t)event->tid);
		return 0;
	case TASK_EVENT_EXEC:
		/* A kernel thread has become a process. */
		if (threads->all)
			idmap__remove(&threads->tids, (uint64_t)event->tid);
		return 0;
	default:
		return 0;
	}
}

bool traced_threads__has(const struct traced_threads *threads, pid_t tid, uint32_t cpu)
{
	bool listed = idmap__find(&threads->tids, (uint64_t)tid);

	if (threads->by_cpu &&
	    (cpu >= CAPTURE_MAX_CPUS || !(threads->cpu_bits[cpu / 64] >> (cpu & 63) & 1)))
		return false;

	return threads->all ? !listed : listed;
}
