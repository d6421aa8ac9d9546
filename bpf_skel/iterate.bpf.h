/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Passes over all tasks: at the start, and for those still blocked at the end. */
#ifndef DENET_ITERATE_BPF_H
#define DENET_ITERATE_BPF_H

#include "block.bpf.h"
#include "copy.bpf.h"
#include "regs.bpf.h"
#include "runqueue.bpf.h"
#include "task.bpf.h"

/* Before the recording: lists a task for user space; a target gets its state. */
static __always_inline void enlist(struct seq_file *seq, struct task_struct *task)
{
	struct wire_task out = { .start = task->start_boottime };
	struct task_state *ts;
	int match;

	learn_pid_level();
	out.pid = pid_of(task);
	out.tid = tid_of(task);
	if (task->exit_state || !out.pid)
		return;
	match = match_target(task);
	ts = match >= 0 ? make_task_state(task, match) : NULL;
	if (ts) {
		ts->run_delay = run_delay_of(task);
		out.flags |= WIRE_TASK_TARGET;
	}
	if (task->flags & PF_KTHREAD)
		out.flags |= WIRE_TASK_KTHREAD;
	if (out.pid == settings.own_pid)
		out.flags |= WIRE_TASK_OWN;
	out.ppid = pid_of(task->real_parent);
	bpf_probe_read_kernel_str(out.comm, sizeof(out.comm), task->comm);
	bpf_seq_write(seq, &out, sizeof(out));
}

/*
 * Makes the state of a task late. Its blocks count from the next switch-out on. A task that has not
 * left a CPU yet may still be in the middle of its birth.
 */
static __always_inline struct task_state *adopt_stray(struct task_struct *task)
{
	struct task_state *ts;

	if (phase != WIRE_PHASE_RUNNING || task->flags & PF_EXITING || !has_left_cpu(task) ||
	    !is_stray(task))
		return NULL;
	ts = make_task_state(task, 0);
	if (ts) {
		ts->run_delay = run_delay_of(task);
		ts->ran = 1;
	}
	return ts;
}

/* Counts live targets, however many births and deaths were missed. */
static __always_inline void count_target(struct task_struct *task)
{
	struct task_state *ts;

	if (task->exit_state)
		return;
	ts = bpf_task_storage_get(&task_states, task, NULL, 0);
	if (!ts)
		ts = adopt_stray(task);
	if (ts)
		__sync_fetch_and_add(&targets_found, 1);
}

/*
 * Walks the kernel stack of a task that sleeps by ORC rules. The kernel's walk of another task
 * leaves out the functions of its scheduler, so that a wait that goes on would have another leaf
 * than the same wait that has ended. 0: this walk cannot, or the task came back meanwhile.
 */
static __always_inline __u32 walk_sleeper_by_rules(struct task_struct *task, struct iter_room *room)
{
	__u64 sp;
	__u32 nr;

	if (!has_kernel_walk)
		return 0;
	sp = task->thread.sp;
	nr = walk_kernel_stack(&room->walk, task, room->full.ips);
	return task->on_cpu || task->thread.sp != sp ? 0 : nr;
}

/* The kernel stack of a task that sleeps. Returns the number of frames. */
static __always_inline __u32 walk_sleeper(struct task_struct *task, struct iter_room *room)
{
	long bytes;
	__u32 nr;

	if (!wants_kernel_frames(task))
		return 0;
	nr = walk_sleeper_by_rules(task, room);
	if (!nr) {
		bytes = bpf_get_task_stack(task, room->full.ips, WIRE_MAX_FRAMES * sizeof(__u64),
					   0);
		nr = bytes > 0 ? (__u32)bytes / sizeof(__u64) : 0;
	}
	if (nr < settings.max_frames)
		return nr;
	room->full.block.flags |= WIRE_BLOCK_TRUNC_KERNEL;
	return settings.max_frames;
}

/*
 * Tasks that were blocked before the programs attached have no parked stacks. Their kernel
 * frames are walked here; their user frames are out of reach without sleeping. A task that
 * left the CPU again meanwhile has its room already, and keeps it.
 */
static __always_inline void park_sleeper(struct task_struct *task, struct task_state *ts)
{
	struct iter_room *room;
	__u32 zero = 0;

	if (!has_parked(ts))
		return;
	room = bpf_map_lookup_elem(&iter_rooms, &zero);
	if (!room)
		return;
	room->full.block.flags = 0;
	room->full.block.since = start_ns;
	room->full.block.nr_kernel = (__u16)walk_sleeper(task, room);
	room->full.block.nr_user = 0;
	bpf_map_update_elem(&parked, &ts->incarnation, &room->full, BPF_NOEXIST);
}

/*
 * At the start of the recording: stamps a task that is off the CPU and has not left it since the
 * programs were attached, so that its block is older than the recording. A stamp given to a task
 * that has just come back does no harm: it is overwritten when the task leaves again.
 */
static __always_inline void stamp_sleeper(struct task_struct *task)
{
	struct task_state *ts = bpf_task_storage_get(&task_states, task, NULL, 0);

	if (!ts || ts->since || ts->ran)
		return;
	/* Constant while the task runs; waits before now are not part of the recording. */
	ts->run_delay = run_delay_of(task);
	if (task->on_cpu)
		return;
	ts->state = classify_state(false, read_task_state(task));
	if (ts->state == WIRE_STATE_X)
		return;
	park_sleeper(task, ts);
	__sync_val_compare_and_swap(&ts->since, 0, start_ns);
}

/*
 * Fills in the block since then of a task that is still blocked, with its kernel frames. Returns
 * its size.
 */
static __always_inline __u64 describe_blocked(struct iter_room *room, struct task_struct *task,
					      struct task_state *ts, __u64 since)
{
	struct wire_block *block = &room->full.block;
	__u64 size;
	__u32 nr;

	block->flags = ts->flags & TASK_STATE_KTHREAD ? WIRE_BLOCK_KTHREAD : 0;
	nr = bounded_frames(walk_sleeper(task, room));
	size = sizeof(*block) + nr * sizeof(__u64);
	block->head.kind = WIRE_BLOCK;
	block->head.size = (__u32)size;
	block->time = end_ns;
	block->ns = end_ns > since ? end_ns - since : 0;
	block->weight = block->ns;
	block->cgroup = sample_cgroup(task);
	block->pid = target_pid(task, ts);
	block->tid = target_tid(task, ts);
	block->cpu = last_cpu(task);
	block->state = ts->state;
	block->flags |= WIRE_BLOCK_IN_FLIGHT;
	if (ts->preempted)
		block->flags |= WIRE_BLOCK_PREEMPTED;
	if (ts->throttled)
		block->flags |= WIRE_BLOCK_THROTTLED;
	if (!ts->ran && !(settings.on_cpu && ts->born))
		block->flags |= WIRE_BLOCK_NEVER_RAN;
	block->stack_bytes = 0;
	block->nr_kernel = (__u16)nr;
	block->nr_user = 0;
	block->reserved = 0;
	block->incarnation = ts->incarnation;
	block->since = since;
	block->runqueue_ns = runnable_in_flight(task, ts, since, end_ns);
	return size;
}

/* Writes the block, with its reason if there are reasons. 0, or negative: there is no room. */
static __always_inline long write_blocked(struct seq_file *seq, struct iter_room *room,
					  struct task_struct *task, struct task_state *ts,
					  __u64 size)
{
	struct file *file;

	if (!settings.reasons)
		return bpf_seq_write(seq, &room->full.block, size);
	file = describe_reason(task, &room->full.reason, ts, false, false);
	if (file)
		read_names(file, &room->full.reason);
	return bpf_seq_write(seq, &room->full, sizeof(room->full.reason) + size);
}

static __always_inline int report_blocked_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct iter_room *room;
	struct wire_block *block;
	struct task_state *ts;
	__u64 since, size;
	__u32 zero = 0;

	if (!task)
		return 0;
	ts = bpf_task_storage_get(&task_states, task, NULL, 0);
	room = bpf_map_lookup_elem(&iter_rooms, &zero);
	if (!ts || !room || task->on_cpu)
		return 0;
	/* A stamp of the start that came too late: it has run since, and the end met it there. */
	if (settings.on_cpu && ts->on_since)
		return 0;
	since = ts->since;
	if (!since || !is_wanted(task, ts, last_cpu(task)))
		return 0;
	block = &room->full.block;
	size = describe_blocked(room, task, ts, since);
	/*
	 * Claimed before it is written, so that the switch hook does not report a task that wakes
	 * up now. Without room in this read, the next one shows the task again.
	 */
	ts->claimed = 1;
	if (__sync_val_compare_and_swap(&ts->since, since, 0) != since) {
		ts->claimed = 0;
		return 0;
	}
	if (write_blocked(ctx->meta->seq, room, task, ts, size)) {
		ts->claimed = 0;
		ts->since = since;
		return 0;
	}
	if (settings.on_cpu)
		ts->rest_ns += block->ns;
	if (ts->throttled)
		ts->throttled_ns += block->runqueue_ns;
	else
		ts->runnable_ns += block->runqueue_ns;
	return 0;
}

/* After the blocks, whose runnable parts are in it. */
static __always_inline int report_thread(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct wire_thread thread;
	struct task_state *ts;

	ts = task ? bpf_task_storage_get(&task_states, task, NULL, 0) : NULL;
	if (!ts || !(ts->runnable_ns + ts->throttled_ns))
		return 0;
	describe_thread(&thread, task, ts);
	/* Without room in this read, the next one shows the task again. */
	if (bpf_seq_write(ctx->meta->seq, &thread, sizeof(thread))) {
		__sync_fetch_and_add(&ts->runnable_ns, thread.runnable_ns);
		__sync_fetch_and_add(&ts->throttled_ns, thread.throttled_ns);
	}
	return 0;
}

/* A caller's frame, in the layout of the x86-64 and arm64 ABIs. */
struct user_frame {
	__u64 next;
	__u64 ret;
};

/* The same of a 32-bit program. */
struct compat_frame {
	__u32 next;
	__u32 ret;
};

/* On arm64, a return address may be signed, in bits that are 0 in user addresses. */
const volatile __u64 address_mask = ~0ULL;

static __always_inline long read_user_frame(struct task_struct *task, __u64 fp, bool compat,
					    struct user_frame *frame)
{
	struct compat_frame small;
	long err;

	if (fp & (compat ? sizeof(__u32) - 1 : sizeof(__u64) - 1))
		return -1;
	if (!compat)
		return bpf_copy_from_user_task(frame, sizeof(*frame), (void *)fp, task, 0);
	err = bpf_copy_from_user_task(&small, sizeof(small), (void *)fp, task, 0);
	frame->next = small.next;
	frame->ret = small.ret;
	return err;
}

/*
 * Reads the user frames of a task by its frame pointers. May sleep for ever. Their number is in the
 * room only: the verifier would follow all later code once for each number.
 */
static __always_inline void walk_user(struct task_struct *task, struct iter_room *room)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	bool compat = is_compat(regs);
	__u64 *ips = room->user.ips;
	struct user_frame frame;
	__u64 fp;

	fp = user_fp(regs);
	ips[0] = user_pc(regs);
	room->user.user.nr = 1;
	room->user.user.truncated = 0;
	room->user.user.compat = compat;
	for (__u32 i = 1; i < WIRE_MAX_FRAMES; i++) {
		if (i >= settings.max_frames)
			break;
		if (!fp || read_user_frame(task, fp, compat, &frame))
			goto out;
		if (frame.ret) {
			ips[i] = frame.ret & address_mask;
			room->user.user.nr = (__u16)(i + 1);
		}
		if (!frame.ret || frame.next <= fp)
			goto out;
		fp = frame.next;
	}
	room->user.user.truncated = 1;
out:
	asm volatile("" ::: "memory");
}

/*
 * Finds the user frames of a task by unwind tables, in the copy of its stack. False: those that
 * walk_user() found are left, and the copy is for user space to unwind. True also if the copy would
 * not help there, for want of a file that may not be opened.
 */
static __always_inline bool walk_copy(struct task_struct *task, struct iter_room *room,
				      struct iter_copy *copy)
{
	__u32 bytes = copy->copy.head.size - sizeof(copy->copy);
	__u32 nr;

	room->user_walk.missing = 0;
	nr = walk_user_copy(&room->user_walk, task, copy->stack, bytes, room->found.ips);
	room->user.user.forbidden = !nr && room->user_walk.missing == USER_WALK_FORBIDDEN;
	if (!nr)
		return room->user.user.forbidden;
	room->user.user.truncated = nr >= settings.max_frames;
	nr = bounded_frames(nr > settings.max_frames ? settings.max_frames : nr);
	bpf_probe_read_kernel(room->user.ips, nr * sizeof(__u64), room->found.ips);
	room->user.user.nr = (__u16)nr;
	room->user.user.by_tables = 1;
	return true;
}

/* The present holder of the mutex that the task waits for; it may have changed since. */
static __always_inline void read_owner(struct task_struct *task, struct wire_user *user)
{
	struct mutex_words words = {};
	bool compat = false;
	__u32 class;
	__u64 args[6];

	user->owner = 0;
	user->owner_shared = 0;
	if (!settings.reasons)
		return;
	class = class_of(user_call(task, args, &compat));
	if (compat || !is_futex(class) ||
	    (bpf_copy_from_user_task(&words, sizeof(words), (void *)args[0], task, 0) &&
	     bpf_copy_from_user_task(&words.lock, sizeof(words.lock), (void *)args[0], task, 0)))
		return;
	user->owner = owner_of(class, args, &words, &user->owner_shared);
}

/* There is no copy of a string of another task before Linux 6.14. */
static __always_inline void copy_title(struct task_struct *task, struct wire_user *user)
{
	__u64 at = BPF_CORE_READ(task, mm, arg_start);

	if (!settings.reasons || !at ||
	    bpf_copy_from_user_task(user->title, sizeof(user->title), (void *)at, task, 0))
		user->title[0] = 0;
}

static __always_inline int read_blocked_user(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct iter_room *room;
	struct iter_copy *copy;
	struct task_state *ts;
	__u32 zero = 0, nr, pid;
	__u64 since, size;

	if (!task)
		return 0;
	ts = bpf_task_storage_get(&task_states, task, NULL, 0);
	room = bpf_map_lookup_elem(&iter_rooms, &zero);
	if (!ts || !room || ts->flags & TASK_STATE_KTHREAD)
		return 0;
	since = ts->since;
	pid = pid_of(task);
	if (!since || !is_wanted(task, ts, last_cpu(task)) ||
	    bpf_map_lookup_elem(&skip_pids, &pid))
		return 0;
	room->user.user.incarnation = ts->incarnation;
	room->user.user.since = since;
	room->user.user.tid = tid_of(task);
	walking_pid = pid;
	copy = read_copy(task);
	room->user.user.nr = 0;
	room->user.user.truncated = room->user.user.compat = room->user.user.by_tables = 0;
	room->user.user.forbidden = 0;
	if (settings.user_stacks)
		walk_user(task, room);
	if (copy && settings.user_stacks && has_user_walk && walk_copy(task, room, copy))
		copy = NULL;
	read_owner(task, &room->user.user);
	copy_title(task, &room->user.user);
	walking_pid = 0;
	nr = bounded_frames(room->user.user.nr);
	size = sizeof(room->user.user) + nr * sizeof(__u64);
	room->user.user.head.kind = WIRE_USER;
	room->user.user.head.size = (__u32)size;
	/* If this read has no room for them, the next one repeats the task with both records. */
	bpf_seq_write(ctx->meta->seq, &room->user, size);
	if (copy)
		write_copy(ctx->meta->seq, copy, ts->incarnation, since);
	return 0;
}

#endif /* DENET_ITERATE_BPF_H */
