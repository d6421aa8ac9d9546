/* SPDX-License-Identifier: GPL-2.0-only */
#include "callchain/callchain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "output/perfdata/layout.h"
#include "unwind/worker.h"

static const struct space *space_of(const struct chains *chains)
{
	return chains->worker ? unwind_worker__space(chains->worker) : chains->space;
}

/* The user frames up to the first one that lies in no code. */
static size_t good_frames(const struct chains *chains, const struct sample *sample)
{
	if (chains->incomplete)
		return space__keep_possible(sample->user.ips, sample->user.nr);
	return space__keep_frames(space_of(chains), (pid_t)sample->pid, sample->time,
				  sample->user.ips, sample->user.nr);
}

/* Has the process judged by a chain along frame pointers. */
static int judge(struct chains *chains, const struct sample *sample, size_t kept)
{
	int ret;

	if (!chains->choose || !sample->user.nr || sample->wakeup)
		return 0;
	ret = evidence__add(&chains->evidence, (pid_t)sample->pid, &sample->user, kept,
			    sample->count);
	if (ret <= 0)
		return ret;
	pr_verbose("pid %u: chains along its frame pointers end early; from now on its stacks are "
		   "copied and unwound",
		   sample->pid);
	chains->choose(chains->choose_ctx, (pid_t)sample->pid, true);
	return 0;
}

/* With the frames of frame pointers, as far as they are some. */
static int cut_and_give(struct chains *chains, const struct sample *sample)
{
	size_t nr = good_frames(chains, sample);
	struct sample cut;
	int err = judge(chains, sample, nr);

	if (err)
		return err;
	if (nr == sample->user.nr)
		return chains->give(chains->ctx, sample);
	cut = *sample;
	cut.user.nr = (uint32_t)nr;
	cut.user.truncated = true;
	chains->stats.cut++;
	return chains->give(chains->ctx, &cut);
}

static int fall_back(struct chains *chains, const struct sample *sample)
{
	chains->stats.fell_back++;
	return cut_and_give(chains, sample);
}

/*
 * The root of the thread is where a chain is whole; what a copy gave less of is still right as
 * far as it goes.
 */
static int take_result(void *ctx, void *cookie, const struct unwind_result *result)
{
	struct chains *chains = ctx;
	struct sample sample;
	int err;

	/* Results come in the order of the samples. */
	if (!cookie || cookie != chains->pending.first)
		return -EPROTO;
	sample = *held__first(&chains->pending);
	if (result->nr) {
		sample.user = (struct frames){ result->ips, result->nr,
					       result->status != UNWIND_COMPLETE };
		chains->stats.unwound += result->status == UNWIND_COMPLETE;
		chains->stats.truncated += result->status != UNWIND_COMPLETE;
		err = chains->give(chains->ctx, &sample);
	} else {
		err = fall_back(chains, &sample);
	}
	held__drop(&chains->pending);
	return err;
}

int chains__init(struct chains *chains, enum chains_mode mode,
		 int (*give)(void *ctx, const struct sample *sample), void *ctx)
{
	const struct unwind_worker_options options = { 0 };

	*chains = (struct chains){ .raw = mode == CHAINS_RAW, .give = give, .ctx = ctx };
	if (mode == CHAINS_UNWIND)
		chains->worker = unwind_worker__new(&options, take_result, chains);
	else
		chains->space = space__new();
	return chains->space || chains->worker ? 0 : -ENOMEM;
}

int chains__start(struct chains *chains, uint32_t max_frames)
{
	int err = chains->worker ? unwind_worker__start(chains->worker) : 0;

	chains->max_frames = max_frames;
	if (err)
		pr_err("cannot start the process that unwinds: %s", strerror(-err));
	return err;
}

void chains__free(struct chains *chains)
{
	held__free(&chains->waiting);
	held__free(&chains->pending);
	evidence__free(&chains->evidence);
	unwind_worker__delete(chains->worker);
	space__delete(chains->space);
	chains->worker = NULL;
	chains->space = NULL;
}

/* Hands a sample over, to come back by take_result(), or gives it if there is no room. */
static int put(struct chains *chains, const struct sample *sample)
{
	struct unwind_sample unwind = {
		.pid = (pid_t)sample->pid,
		.time = sample->time,
		.stack = sample->copy->bytes,
		.stack_bytes = sample->copy->nr,
		.max_frames = chains->max_frames,
	};
	struct sample rest = *sample;
	struct held_sample *own;
	int err;

	rest.copy = NULL;
	own = held_sample__new(&rest);
	if (!own)
		return -ENOMEM;
	memcpy(unwind.regs.r, sample->copy->regs, sizeof(unwind.regs.r));
	err = unwind_worker__put(chains->worker, &unwind, own);
	if (!err) {
		held__push(&chains->pending, own);
		return 0;
	}
	free(own);
	return err == -ENOMEM ? err : fall_back(chains, &rest);
}

/* The maps of its time are known. */
static int resolve(struct chains *chains, const struct sample *sample)
{
	if (chains->worker && sample->copy)
		return put(chains, sample);
	return cut_and_give(chains, sample);
}

int chains__sample(struct chains *chains, const struct sample *sample)
{
	struct sample own = *sample;

	if (!chains->worker && !chains->raw)
		own.copy = NULL;
	if (own.time < chains->settled || (!own.copy && !own.user.nr))
		return resolve(chains, &own);
	/* What is known to be code is so whatever is yet to come. */
	if (!(chains->worker && own.copy) && good_frames(chains, &own) == own.user.nr)
		return cut_and_give(chains, &own);
	return held__add(&chains->waiting, &own);
}

int chains__settled(struct chains *chains, uint64_t time)
{
	const struct sample *sample;
	int err = 0;

	chains->settled = time;
	while (!err && (sample = held__first(&chains->waiting)) && sample->time < time) {
		err = resolve(chains, sample);
		held__drop(&chains->waiting);
	}
	return err ? err : chains__poll(chains, 0);
}

static int add_map(struct chains *chains, pid_t pid, const struct space_map *map, uint64_t time)
{
	return chains->worker ? unwind_worker__map(chains->worker, pid, map, time) :
				space__map(chains->space, pid, map, time);
}

int chains__map(struct chains *chains, pid_t pid, const struct space_map *map)
{
	return add_map(chains, pid, map, 0);
}

static int follow_map(struct chains *chains, const void *event, size_t size, uint64_t time)
{
	struct layout_mmap2 map;
	struct space_map new;

	if (size <= sizeof(map))
		return 0;
	memcpy(&map, event, sizeof(map));
	if (map.header.misc & PERF_RECORD_MISC_MMAP_DATA)
		return 0;
	new = (struct space_map){
		.start = map.start,
		.len = map.len,
		.pgoff = map.pgoff,
		.maj = map.maj,
		.min = map.min,
		.ino = map.ino,
		.generation = map.ino_generation,
		.path = (const char *)event + sizeof(map),
	};
	return add_map(chains, (pid_t)map.pid, &new, time);
}

static int add_fork(struct chains *chains, pid_t pid, pid_t parent, uint64_t time)
{
	if (chains->choose && evidence__fork(&chains->evidence, pid, parent))
		chains->choose(chains->choose_ctx, pid, true);
	return chains->worker ? unwind_worker__fork(chains->worker, pid, parent, time) :
				space__fork(chains->space, pid, parent, time);
}

/* A process is another program now, or none. */
static void forget_evidence(struct chains *chains, pid_t pid)
{
	if (chains->choose && evidence__forget(&chains->evidence, pid))
		chains->choose(chains->choose_ctx, pid, false);
}

static int add_exec(struct chains *chains, pid_t pid, uint64_t time)
{
	forget_evidence(chains, pid);
	return chains->worker ? unwind_worker__exec(chains->worker, pid, time) :
				space__exec(chains->space, pid, time);
}

static void add_exit(struct chains *chains, pid_t pid, uint64_t time)
{
	forget_evidence(chains, pid);
	if (chains->worker)
		unwind_worker__exit(chains->worker, pid, time);
	else
		space__exit(chains->space, pid, time);
}

static int follow_task(struct chains *chains, const void *event, size_t size, uint64_t time)
{
	struct layout_task task;

	if (size < sizeof(task))
		return 0;
	memcpy(&task, event, sizeof(task));
	if (task.header.type == PERF_RECORD_FORK && task.pid != task.ppid)
		return add_fork(chains, (pid_t)task.pid, (pid_t)task.ppid, time);
	if (task.header.type == PERF_RECORD_EXIT && task.pid == task.tid)
		add_exit(chains, (pid_t)task.pid, time);
	return 0;
}

static int follow_comm(struct chains *chains, const void *event, size_t size, uint64_t time)
{
	struct layout_comm comm;

	if (size < sizeof(comm))
		return 0;
	memcpy(&comm, event, sizeof(comm));
	if (!(comm.header.misc & PERF_RECORD_MISC_COMM_EXEC))
		return 0;
	return add_exec(chains, (pid_t)comm.pid, time);
}

int chains__sideband(struct chains *chains, const void *event, size_t size, uint64_t time)
{
	struct perf_event_header header;

	memcpy(&header, event, sizeof(header));
	switch (header.type) {
	case PERF_RECORD_MMAP2:
		return follow_map(chains, event, size, time);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return follow_task(chains, event, size, time);
	case PERF_RECORD_COMM:
		return follow_comm(chains, event, size, time);
	}
	return 0;
}

void chains__lost(struct chains *chains)
{
	chains->incomplete = true;
}

static uint64_t oldest_of(const struct held *held, uint64_t oldest)
{
	for (const struct held_sample *own = held->first; own; own = own->next) {
		if (own->sample.time < oldest)
			oldest = own->sample.time;
	}
	return oldest;
}

uint64_t chains__oldest(const struct chains *chains)
{
	return oldest_of(&chains->pending, oldest_of(&chains->waiting, UINT64_MAX));
}

size_t chains__pending(const struct chains *chains)
{
	return chains->pending.nr;
}

int chains__poll(struct chains *chains, int timeout_ms)
{
	return chains->pending.nr ? unwind_worker__poll(chains->worker, timeout_ms) : 0;
}

int chains__abandon(struct chains *chains)
{
	return chains->pending.nr ? unwind_worker__abandon(chains->worker) : 0;
}

void chains__round(struct chains *chains)
{
	uint64_t oldest = chains__oldest(chains);

	/* Sums of the window that ends now were before the previous round at the earliest. */
	if (oldest > chains->last_round)
		oldest = chains->last_round;
	if (chains->worker)
		unwind_worker__forget(chains->worker, oldest);
	else
		space__forget(chains->space, oldest);
	chains->last_round = chains->settled;
}
