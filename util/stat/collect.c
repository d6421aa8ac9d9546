/* SPDX-License-Identifier: GPL-2.0-only */
/* From what the BPF programs kept to plain values: the wire ends here. */
#include "stat/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "bpf/stat.h"
#include "stat/decode_times.h"
#include "stat/file_waits.h"
#include "stat/objects.h"
#include "stat/rollup.h"

_Static_assert((int)STAT_STATE_MAX == WIRE_STATE_MAX && sizeof(STAT_STATES) == WIRE_STATE_MAX + 1,
	       "states have one order");
_Static_assert((int)STAT_FILE_REGULAR == STAT_WIRE_FILE_REGULAR &&
		       (int)STAT_FILE_SOCKET == STAT_WIRE_FILE_SOCKET &&
		       (int)STAT_FILE_PIPE == STAT_WIRE_FILE_PIPE &&
		       (int)STAT_FILE_OTHER == STAT_WIRE_FILE_OTHER,
	       "types of files have one order");

/* How often all is read again because a thread ended meanwhile, which moves its sums. */
#define TRIES 8

/* For how long, and how often, the last switches of threads that have exited are waited for. */
#define LAST_SWITCH_NS 1000000000U
#define LOOK_NS 1000000

struct collection {
	const struct stat_programs *programs;
	struct rollup rollup;
	struct buffer open_calls; /* struct stat_open_call */
	struct objects objects;
	uint64_t leaving; /* listed threads that exit */
};

static void decode_sums(struct stat_task *task, const struct stat_wire_sums *sums)
{
	uint64_t known;

	task->wall_ns = sums->wall_ns;
	task->running_ns = sums->running_ns;
	task->runnable_ns = sums->runnable_ns;
	task->blocked_ns = sums->blocked_ns;
	task->lock_ns = sums->lock_ns;
	task->owned_ns = sums->owned_ns;
	known = sums->running_ns + sums->runnable_ns + sums->blocked_ns;
	task->filtered_ns = sums->wall_ns > known ? sums->wall_ns - known : 0;
	decode_times(&task->offcpu, &sums->offcpu);
	for (int i = 0; i < WIRE_STATE_MAX; i++) {
		const struct stat_wire_state *state = &sums->state[i];

		task->state[i].count = state->count;
		task->state[i].total_ns = state->ns;
		task->state[i].max_ns = state->max_ns;
		task->state[i].min_ns = state->count ? ~state->not_min_ns : 0;
	}
}

/* Filters of users, cgroups and CPUs left out all of its time, or it was born after the end. */
static bool is_left_out(const struct stat_task *task)
{
	return task->filtered_ns == task->wall_ns && !task->nr_calls;
}

static void decode_key(struct stat_call *call, uint32_t key)
{
	call->nr = key & STAT_WIRE_CALL_NR;
	call->abi = key & STAT_WIRE_CALL_COMPAT ? STAT_ABI_COMPAT :
		    key & STAT_WIRE_CALL_X32	? STAT_ABI_X32 :
						  STAT_ABI_NATIVE;
	call->file = (enum stat_file)((key & ~STAT_WIRE_CALL_USED) >> STAT_WIRE_CALL_FILE_SHIFT);
}

/* The list of a thread that runs may change meanwhile: it is followed only so far. */
static int add_calls(const struct collection *collection, struct stat_task *task, uint32_t first)
{
	const struct stat_wire_call *wire = stat_programs__call(collection->programs, first);
	struct stat_call call = { 0 };
	int err = 0;

	for (int i = 0; wire && i < STAT_WIRE_LIST && !err; i++) {
		decode_key(&call, wire->key);
		call.errors = wire->errors;
		call.blocked_ns = wire->blocked_ns;
		decode_times(&call.times, &wire->times);
		if (call.times.count)
			err = rollup__add_call(task, &call);
		wire = stat_programs__call(collection->programs, wire->next);
	}
	return err;
}

/* A call that has not returned counts from its entry, or from the start of the measurement. */
static int add_open_call(struct collection *collection, const struct stat_wire_thread *thread)
{
	struct stat_open_call *open;
	struct stat_call call = { 0 };

	if (!thread->open_call)
		return 0;
	open = buffer__reserve(&collection->open_calls, sizeof(*open));
	if (!open)
		return -ENOMEM;
	decode_key(&call, thread->open_call);
	*open = (struct stat_open_call){
		.pid = (pid_t)thread->pid,
		.tid = (pid_t)thread->tid,
		.nr = call.nr,
		.abi = call.abi,
		.file = call.file,
		.since_ns = thread->open_since,
		.ns = thread->time > thread->open_since ? thread->time - thread->open_since : 0,
	};
	memcpy(open->comm, thread->comm, sizeof(open->comm));
	collection->open_calls.len += sizeof(*open);
	return 0;
}

static int add_thread(struct collection *collection, const struct stat_wire_thread *wire)
{
	struct stat_task thread = {
		.pid = (pid_t)wire->pid,
		.tid = (pid_t)wire->tid,
		.ppid = (pid_t)wire->ppid,
		.incarnation = wire->incarnation,
		.kthread = wire->flags & STAT_WIRE_KTHREAD,
		.threads = 1,
		.lock = wire->lock,
	};
	int err;

	memcpy(thread.comm, wire->comm, sizeof(thread.comm));
	thread.comm[sizeof(thread.comm) - 1] = '\0';
	decode_sums(&thread, &wire->sums);
	err = add_calls(collection, &thread, wire->first_call);
	if (err || is_left_out(&thread)) {
		free(thread.calls);
		return err;
	}
	err = rollup__add_thread(&collection->rollup, &thread);
	if (!err)
		err = objects__note_wait(&collection->objects, wire);
	return err ? err : add_open_call(collection, wire);
}

static int take_threads(void *ctx, const void *data, size_t size)
{
	struct collection *collection = ctx;
	struct stat_wire_thread thread;
	int err = 0;

	for (size_t at = 0; at + sizeof(thread) <= size && !err; at += sizeof(thread)) {
		memcpy(&thread, (const char *)data + at, sizeof(thread));
		err = add_thread(collection, &thread);
		collection->leaving += !!(thread.flags & STAT_WIRE_LEAVING);
	}
	return err;
}

static int take_ended(void *ctx, const struct stat_wire_ended_key *key,
		      const struct stat_wire_ended *wire)
{
	struct collection *collection = ctx;
	struct stat_task ended = {
		.pid = (pid_t)key->pid,
		.tid = wire->leader_ended ? (pid_t)key->pid : 0,
		.ppid = (pid_t)wire->ppid,
		.kthread = wire->flags & STAT_WIRE_KTHREAD,
		.threads = wire->threads,
		.ended_threads = wire->threads,
	};
	int err;

	memcpy(ended.comm, key->comm, sizeof(ended.comm));
	ended.comm[sizeof(ended.comm) - 1] = '\0';
	decode_sums(&ended, &wire->sums);
	err = add_calls(collection, &ended, wire->first_call);
	if (!err && !is_left_out(&ended))
		err = rollup__add_ended(&collection->rollup, &ended);
	free(ended.calls);
	return err;
}

/* The longest first. */
static int by_length(const void *a, const void *b)
{
	const struct stat_open_call *left = a, *right = b;

	return left->ns < right->ns ? 1 : left->ns > right->ns ? -1 : 0;
}

/* Reads all sums. *leaving: how many of the listed threads exit. */
static int read_all(struct stat_programs *programs, struct stat_data *data, uint64_t *leaving)
{
	struct collection collection = { .programs = programs };
	int err = stat_programs__read_ended(programs, take_ended, &collection);

	if (!err)
		err = stat_programs__read_threads(programs, take_threads, &collection);
	if (!err)
		err = objects__read(&collection.objects, programs, data);
	if (!err)
		err = file_waits__read(programs, data);
	objects__free(&collection.objects);
	*leaving = collection.leaving;
	if (err) {
		rollup__free(&collection.rollup);
		buffer__free(&collection.open_calls);
		return err;
	}
	rollup__finish(&collection.rollup, data);
	data->nr_open_calls = collection.open_calls.len / sizeof(*data->open_calls);
	data->open_calls = (void *)collection.open_calls.data;
	if (data->nr_open_calls)
		qsort(data->open_calls, data->nr_open_calls, sizeof(*data->open_calls), by_length);
	return 0;
}

static int read_losses(const struct stat_programs *programs, struct stat_losses *losses)
{
	const struct stat_wire_losses wire = stat_programs__losses(programs);
	struct bpf_stats stats;
	int err = stat_programs__stats(programs, &stats, &losses->unseen_switches);

	losses->threads = wire.ended;
	losses->calls = wire.calls;
	losses->locks = wire.locks;
	losses->sockets = wire.sockets;
	losses->requests = wire.requests + (err ? 0 : stats.missed_requests);
	losses->files = wire.files;
	losses->missed_births = err ? 0 : stats.missed_births;
	losses->missed_deaths = err ? 0 : stats.missed_deaths;
	losses->missed_calls = err ? 0 : stats.missed_calls;
	return err;
}

/*
 * Reads all sums, and again if threads ended meanwhile. *pending: how many threads have exited and
 * are no longer listed, while their last switch, which brings their sums, is to come. The kernel
 * unlists a thread before that switch, and may preempt it in between.
 */
static int read_steadily(struct stat_programs *programs, struct stat_data *data, uint64_t *pending)
{
	struct stat_wire_losses before, after;
	uint64_t leaving;
	int err = 0;

	*pending = 0;
	for (int i = 0; i < TRIES && !err; i++) {
		if (i)
			stat_data__free(data);
		before = stat_programs__losses(programs);
		err = read_all(programs, data, &leaving);
		after = stat_programs__losses(programs);
		*pending = before.gone > after.left + leaving ?
				   before.gone - after.left - leaving :
				   0;
		if (after.folds == before.folds)
			break;
	}
	return err;
}

int stat_collect(struct stat_programs *programs, struct stat_data *data)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	uint64_t deadline = clock__now_ns() + LAST_SWITCH_NS, pending;
	int err = read_steadily(programs, data, &pending);

	while (!err && pending && clock__now_ns() < deadline) {
		nanosleep(&pause, NULL);
		stat_data__free(data);
		err = read_steadily(programs, data, &pending);
	}
	if (!err)
		err = read_losses(programs, &data->losses);
	data->losses.threads += pending;
	return err;
}
