/* SPDX-License-Identifier: GPL-2.0-only */
#include "callchain/callchain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "machine/record_layout.h"
#include "unwind/maps.h"
#include "unwind/worker.h"

static const struct address_space *space_of(const struct callchain *callchain)
{
	return callchain->worker ? unwind_worker__space(callchain->worker) : callchain->space;
}

/* The user frames up to the first one that lies in no code. */
static size_t good_frames(const struct callchain *callchain, const struct sample *sample)
{
	if (callchain->incomplete)
		return address_space__keep_possible(sample->user.ips, sample->user.nr);
	return address_space__keep_frames(space_of(callchain), (pid_t)sample->pid, sample->time,
				  sample->user.ips, sample->user.nr);
}

/*
 * Whether good_frames() can tell code from garbage already. The maps of a process that was born a
 * moment ago may be in a ring that is read later.
 */
static bool has_maps(const struct callchain *callchain, const struct sample *sample)
{
	const struct maps *maps =
		address_space__at(space_of(callchain), (pid_t)sample->pid, sample->time);

	return callchain->incomplete || (maps && !maps__is_incomplete(maps));
}

/* Has the process judged by a chain along frame pointers. */
static int judge(struct callchain *callchain, const struct sample *sample, size_t kept)
{
	int ret;

	if (!callchain->choose || !sample->user.nr || sample->kind != SAMPLE_OFFCPU)
		return 0;
	ret = fp_quality__add(&callchain->fp_quality, (pid_t)sample->pid, &sample->user, kept,
			    sample->count);
	if (ret <= 0)
		return ret;
	pr_verbose("pid %u: chains along its frame pointers end early; from now on its stacks are "
		   "copied and unwound",
		   sample->pid);
	callchain->choose(callchain->choose_ctx, (pid_t)sample->pid, true);
	return 0;
}

/* With the frames of frame pointers, as far as they are some. */
static int cut_and_give(struct callchain *callchain, const struct sample *sample)
{
	size_t nr = good_frames(callchain, sample);
	struct sample cut;
	int err = judge(callchain, sample, nr);

	if (err)
		return err;
	if (nr == sample->user.nr)
		return callchain->give(callchain->ctx, sample);
	cut = *sample;
	cut.user.nr = (uint32_t)nr;
	cut.user.truncated = true;
	callchain->stats.cut++;
	return callchain->give(callchain->ctx, &cut);
}

static int fall_back(struct callchain *callchain, const struct sample *sample)
{
	callchain->stats.fell_back++;
	return cut_and_give(callchain, sample);
}

/*
 * The root of the thread is where a chain is whole; what a copy gave less of is still right as
 * far as it goes.
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
		callchain->stats.unwound += result->status == UNWIND_COMPLETE;
		callchain->stats.truncated += result->status != UNWIND_COMPLETE;
		err = callchain->give(callchain->ctx, &sample);
	} else {
		err = fall_back(callchain, &sample);
	}
	sample_queue__drop(&callchain->pending);
	return err;
}

int callchain__init(struct callchain *callchain, enum callchain_mode mode,
		 int (*give)(void *ctx, const struct sample *sample), void *ctx)
{
	const struct unwind_worker_options options = { 0 };

	*callchain = (struct callchain){ .raw = mode == CALLCHAIN_RAW, .give = give, .ctx = ctx };
	if (mode == CALLCHAIN_UNWIND)
		callchain->worker = unwind_worker__new(&options, take_result, callchain);
	else
		callchain->space = address_space__new();
	return callchain->space || callchain->worker ? 0 : -ENOMEM;
}

int callchain__start(struct callchain *callchain, uint32_t max_frames)
{
	int err = callchain->worker ? unwind_worker__start(callchain->worker) : 0;

	callchain->max_frames = max_frames;
	/* A process may be out of reach for a moment; the first sample asks for it again. */
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
	fp_quality__free(&callchain->fp_quality);
	unwind_worker__delete(callchain->worker);
	address_space__delete(callchain->space);
	callchain->worker = NULL;
	callchain->space = NULL;
}

/* Hands a sample over, to come back by take_result(), or gives it if there is no room. */
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

/* The maps of its time are known. */
static int resolve(struct callchain *callchain, const struct sample *sample)
{
	if (callchain->worker && sample->copy)
		return put(callchain, sample);
	return cut_and_give(callchain, sample);
}

int callchain__sample(struct callchain *callchain, const struct sample *sample)
{
	struct sample own = *sample;

	if (!callchain->worker && !callchain->raw)
		own.copy = NULL;
	if (own.time < callchain->settled || (!own.copy && !own.user.nr))
		return resolve(callchain, &own);
	/* What is known to be code is so whatever is yet to come. */
	if (!(callchain->worker && own.copy) && has_maps(callchain, &own) &&
	    good_frames(callchain, &own) == own.user.nr)
		return cut_and_give(callchain, &own);
	return sample_queue__add(&callchain->waiting, &own);
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
	return err ? err : callchain__poll(callchain, 0);
}

static int add_map(struct callchain *callchain, pid_t pid, const struct address_space_map *map,
		   uint64_t time)
{
	return callchain->worker ? unwind_worker__map(callchain->worker, pid, map, time) :
				address_space__map(callchain->space, pid, map, time);
}

int callchain__map(struct callchain *callchain, pid_t pid, const struct address_space_map *map)
{
	return add_map(callchain, pid, map, 0);
}

static int follow_map(struct callchain *callchain, const void *event, size_t size, uint64_t time)
{
	struct layout_mmap2 map;
	struct address_space_map new;

	if (size <= sizeof(map))
		return 0;
	memcpy(&map, event, sizeof(map));
	if (map.header.misc & PERF_RECORD_MISC_MMAP_DATA)
		return 0;
	new = (struct address_space_map){
		.start = map.start,
		.len = map.len,
		.pgoff = map.pgoff,
		.maj = map.maj,
		.min = map.min,
		.ino = map.ino,
		.generation = map.ino_generation,
		.path = (const char *)event + sizeof(map),
	};
	return add_map(callchain, (pid_t)map.pid, &new, time);
}

static int add_fork(struct callchain *callchain, pid_t pid, pid_t parent, uint64_t time)
{
	if (callchain->choose && fp_quality__fork(&callchain->fp_quality, pid, parent))
		callchain->choose(callchain->choose_ctx, pid, true);
	return callchain->worker ? unwind_worker__fork(callchain->worker, pid, parent, time) :
				address_space__fork(callchain->space, pid, parent, time);
}

/* A process is another program now, or none. */
static void forget_fp_quality(struct callchain *callchain, pid_t pid)
{
	if (callchain->choose && fp_quality__forget(&callchain->fp_quality, pid))
		callchain->choose(callchain->choose_ctx, pid, false);
}

static int add_exec(struct callchain *callchain, pid_t pid, uint64_t time)
{
	forget_fp_quality(callchain, pid);
	return callchain->worker ? unwind_worker__exec(callchain->worker, pid, time) :
				address_space__exec(callchain->space, pid, time);
}

static void add_exit(struct callchain *callchain, pid_t pid, uint64_t time)
{
	forget_fp_quality(callchain, pid);
	if (callchain->worker)
		unwind_worker__exit(callchain->worker, pid, time);
	else
		address_space__exit(callchain->space, pid, time);
}

static int follow_task(struct callchain *callchain, const void *event, size_t size, uint64_t time)
{
	struct layout_task task;

	if (size < sizeof(task))
		return 0;
	memcpy(&task, event, sizeof(task));
	if (task.header.type == PERF_RECORD_FORK && task.pid != task.ppid)
		return add_fork(callchain, (pid_t)task.pid, (pid_t)task.ppid, time);
	if (task.header.type == PERF_RECORD_EXIT && task.pid == task.tid)
		add_exit(callchain, (pid_t)task.pid, time);
	return 0;
}

static int follow_comm(struct callchain *callchain, const void *event, size_t size, uint64_t time)
{
	struct layout_comm comm;

	if (size < sizeof(comm))
		return 0;
	memcpy(&comm, event, sizeof(comm));
	if (!(comm.header.misc & PERF_RECORD_MISC_COMM_EXEC))
		return 0;
	return add_exec(callchain, (pid_t)comm.pid, time);
}

int callchain__sideband(struct callchain *callchain, const void *event, size_t size, uint64_t time)
{
	struct perf_event_header header;

	memcpy(&header, event, sizeof(header));
	switch (header.type) {
	case PERF_RECORD_MMAP2:
		return follow_map(callchain, event, size, time);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return follow_task(callchain, event, size, time);
	case PERF_RECORD_COMM:
		return follow_comm(callchain, event, size, time);
	}
	return 0;
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

size_t callchain__pending(const struct callchain *callchain)
{
	return callchain->pending.nr;
}

int callchain__poll(struct callchain *callchain, int timeout_ms)
{
	return callchain->pending.nr ? unwind_worker__poll(callchain->worker, timeout_ms) : 0;
}

int callchain__abandon(struct callchain *callchain)
{
	return callchain->pending.nr ? unwind_worker__abandon(callchain->worker) : 0;
}

void callchain__round(struct callchain *callchain)
{
	uint64_t oldest = callchain__oldest(callchain);

	/* Sums of the window that ends now were before the previous round at the earliest. */
	if (oldest > callchain->last_round)
		oldest = callchain->last_round;
	if (callchain->worker)
		unwind_worker__forget(callchain->worker, oldest);
	else
		address_space__forget(callchain->space, oldest);
	callchain->last_round = callchain->settled;
}
