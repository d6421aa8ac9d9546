/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * System calls, counted when they return. The sums lie in one array, whose entries are found
 * without a helper; each thread has a list of its own, and a few slots that lead to it directly.
 */
#ifndef DENET_STAT_CALLS_BPF_H
#define DENET_STAT_CALLS_BPF_H

#include "stat_sums.bpf.h"

#define MODE_FIFO 0010000U
#define MODE_DIRECTORY 0040000U
#define MODE_BLOCK 0060000U
#define MODE_REGULAR 0100000U
#define X32_BIT 0x40000000U
#define ERRNO_MAX 4095

/* Calls whose category depends on the type of the file that their first argument names. */
const volatile __u8 stat_typed[WIRE_MAX_CALLS] = {};
const volatile __u8 stat_counts_calls = 0;
const volatile __u8 stat_times_calls = 0; /* 0: calls are counted, and nothing sees their entry */
const volatile __u32 stat_sigreturn = 0; /* the number of rt_sigreturn */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, STAT_WIRE_MAX_CALLS);
	__type(key, __u32);
	__type(value, struct stat_wire_call);
} stat_calls SEC(".maps");

/* Indexes that ended threads have given back. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, STAT_WIRE_MAX_CALLS);
	__uint(key_size, 0);
	__uint(value_size, sizeof(__u32));
} stat_free SEC(".maps");

__u32 stat_nr_calls = 0; /* entries that have been in use; the first one stays free */

static __always_inline struct stat_wire_call *stat_call_at(__u32 index)
{
	return index ? bpf_map_lookup_elem(&stat_calls, &index) : NULL;
}

/* The index of the call of that key in a list; 0: it is not there. Global for the verifier. */
__noinline __u32 stat_search(__u32 first, __u32 key)
{
	struct stat_wire_call *call;

	for (int i = 0; i < STAT_WIRE_LIST; i++) {
		call = stat_call_at(first);
		if (!call)
			return 0;
		if (call->key == key)
			return first;
		first = call->next;
	}
	return 0;
}

/* An entry without an owner; 0: there is none. */
static __always_inline __u32 stat_take_entry(void)
{
	__u32 index = 0;

	if (!bpf_map_pop_elem(&stat_free, &index))
		return index;
	if (stat_nr_calls >= STAT_WIRE_MAX_CALLS - 1)
		return 0;
	index = __sync_fetch_and_add(&stat_nr_calls, 1) + 1;
	return index < STAT_WIRE_MAX_CALLS ? index : 0;
}

/* The sums of a call of a thread that are in no slot. NULL: there is no room for them. */
static __always_inline struct stat_wire_call *stat_find_call(struct stat_thread *thread, __u32 key,
							     __u32 slot)
{
	__u32 index = stat_search(thread->first_call, key);
	struct stat_wire_call *call;

	if (!index) {
		index = stat_take_entry();
		call = stat_call_at(index);
		if (!call)
			return NULL;
		__builtin_memset(call, 0, sizeof(*call));
		call->key = key;
		call->next = thread->first_call;
		thread->first_call = index;
	}
	thread->slots[slot].key = key;
	thread->slots[slot].index = index;
	return stat_call_at(index);
}

static __always_inline struct stat_wire_call *stat_call_of(struct stat_thread *thread, __u32 key)
{
	__u32 slot = (key ^ key >> 4 ^ key >> STAT_WIRE_CALL_FILE_SHIFT) & (STAT_SLOTS - 1);

	if (thread->slots[slot].key == key)
		return stat_call_at(thread->slots[slot].index);
	return stat_find_call(thread, key, slot);
}

/* The type of a file, as stat_wire_call has it. */
static __always_inline __u32 stat_type_of(struct file *file)
{
	switch (BPF_CORE_READ(file, f_inode, i_mode) & MODE_TYPE) {
	case MODE_SOCKET:
		return STAT_WIRE_FILE_SOCKET;
	case MODE_FIFO:
		return STAT_WIRE_FILE_PIPE;
	case MODE_REGULAR:
	case MODE_DIRECTORY:
	case MODE_BLOCK:
		return STAT_WIRE_FILE_REGULAR;
	default:
		return STAT_WIRE_FILE_OTHER;
	}
}

#ifdef __TARGET_ARCH_arm64
static __always_inline __u32 stat_call_fd(struct pt_regs *regs)
{
	return (__u32)BPF_CORE_READ(regs, orig_x0);
}
#else
static __always_inline __u32 stat_call_fd(struct pt_regs *regs)
{
	return (__u32)regs->di;
}
#endif

static __always_inline __u32 stat_call_key(struct task_struct *task, struct pt_regs *regs, __u32 nr)
{
	bool compat = is_compat_call(task, regs);
	struct file *file;
	__u32 key;

	if (compat)
		return (nr & STAT_WIRE_CALL_NR) | STAT_WIRE_CALL_COMPAT | STAT_WIRE_CALL_USED;
	key = (nr & STAT_WIRE_CALL_NR) | STAT_WIRE_CALL_USED;
	if (nr & X32_BIT)
		return key | STAT_WIRE_CALL_X32;
	if (nr >= WIRE_MAX_CALLS || !stat_typed[nr & (WIRE_MAX_CALLS - 1)])
		return key;
	file = file_of(task, (__s32)stat_call_fd(regs));
	return file ? key | stat_type_of(file) << STAT_WIRE_CALL_FILE_SHIFT : key;
}

static __always_inline int stat_enter(struct pt_regs *regs, long nr)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct stat_thread *thread = stat_thread_of(task);
	__u64 now;

	if (!thread || phase != WIRE_PHASE_RUNNING)
		return 0;
	now = bpf_ktime_get_ns();
	/* The call that it was in at the end stays. */
	if (is_over(now))
		return 0;
	thread->call = stat_call_key(task, regs, (__u32)nr);
	thread->blocked_before = thread->sums.blocked_ns;
	thread->known = 1;
	thread->entered = now;
	return 0;
}

/* Whether the filters let the thread through; unused ones cost nothing. */
static __always_inline bool stat_is_wanted(struct task_struct *task)
{
	struct task_state *ts;

	if (!settings.filter.cpus && !settings.filter.users && !settings.filter.cgroup_v1 &&
	    !settings.filter.cgroup_v2)
		return true;
	ts = bpf_task_storage_get(&task_states, task, NULL, 0);
	return ts && is_wanted(task, ts, bpf_get_smp_processor_id());
}

/*
 * The first return of a thread that was in a call when the measurement began counts from then. A
 * newborn returns from its parent's call, which is not its own.
 */
static __always_inline bool stat_was_inside(struct task_struct *task, struct stat_thread *thread,
					    struct pt_regs *regs)
{
	__s32 nr = user_call_nr(regs);

	if (thread->known || nr < 0)
		return false;
	thread->known = 1;
	thread->call = stat_call_key(task, regs, (__u32)nr);
	thread->entered = start_ns;
	thread->blocked_before = 0;
	return true;
}

static __always_inline struct stat_wire_call *stat_count_of(struct stat_thread *thread, __u32 key)
{
	struct stat_wire_call *call = stat_call_of(thread, key);

	if (!call)
		__sync_fetch_and_add(&stat_losses.calls, 1);
	return call;
}

static __always_inline bool stat_has_failed(long ret)
{
	return ret < 0 && ret >= -ERRNO_MAX;
}

/*
 * Counts a return alone. The registers have lost the number of the one call that restores all of
 * them; a newborn's first return is that of its parent's call.
 */
static __always_inline int stat_count_return(struct pt_regs *regs, long ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct stat_thread *thread = stat_thread_of(task);
	struct stat_wire_call *call;
	__s32 nr;

	if (!thread || phase != WIRE_PHASE_RUNNING)
		return 0;
	if (thread->known == STAT_NEWBORN) {
		thread->known = 1;
		return 0;
	}
	if ((end_ns && is_over(bpf_ktime_get_ns())) || !stat_is_wanted(task))
		return 0;
	nr = user_call_nr(regs);
	if (nr < 0)
		nr = (__s32)stat_sigreturn;
	call = stat_count_of(thread, stat_call_key(task, regs, (__u32)nr));
	if (!call)
		return 0;
	call->times.count++;
	if (stat_has_failed(ret))
		call->errors++;
	return 0;
}

static __always_inline int stat_exit(struct pt_regs *regs, long ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct stat_thread *thread = stat_thread_of(task);
	struct stat_wire_call *call;
	__u64 now, blocked;

	if (!thread || phase != WIRE_PHASE_RUNNING)
		return 0;
	if (!thread->entered && !stat_was_inside(task, thread, regs))
		return 0;
	now = bpf_ktime_get_ns();
	if (is_over(now) || !stat_is_wanted(task))
		return 0;
	call = stat_count_of(thread, thread->call);
	if (call) {
		now -= thread->entered;
		stat_add(&call->times, now);
		if (stat_has_failed(ret))
			call->errors++;
		/* A block whose end was not shown is added later, to another call. */
		blocked = thread->sums.blocked_ns - thread->blocked_before;
		call->blocked_ns += blocked < now ? blocked : now;
	}
	thread->entered = 0;
	return 0;
}

/* Puts an entry into the list of ended threads. Others may do so at the same time. */
static __always_inline void stat_give_call(struct stat_wire_ended *ended, __u32 index,
					   struct stat_wire_call *call)
{
	for (int i = 0; i < 16; i++) {
		__u32 first = *(volatile __u32 *)&ended->first_call;

		call->next = first;
		if (__sync_val_compare_and_swap(&ended->first_call, first, index) == first)
			return;
	}
	__sync_fetch_and_add(&stat_losses.calls, call->times.count);
}

static __always_inline void stat_merge_call(struct stat_wire_call *to,
					    const struct stat_wire_call *call)
{
	__sync_fetch_and_add(&to->errors, call->errors);
	__sync_fetch_and_add(&to->blocked_ns, call->blocked_ns);
	stat_merge(&to->times, &call->times);
}

/*
 * Gives an entry of a thread that exits to the ended ones, or adds it to the same call of theirs.
 * Returns the next entry of the thread; 0: there is none. Global for the verifier.
 */
__noinline __u32 stat_fold_call(struct stat_wire_ended *ended, __u32 index)
{
	struct stat_wire_call *call = stat_call_at(index), *to;
	__u32 next, at = index;

	if (!call || !ended)
		return 0;
	next = call->next;
	to = stat_call_at(stat_search(ended->first_call, call->key));
	if (!to) {
		stat_give_call(ended, index, call);
		return next;
	}
	stat_merge_call(to, call);
	bpf_map_push_elem(&stat_free, &at, BPF_ANY);
	return next;
}

/*
 * Counts the calls of an entry that has no room as lost, and gives the entry back. Returns the next
 * one. Global for the verifier.
 */
__noinline __u32 stat_lose_call(__u32 index)
{
	struct stat_wire_call *call = stat_call_at(index);
	__u32 at = index, next;

	if (!call)
		return 0;
	next = call->next;
	__sync_fetch_and_add(&stat_losses.calls, call->times.count);
	bpf_map_push_elem(&stat_free, &at, BPF_ANY);
	return next;
}

/* A thread exits, and makes no calls from here on: they become part of its process's. */
static __always_inline void stat_fold_calls(struct task_struct *task, struct task_state *ts)
{
	struct stat_thread *thread = stat_thread_of(task);
	struct stat_wire_ended *ended;
	__u32 index;

	if (!thread || !thread->first_call)
		return;
	ended = stat_ended_of(task, ts);
	index = thread->first_call;
	thread->first_call = 0;
	thread->entered = 0;
	__sync_fetch_and_add(&stat_losses.folds, 1);
	for (int i = 0; i < STAT_WIRE_LIST && index; i++)
		index = ended ? stat_fold_call(ended, index) : stat_lose_call(index);
}

/* Forgets the calls of a thread but the one that it is in. */
static __always_inline void stat_drop_calls(struct stat_thread *thread)
{
	thread->first_call = 0;
	thread->blocked_before = 0;
	__builtin_memset(thread->slots, 0, sizeof(thread->slots));
}

#endif /* DENET_STAT_CALLS_BPF_H */
