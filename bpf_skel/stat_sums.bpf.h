/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sums of denet-stat: those of a thread in its storage, those of ended threads in a map by
 * process and name. A thread's own hooks write its sums with plain stores; an ended thread is added
 * to the others by atomic ones, for several may end at once.
 */
#ifndef DENET_STAT_SUMS_BPF_H
#define DENET_STAT_SUMS_BPF_H

#include "iterate.bpf.h"
#include "stat_wire.h"

const volatile __u8 stat_counts_locks = 0;

#define STAT_NEWBORN 2 /* stat_thread.known, where only returns are seen */

#define STAT_SLOTS 16 /* calls of a thread that are found at once */

/* A thread of the measurement; it has a struct task_state as well. */
struct stat_thread {
	struct stat_wire_sums sums;
	__u64 entered;	  /* when it entered the call that it is in; 0: it is in none */
	__u64 blocked_before; /* sums.blocked_ns then */
	__u32 call;	  /* the key of that call */
	__u32 first_call; /* of its list of calls */
	__u32 folded;	  /* it has ended, and its sums were added to those of others */
	__u32 gone;	  /* its exit was seen */
	__u32 known;	  /* its first return was seen, or it was born in the measurement: */
	__u32 wait;	  /* enum stat_wire_wait, of the block that it is in */
	__u32 io;	  /* it has issued a request of io_key, and not been off its CPU since */
	__u64 wait_id;
	__u64 lock; /* stat_wire_thread.lock */
	__u64 lock_max_ns;
	struct stat_wire_io_key io_key;
	struct {
		__u32 key;
		__u32 index;
	} slots[STAT_SLOTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct stat_thread);
} stat_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STAT_WIRE_MAX_ENDED);
	__type(key, struct stat_wire_ended_key);
	__type(value, struct stat_wire_ended);
} stat_ended SEC(".maps");

/* The same by name alone (pid 0), for those that find no room there. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STAT_WIRE_MAX_NAMES);
	__type(key, struct stat_wire_ended_key);
	__type(value, struct stat_wire_ended);
} stat_names SEC(".maps");

/* COMMAND ends last as a rule, when others may have filled both: it has room of its own. */
__u32 stat_command = 0; /* its PID; 0: there is none */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STAT_WIRE_MAX_OWN_NAMES);
	__type(key, struct stat_wire_ended_key);
	__type(value, struct stat_wire_ended);
} stat_own_names SEC(".maps");

/* The first value of an entry of the three, which is too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stat_wire_ended);
} stat_none SEC(".maps");

struct stat_wire_losses stat_losses;

static __always_inline struct stat_thread *stat_thread_of(struct task_struct *task)
{
	return bpf_task_storage_get(&stat_threads, task, NULL, 0);
}

static __always_inline __u32 stat_bucket(__u64 ns)
{
	__u32 bucket = 0;

	ns >>= STAT_WIRE_SHIFT - 1;
#pragma unroll
	for (__u32 step = STAT_WIRE_BUCKETS / 2; step; step /= 2) {
		if (ns >> step) {
			ns >>= step;
			bucket += step;
		}
	}
	return bucket & (STAT_WIRE_BUCKETS - 1);
}

/* Adds one value; only the owner does. */
static __always_inline void stat_add(struct stat_wire_times *times, __u64 ns)
{
	times->count++;
	times->ns += ns;
	if (ns > times->max_ns)
		times->max_ns = ns;
	if (~ns > times->not_min_ns)
		times->not_min_ns = ~ns;
	times->hist[stat_bucket(ns)]++;
}

/* Adds a block that has ended, or is under way at the end. */
static __always_inline void stat_add_block(struct stat_wire_sums *sums, __u8 state, __u64 ns,
					   __u64 runnable)
{
	struct stat_wire_state *of_state;

	stat_add(&sums->offcpu, ns);
	sums->runnable_ns += runnable;
	sums->blocked_ns += ns - runnable;
	if (state >= WIRE_STATE_MAX)
		return;
	of_state = &sums->state[state];
	of_state->count++;
	of_state->ns += ns;
	if (ns > of_state->max_ns)
		of_state->max_ns = ns;
	if (~ns > of_state->not_min_ns)
		of_state->not_min_ns = ~ns;
}

/* A few tries: what a lost race leaves out is a length within that of the others. */
static __always_inline void raise(__u64 *to, __u64 value)
{
	for (int i = 0; i < 4; i++) {
		__u64 old = *(volatile __u64 *)to;

		if (value <= old || __sync_val_compare_and_swap(to, old, value) == old)
			return;
	}
}

/* Adds all values of a thread that has ended to a sum that others add to as well. */
static __always_inline void stat_merge(struct stat_wire_times *to,
				       const struct stat_wire_times *times)
{
	if (!times->count)
		return;
	__sync_fetch_and_add(&to->count, times->count);
	__sync_fetch_and_add(&to->ns, times->ns);
	raise(&to->max_ns, times->max_ns);
	raise(&to->not_min_ns, times->not_min_ns);
	for (int i = 0; i < STAT_WIRE_BUCKETS; i++) {
		if (times->hist[i])
			__sync_fetch_and_add(&to->hist[i], times->hist[i]);
	}
}

/*
 * Adds one value to a sum that others add to as well. A global function, so that the verifier
 * follows it once; the result is of no use.
 */
__noinline int stat_add_shared(struct stat_wire_times *times, __u64 ns)
{
	if (!times)
		return 0;
	__sync_fetch_and_add(&times->count, 1);
	__sync_fetch_and_add(&times->ns, ns);
	raise(&times->max_ns, ns);
	raise(&times->not_min_ns, ~ns);
	__sync_fetch_and_add(&times->hist[stat_bucket(ns)], 1);
	return 1;
}

static __always_inline void stat_merge_sums(struct stat_wire_sums *to,
					    const struct stat_wire_sums *sums)
{
	stat_merge(&to->offcpu, &sums->offcpu);
	for (int i = 0; i < WIRE_STATE_MAX; i++) {
		if (!sums->state[i].count)
			continue;
		__sync_fetch_and_add(&to->state[i].count, sums->state[i].count);
		__sync_fetch_and_add(&to->state[i].ns, sums->state[i].ns);
		raise(&to->state[i].max_ns, sums->state[i].max_ns);
		raise(&to->state[i].not_min_ns, sums->state[i].not_min_ns);
	}
	__sync_fetch_and_add(&to->wall_ns, sums->wall_ns);
	__sync_fetch_and_add(&to->running_ns, sums->running_ns);
	__sync_fetch_and_add(&to->runnable_ns, sums->runnable_ns);
	__sync_fetch_and_add(&to->blocked_ns, sums->blocked_ns);
	__sync_fetch_and_add(&to->lock_ns, sums->lock_ns);
	__sync_fetch_and_add(&to->owned_ns, sums->owned_ns);
}

/* The entry of that key, made if there is none; NULL: there is no room for it. */
static __always_inline struct stat_wire_ended *stat_entry_of(void *map, const void *key,
							     const void *none)
{
	struct stat_wire_ended *ended = bpf_map_lookup_elem(map, key);

	if (ended)
		return ended;
	bpf_map_update_elem(map, key, none, BPF_NOEXIST);
	return bpf_map_lookup_elem(map, key);
}

/*
 * The ended threads of the process of task that had its name, or if there is no room for them, and
 * it is not COMMAND, those of any process with that name; NULL: for these there is none, either.
 */
static __always_inline struct stat_wire_ended *stat_ended_of(struct task_struct *task,
							     struct task_state *ts)
{
	struct stat_wire_ended_key key = { .pid = target_pid(task, ts) };
	struct stat_wire_ended *ended;
	__u32 zero = 0;
	void *none;

	none = bpf_map_lookup_elem(&stat_none, &zero);
	if (!none)
		return NULL;
	bpf_probe_read_kernel_str(key.comm, sizeof(key.comm), task->comm);
	ended = stat_entry_of(&stat_ended, &key, none);
	if (!ended && key.pid == stat_command)
		ended = stat_entry_of(&stat_own_names, &key, none);
	if (ended)
		return ended;
	key.pid = 0;
	return stat_entry_of(&stat_names, &key, none);
}

/* Adds the wait for a futex that a block is, if it is one. */
static __always_inline void stat_add_futex(struct stat_wire_sums *sums,
					   const struct stat_thread *thread,
					   const struct task_state *ts, __u64 ns)
{
	if (!stat_counts_locks || thread->wait != STAT_WIRE_WAIT_FUTEX)
		return;
	sums->lock_ns += ns;
	if (ts->owner)
		sums->owned_ns += ns;
}

/* The sums of a thread up to a time, with the block or the stretch on a CPU that it is in. */
static __always_inline void stat_complete(struct stat_wire_sums *sums,
					  const struct stat_thread *thread,
					  struct task_struct *task, struct task_state *ts,
					  __u64 time)
{
	__u64 born = life_start(ts), since = ts->since;
	bool wanted = is_wanted(task, ts, last_cpu(task));

	sums->wall_ns = time > born ? time - born : 0;
	sums->running_ns = wanted ? run_until(ts, time) : ts->run_ns;
	if (!since || running_since(ts) || time <= since || !wanted)
		return;
	stat_add_block(sums, ts->state, time - since, runnable_in_flight(task, ts, since, time));
	stat_add_futex(sums, thread, ts, time - since);
}

/* A thread has left its last CPU: its sums become part of those of its process. */
static __always_inline void stat_fold(struct task_struct *task, struct task_state *ts,
				      struct stat_thread *thread, __u64 time)
{
	struct stat_wire_ended *ended;

	if (__sync_lock_test_and_set(&thread->folded, 1))
		return;
	stat_complete(&thread->sums, thread, task, ts, time);
	ended = stat_ended_of(task, ts);
	if (!ended) {
		__sync_fetch_and_add(&stat_losses.ended, 1);
	} else {
		__sync_fetch_and_add(&ended->threads, 1);
		if (task->pid == task->tgid) {
			ended->leader_ended = 1;
			ended->ppid = pid_of(task->real_parent);
		}
		ended->flags = ts->flags & TASK_STATE_KTHREAD ? STAT_WIRE_KTHREAD : 0;
		stat_merge_sums(&ended->sums, &thread->sums);
	}
	__sync_fetch_and_add(&stat_losses.folds, 1);
	if (thread->gone)
		__sync_fetch_and_add(&stat_losses.left, 1);
}

#endif /* DENET_STAT_SUMS_BPF_H */
