/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files and sockets in calls on which threads are blocked. A file is found when its thread has
 * got a CPU again, and described at the first time: with a path that is as it was then.
 */
#ifndef DENET_STAT_FILES_BPF_H
#define DENET_STAT_FILES_BPF_H

#include "stat_calls.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STAT_WIRE_MAX_FILES);
	__type(key, struct stat_wire_file_key);
	__type(value, struct stat_wire_file_wait);
} stat_files SEC(".maps");

/* The first value of an entry, which is too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stat_wire_file_wait);
} stat_no_file SEC(".maps");

/* Says what a file is, given as a number. Global, so that the verifier follows it once. */
__noinline int stat_describe_file(struct wire_reason *reason, __u64 file)
{
	if (!reason || !file)
		return 0;
	reason->head.kind = WIRE_REASON;
	reason->head.size = sizeof(*reason);
	read_object((struct file *)file, reason);
	if (reason->object == WIRE_OBJECT_FILE)
		read_names((struct file *)file, reason);
	return 1;
}

/* The entry of a key, made if there is none; NULL: there is no room for it. */
static __always_inline struct stat_wire_file_wait *
stat_file_entry(const struct stat_wire_file_key *key, struct file *file)
{
	struct stat_wire_file_wait *entry = bpf_map_lookup_elem(&stat_files, key);
	struct stat_wire_file_wait *none;
	__u32 zero = 0;

	if (entry)
		return entry;
	none = bpf_map_lookup_elem(&stat_no_file, &zero);
	if (!none || bpf_map_update_elem(&stat_files, key, none, BPF_NOEXIST))
		return NULL;
	entry = bpf_map_lookup_elem(&stat_files, key);
	if (!entry)
		return NULL;
	stat_describe_file(&entry->reason, (__u64)file);
	return entry;
}

/* Pipes, terminals and the like are waited for when there is no work: nobody asks for which. */
static __always_inline bool stat_is_idle_file(__u32 key)
{
	__u32 type = (key & ~STAT_WIRE_CALL_USED) >> STAT_WIRE_CALL_FILE_SHIFT;

	return type == STAT_WIRE_FILE_PIPE || type == STAT_WIRE_FILE_OTHER;
}

/* Counts a block in a call for the call's file; 0 ns: it is under way, and the file only noted. */
static __always_inline void stat_add_file(struct task_struct *task, struct task_state *ts,
					  __u32 call, __u64 ns)
{
	struct stat_wire_file_key key = { .nr = call & STAT_WIRE_CALL_NR };
	struct stat_wire_file_wait *entry;
	struct file *file;

	if (call & (STAT_WIRE_CALL_COMPAT | STAT_WIRE_CALL_X32) || stat_is_idle_file(call) ||
	    class_of((__s32)key.nr) != WIRE_CALL_FD)
		return;
	file = file_of(task, (__s32)stat_call_fd((struct pt_regs *)bpf_task_pt_regs(task)));
	if (!file)
		return;
	key.ino = BPF_CORE_READ(file, f_inode, i_ino);
	key.dev = BPF_CORE_READ(file, f_inode, i_sb, s_dev);
	key.pid = target_pid(task, ts);
	key.tid = target_tid(task, ts);
	entry = stat_file_entry(&key, file);
	if (!entry) {
		__sync_fetch_and_add(&stat_losses.files, 1);
		return;
	}
	if (!ns)
		return;
	entry->count++;
	entry->ns += ns;
}

static __always_inline void stat_end_file(struct task_struct *task, struct task_state *ts,
					  const struct stat_thread *thread, __u64 ns)
{
	if (stat_counts_calls && thread->entered && ts->state != WIRE_STATE_R)
		stat_add_file(task, ts, thread->call, ns);
}

#endif /* DENET_STAT_FILES_BPF_H */
