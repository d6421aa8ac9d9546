/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/wait_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/live_thread.h"
#include "host/pidns.h"
#include "machine/machine.h"

/* The tid in our namespace of a thread that is inner in the waiter's; 0: not known. */
static pid_t outer_id(struct wait_names *names, pid_t pid, pid_t inner)
{
	struct inner_thread *known =
		&names->threads[(uint32_t)(pid ^ inner * 31) % WAIT_NAMES_THREADS];

	if (known->pid == pid && known->inner == inner && known->tid)
		return known->tid;
	*known = (struct inner_thread){ pid, inner, pidns__find_thread(pid, inner) };
	return known->tid;
}

/* The thread that had the id when the block began, or when it ended. */
static const struct thread *find_thread(const struct machine *machine, pid_t tid,
					const struct sample *sample)
{
	uint64_t ns = sample->count == 1 ? sample->measured : 0;
	const struct thread *thread = machine__thread_at(machine, tid, sample->time - ns);

	return thread ? thread : machine__thread_at(machine, tid, sample->time);
}

static void name_owner(struct wait_names *names, const struct sample *sample,
		       struct reason *reason)
{
	pid_t tid = (pid_t)reason->owner;
	const struct thread *thread;
	const char *comm;

	if (reason->inner_pids)
		tid = outer_id(names, (pid_t)sample->pid, tid);
	thread = tid ? find_thread(names->machine, tid, sample) : NULL;
	if (thread && (reason->owner_shared || thread->process->pid == (pid_t)sample->pid)) {
		reason->owner = (uint32_t)tid;
		comm = thread__comm_at(thread, sample->time);
		snprintf(reason->owner_comm, sizeof(reason->owner_comm), "%s", comm ? comm : "");
		return;
	}
	/* Processes that are not recorded are not followed. */
	if (thread || !tid || !reason->owner_shared || reason->inner_pids ||
	    live_thread__comm(tid, reason->owner_comm))
		reason->owner = 0;
}

static void name_object(struct wait_names *names, const struct sample *sample,
			struct reason *reason)
{
	uint64_t addr = reason->args[0];

	if (!data_symbols__find(&names->symbols, names->machine, (pid_t)sample->pid, sample->time,
				addr, reason->futex_at, sizeof(reason->futex_at)))
		return;
	if (reason->heap_start)
		snprintf(reason->futex_at, sizeof(reason->futex_at), "[heap]+0x%" PRIx64,
			 addr - reason->heap_start);
}

void wait_names__fill(struct wait_names *names, const struct sample *sample,
		      struct reason *reason)
{
	if (reason->owner)
		name_owner(names, sample, reason);
	if (reason->futex)
		name_object(names, sample, reason);
}

void wait_names__free(struct wait_names *names)
{
	data_symbols__free(&names->symbols);
}
