/* SPDX-License-Identifier: GPL-2.0-only */
#include "callchain/callchain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "callchain/fp_quality.h"
#include "callchain/user_chain.h"
#include "machine/machine.h"
#include "unwind/worker.h"

/* Interval of progress reports to a waiting caller. */
#define PROGRESS_MS 200

/* The process of a sample, looked up once. */
struct owner {
	struct process *process; /* NULL: not known */
	const struct maps *maps; /* of the sample's time; NULL: not known */
};

static struct owner owner_of(const struct callchain *callchain, const struct sample *sample)
{
	struct process *process =
		machine__process_at(callchain->machine, (pid_t)sample->pid, sample->time);

	return (struct owner){ process, process__maps_at(process, sample->time) };
}

/* The number of user frames up to the first one that lies in no code. */
static size_t good_frames(const struct callchain *callchain, const struct owner *owner,
			  const struct sample *sample)
{
	if (callchain->incomplete)
		return user_chain__possible(sample->user.ips, sample->user.nr);
	return user_chain__code(owner->maps, sample->time, sample->user.ips, sample->user.nr);
}

/*
 * True if good_frames() can tell code from garbage by now. The maps of a new process may be in a
 * ring that is read later.
 */
static bool has_maps(const struct callchain *callchain, const struct owner *owner)
{
	return callchain->incomplete || (owner->maps && !maps__is_incomplete(owner->maps));
}

/* The reason's owner may have been born, or renamed, by a record that is still to be delivered. */
static bool names_thread(const struct sample *sample)
{
	return sample->reason && sample->reason->owner;
}

/* Switches a process without frame pointers to copies, and logs that with -v. */
static void choose(struct callchain *callchain, pid_t pid)
{
	pr_verbose("pid %d: chains along its frame pointers end early; from now on its stacks are "
		   "copied and unwound",
		   (int)pid);
	callchain->choose(callchain->choose_ctx, pid, true);
}

/* Judges the process by a chain along frame pointers. */
static void judge(struct callchain *callchain, struct process *process,
		  const struct sample *sample, size_t kept)
{
	if (!callchain->choose || !process || !sample->user.nr || sample->by_tables)
		return;
	if (fp_quality__add(&process->fp_quality, &sample->user, kept, sample->count))
		choose(callchain, (pid_t)sample->pid);
}

/* Delivers the sample with the first nr frames of the chain that the programs walked. */
static int give_frames(struct callchain *callchain, const struct owner *owner,
		       const struct sample *sample, size_t nr)
{
	struct sample given = *sample;

	judge(callchain, owner->process, sample, nr);
	if (!sample->by_tables && sample->user_end == CHAIN_WHOLE && sample->user.nr &&
	    fp_quality__is_cut(&sample->user, nr))
		given.user_end = CHAIN_NO_POINTERS;
	else if (sample->by_tables && nr < sample->user.nr && sample->user_end == CHAIN_WHOLE)
		given.user_end = CHAIN_GARBAGE;
	if (nr != sample->user.nr) {
		given.user.nr = (uint32_t)nr;
		given.user.truncated = true;
		callchain->stats.cut++;
	}
	return callchain->give(callchain->ctx, &given);
}

static int cut_and_give(struct callchain *callchain, const struct sample *sample)
{
	struct owner owner = owner_of(callchain, sample);

	return give_frames(callchain, &owner, sample, good_frames(callchain, &owner, sample));
}

static int fall_back(struct callchain *callchain, const struct sample *sample)
{
	callchain->stats.fell_back++;
	return cut_and_give(callchain, sample);
}

/* Why a chain that was unwound from a copy has no more frames. */
static enum chain_end end_of(const struct sample *sample, enum unwind_status status)
{
	switch (status) {
	case UNWIND_CUT_STACK:
		/* Where a table was missing, the copy is a small one. */
		return sample->by_tables ? sample->user_end : CHAIN_BEYOND_COPY;
	case UNWIND_CUT_CFI:
		return CHAIN_NO_CFI;
	case UNWIND_CUT_GARBAGE:
		return CHAIN_GARBAGE;
	default:
		return CHAIN_WHOLE;
	}
}

/*
 * A chain up to the thread's root is complete; a shorter one from a copy is right as far as it
 * goes.
 */
static int take_result(void *ctx, void *cookie, const struct unwind_result *result)
{
	struct callchain *callchain = ctx;
	struct sample sample;
	int err;

	/* Results come in the order of the samples. */
	if (!cookie || cookie != callchain->pending.first)
		return -EPROTO;
	sample = *sample_queue__first(&callchain->pending);
	if (result->nr) {
		sample.user = (struct frames){ result->ips, result->nr,
					       result->status != UNWIND_COMPLETE };
		sample.user_end = end_of(&sample, result->status);
		callchain->stats.unwound += result->status == UNWIND_COMPLETE;
		callchain->stats.truncated += result->status != UNWIND_COMPLETE;
		err = callchain->give(callchain->ctx, &sample);
	} else {
		err = fall_back(callchain, &sample);
	}
	sample_queue__drop(&callchain->pending);
	return err;
}

int callchain__init(struct callchain *callchain, enum callchain_mode mode, struct machine *machine,
		    int (*give)(void *ctx, const struct sample *sample), void *ctx)
{
	const struct unwind_worker_options options = { 0 };

	*callchain = (struct callchain){
		.machine = machine, .raw = mode == CALLCHAIN_RAW, .give = give, .ctx = ctx
	};
	if (mode != CALLCHAIN_UNWIND)
		return 0;
	callchain->worker = unwind_worker__new(&options, machine, take_result, callchain);
	return callchain->worker ? 0 : -ENOMEM;
}

int callchain__start(struct callchain *callchain, uint32_t max_frames)
{
	int err = callchain->worker ? unwind_worker__start(callchain->worker) : 0;

	callchain->max_frames = max_frames;
	/* A failure to fork may be temporary; the first sample tries again. */
	if (err)
		pr_verbose("the process that unwinds cannot be started yet: %s", strerror(-err));
	return 0;
}

uint64_t callchain__cpu_ns(const struct callchain *callchain, uint64_t *gone_ns)
{
	struct unwind_worker_stats stats = { 0 };

	if (callchain->worker)
		unwind_worker__stats(callchain->worker, &stats);
	*gone_ns = stats.gone_ns;
	return stats.cpu_ns;
}

void callchain__free(struct callchain *callchain)
{
	sample_queue__free(&callchain->waiting);
	sample_queue__free(&callchain->pending);
	unwind_worker__delete(callchain->worker);
	callchain->worker = NULL;
}

/* Passes a sample to the worker, to come back by take_result(); delivers it if that is full. */
static int put(struct callchain *callchain, const struct sample *sample)
{
	struct unwind_sample unwind = {
		.pid = (pid_t)sample->pid,
		.time = sample->time,
		.stack = sample->copy->bytes,
		.stack_bytes = sample->copy->nr,
		.max_frames = callchain->max_frames,
	};
	struct sample rest = *sample;
	struct queued_sample *own;
	int err;

	rest.copy = NULL;
	own = queued_sample__new(&rest);
	if (!own)
		return -ENOMEM;
	memcpy(unwind.regs.r, sample->copy->regs, sizeof(unwind.regs.r));
	err = unwind_worker__put(callchain->worker, &unwind, own);
	if (!err) {
		sample_queue__push(&callchain->pending, own);
		return 0;
	}
	free(own);
	return err == -ENOMEM ? err : fall_back(callchain, &rest);
}

/* Called once the maps of the sample's time are known. */
static int resolve(struct callchain *callchain, const struct sample *sample)
{
	if (callchain->worker && sample->copy)
		return put(callchain, sample);
	return cut_and_give(callchain, sample);
}

int callchain__sample(struct callchain *callchain, const struct sample *sample)
{
	struct sample own = *sample;
	struct owner owner;

	if (!callchain->worker && !callchain->raw)
		own.copy = NULL;
	if (own.time < callchain->settled)
		return resolve(callchain, &own);
	if (names_thread(&own))
		return sample_queue__add(&callchain->waiting, &own);
	if (!own.copy && !own.user.nr)
		return resolve(callchain, &own);
	if (callchain->worker && own.copy)
		return sample_queue__add(&callchain->waiting, &own);
	/* Addresses known to be code stay that, whatever comes later. */
	owner = owner_of(callchain, &own);
	if (has_maps(callchain, &owner) && good_frames(callchain, &owner, &own) == own.user.nr)
		return give_frames(callchain, &owner, &own, own.user.nr);
	return sample_queue__add(&callchain->waiting, &own);
}

/* Delivers unwound samples; waits for them, timeout_ms at most. 0 or give's error. */
static int poll_worker(struct callchain *callchain, int timeout_ms)
{
	return callchain->pending.nr ? unwind_worker__poll(callchain->worker, timeout_ms) : 0;
}

int callchain__settled(struct callchain *callchain, uint64_t time)
{
	const struct sample *sample;
	int err = 0;

	callchain->settled = time;
	while (!err && (sample = sample_queue__first(&callchain->waiting)) && sample->time < time) {
		err = resolve(callchain, sample);
		sample_queue__drop(&callchain->waiting);
	}
	return err ? err : poll_worker(callchain, 0);
}

/* A child has its parent's code until it execs. */
static void follow_fork(struct callchain *callchain, pid_t pid)
{
	struct process *process = machine__process(callchain->machine, pid);

	process->fp_quality = fp_quality__of_child(process->fp_quality);
	if (fp_quality__is_bad(process->fp_quality))
		callchain->choose(callchain->choose_ctx, pid, true);
	else if (process->before && fp_quality__is_bad(process->before->fp_quality))
		callchain->choose(callchain->choose_ctx, pid, false);
}

/* Called at the exec or the end of a process. */
static void forget_fp_quality(struct callchain *callchain, struct process *process)
{
	if (fp_quality__is_bad(process->fp_quality))
		callchain->choose(callchain->choose_ctx, process->pid, false);
	process->fp_quality = 0;
}

static void follow_fp_quality(struct callchain *callchain, const struct task_event *event)
{
	struct process *process = machine__process(callchain->machine, event->pid);

	if (event->kind == TASK_EVENT_FORK && event->pid != event->ppid)
		follow_fork(callchain, event->pid);
	else if (event->kind == TASK_EVENT_EXEC ||
		 (event->kind == TASK_EVENT_EXIT && process && !process__lives(process)))
		forget_fp_quality(callchain, process);
}

void callchain__task(struct callchain *callchain, const struct task_event *event)
{
	if (callchain->choose)
		follow_fp_quality(callchain, event);
	if (callchain->worker)
		unwind_worker__tell(callchain->worker, event);
}

void callchain__lost(struct callchain *callchain)
{
	callchain->incomplete = true;
}

static uint64_t oldest_of(const struct sample_queue *held, uint64_t oldest)
{
	for (const struct queued_sample *own = held->first; own; own = own->next) {
		if (own->sample.time < oldest)
			oldest = own->sample.time;
	}
	return oldest;
}

uint64_t callchain__oldest(const struct callchain *callchain)
{
	return oldest_of(&callchain->pending, oldest_of(&callchain->waiting, UINT64_MAX));
}

int callchain__finish(struct callchain *callchain, int deadline_ms,
		      void (*progress)(void *ctx, size_t left), void *ctx)
{
	uint64_t deadline = clock__now_ns() + (uint64_t)deadline_ms * NSEC_PER_MSEC;
	int err = 0;

	while (!err && callchain->pending.nr) {
		if (clock__now_ns() >= deadline)
			return unwind_worker__abandon(callchain->worker);
		if (progress)
			progress(ctx, callchain->pending.nr);
		err = poll_worker(callchain, PROGRESS_MS);
	}
	return err;
}

void callchain__round(struct callchain *callchain)
{
	uint64_t oldest = callchain__oldest(callchain);

	/* Sums of the window that ends now were before the previous round at the earliest. */
	if (oldest > callchain->last_round)
		oldest = callchain->last_round;
	machine__forget(callchain->machine, oldest);
	if (callchain->worker)
		unwind_worker__forget(callchain->worker, oldest);
	callchain->last_round = callchain->settled;
}
