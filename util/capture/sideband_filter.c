/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/sideband_filter.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "capture/process_threads.h"

/* What stands at the end of each record; see CAPTURE_SIDEBAND_SAMPLE_TYPE. */
struct sample_id {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, res;
	uint64_t id;
};

/* FORK and EXIT, as perf_event_open(2) has them. */
struct task_event {
	struct perf_event_header header;
	uint32_t pid, ppid;
	uint32_t tid, ptid;
	uint64_t time;
};

struct sideband_filter {
	bool all;
	bool no_inherit;
	pid_t own;
	struct process_threads threads; /* in the recording, or with all those left out */
};

struct sideband_filter *sideband_filter__new(bool all, bool no_inherit, pid_t own)
{
	struct sideband_filter *sideband = calloc(1, sizeof(*sideband));

	if (!sideband)
		return NULL;
	sideband->all = all;
	sideband->no_inherit = no_inherit;
	sideband->own = own;
	if (all && sideband_filter__add(sideband, own, own)) {
		sideband_filter__delete(sideband);
		return NULL;
	}
	return sideband;
}

void sideband_filter__delete(struct sideband_filter *sideband)
{
	if (!sideband)
		return;
	process_threads__free(&sideband->threads);
	free(sideband);
}

int sideband_filter__add(struct sideband_filter *sideband, pid_t pid, pid_t tid)
{
	return process_threads__add(&sideband->threads, pid, tid);
}

size_t sideband_filter__count(const struct sideband_filter *sideband)
{
	return process_threads__processes(&sideband->threads);
}

static bool is_listed(const struct sideband_filter *sideband, uint32_t pid)
{
	return process_threads__of(&sideband->threads, (pid_t)pid) != 0;
}

/* A child is listed if its parent is: in (unless children are not wanted) or left out. */
static int learn_fork(struct sideband_filter *sideband, const struct task_event *fork)
{
	bool thread = fork->pid == fork->ppid;

	if (!is_listed(sideband, fork->ppid))
		return 0;
	if (sideband->no_inherit && !sideband->all && !thread)
		return 0;
	return sideband_filter__add(sideband, (pid_t)fork->pid, (pid_t)fork->tid);
}

/* The recorder itself stays left out, whichever of its threads end. */
static void learn_exit(struct sideband_filter *sideband, const struct task_event *gone)
{
	if ((pid_t)gone->tid != sideband->own)
		process_threads__remove(&sideband->threads, (pid_t)gone->tid);
}

/* An exec ends all threads but one, which tells of no end of its own: it goes by another id. */
static int learn_comm(struct sideband_filter *sideband, const struct task_event *comm)
{
	if (!(comm->header.misc & PERF_RECORD_MISC_COMM_EXEC))
		return 0;
	return process_threads__exec(&sideband->threads, (pid_t)comm->pid);
}

int sideband_filter__time(const void *event, size_t size, uint64_t *time)
{
	struct sample_id id;

	if (size < sizeof(struct perf_event_header) + 2 * sizeof(uint32_t) + sizeof(id))
		return -EINVAL;
	memcpy(&id, (const char *)event + size - sizeof(id), sizeof(id));
	*time = id.time;
	return 0;
}

void sideband_filter__unmark(void *event)
{
	struct perf_event_header *header = event;

	header->misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
}

int sideband_filter__wants(struct sideband_filter *sideband, const void *event, size_t size,
			   uint64_t *time)
{
	const struct task_event *task = event;
	bool wanted;
	int err = 0;

	if (sideband_filter__time(event, size, time))
		return -EINVAL;
	switch (task->header.type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		if (size < sizeof(*task) + sizeof(struct sample_id))
			return -EINVAL;
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
		break;
	default:
		return -EINVAL;
	}
	/* Of another PID namespace than ours, or of an idle task. */
	if (!task->pid || task->pid == UINT32_MAX)
		return 0;
	if (task->header.type == PERF_RECORD_FORK)
		err = learn_fork(sideband, task);
	else if (task->header.type == PERF_RECORD_COMM)
		err = learn_comm(sideband, task);
	if (err)
		return err;
	wanted = is_listed(sideband, task->pid) != sideband->all;
	if (task->header.type == PERF_RECORD_EXIT)
		learn_exit(sideband, task);
	return wanted;
}
