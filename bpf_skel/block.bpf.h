/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A block that has just ended: whether it is kept, where it is sent, and its outcome. */
#ifndef DENET_BLOCK_BPF_H
#define DENET_BLOCK_BPF_H

#include "copy.bpf.h"
#include "sample_weight.h"
#include "hist.bpf.h"
#include "frames.bpf.h"
#include "known_kernel.bpf.h"
#include "parked.bpf.h"
#include "reason.bpf.h"
#include "running.bpf.h"
#include "runqueue.bpf.h"
#include "task.bpf.h"
#include "filter.bpf.h"

/* The reasons not to keep a block that need no stack: the cheap way out. */
static __always_inline bool is_filtered(struct cpu *cpu, __u8 state, __u64 ns)
{
	if (!(settings.states & (1U << (state & 15)))) {
		tally_outcome(cpu, WIRE_OUTCOME_FILTERED_STATE, ns);
		return true;
	}
	if (ns < settings.min_ns) {
		tally_outcome(cpu, WIRE_OUTCOME_FILTERED_MIN, ns);
		return true;
	}
	if (ns > settings.max_ns) {
		tally_outcome(cpu, WIRE_OUTCOME_FILTERED_MAX, ns);
		return true;
	}
	return false;
}

/*
 * True if the block that ended at now is drawn; *weight: the ns that it then stands for, its own if
 * all are recorded or if it is long. Counters hold measured time.
 */
static __always_inline bool is_drawn(struct cpu *cpu, __u64 now, __u64 ns, __u64 *weight)
{
	__u64 period = period_ns;
	bool above = ns >= threshold_ns;

	*weight = ns;
	if (!period)
		return true;
	if (!above) {
		if (!cpu->own.random)
			cpu->own.random =
				sample_weight__seed(settings.seed, bpf_get_smp_processor_id());
		*weight = sample_weight__of(&cpu->own.random, ns, period);
	}
	if (!*weight) {
		tally_outcome(cpu, WIRE_OUTCOME_NOT_DRAWN, ns);
		return false;
	}
	if (settings.max_rate)
		sample_budget__spend(&budget, settings.max_rate, now, above, &period_ns,
				     &threshold_ns);
	return true;
}

/* True if a block is only added to a sum. Drawn blocks are sent with their own time. */
static __always_inline bool is_for_sum(const struct wire_block *block)
{
	return block->ns < threshold_ns && !period_ns && block->weight == block->ns;
}

/* Walks one side into ips; returns the number of frames. */
static __always_inline __u32 walk(void *ctx, __u64 *ips, __u64 flags)
{
	long bytes = bpf_get_stack(ctx, ips, WIRE_MAX_FRAMES * sizeof(__u64), flags);
	__u32 nr;

	if (bytes <= 0)
		return 0;
	nr = (__u32)bytes / sizeof(__u64);
	return nr > settings.max_frames ? settings.max_frames : nr;
}

/*
 * Of a stack of nr frames that was recognized: most are added to sums, which takes its hash alone,
 * so that its frames are copied into ips when they are needed.
 */
static __always_inline void leave_known(struct cpu *cpu, __u32 nr, __u64 *ips)
{
	if (nr > settings.max_frames)
		copy_known(cpu->user_walk.known, ips);
	else
		cpu->user_side.known = cpu->user_walk.known + 1;
}

/*
 * The same for the user side of task, which is current, by the quicker way if available. remembers:
 * stacks may be recognized, which the programs at a switch do alone.
 */
static __always_inline __u32 walk_user_of(void *ctx, struct cpu *cpu, struct task_struct *task,
					  __u64 *ips, struct wire_block *block, bool remembers)
{
	struct frame_room *piece = (struct frame_room *)cpu->out.ips;
	struct walked_side *side = &cpu->user_side;
	__u32 nr, end = 0;

	side->hash = side->known = 0;
	nr = remembers ? walk_known_user(&cpu->user_walk, task, ips, &end) :
			 walk_user_tables(&cpu->user_walk, task, ips, &end);
	if (nr) {
		block->flags |= WIRE_BLOCK_BY_TABLES;
		side->hash = cpu->user_walk.frame.hash;
		side->nr = nr;
		if (remembers && cpu->user_walk.recognized)
			leave_known(cpu, nr, ips);
		/* Right before it is used: Linux 6.1 loses the bound of a value on the stack. */
		asm volatile("" : "+r"(end));
		if (end < USER_WALK_ENDS)
			tally(&cpu->own.accounts.user_walks[end], block->ns);
		/* Only max_frames are kept: why the walk ended beyond them does not matter. */
		if (nr > settings.max_frames) {
			nr = settings.max_frames;
			if (!cpu->user_walk.missing)
				end = USER_WALK_FRAMES;
		}
		/* Whole chains and those of the limit have none, so that sums keep their keys. */
		if (end > USER_WALK_FRAMES && end < USER_WALK_ENDS)
			block->flags |= end << WIRE_BLOCK_WALK_SHIFT;
		return nr;
	}
	nr = walk_user_frames(task, ips, piece, settings.max_frames, side);
	return nr ? nr : walk(ctx, ips, BPF_F_USER_STACK);
}

/* Of a walk by ORC rules that has just found nr frames. */
static __always_inline void note_kernel_walk(struct cpu *cpu, __u32 nr)
{
	cpu->kernel_side.hash = cpu->walk.frame.hash;
	cpu->kernel_side.nr = nr;
	cpu->own.accounts.orc_walks++;
}

/*
 * The kernel stack of task, which is current: by ORC rules if it has come back, so that where it
 * was switched out still stands in its task, and else by the kernel's walk. Returns the number of
 * frames.
 */
static __always_inline __u32 walk_kernel(void *ctx, struct cpu *cpu, struct task_struct *task,
					 __u64 *ips, bool is_back)
{
	__u32 nr = is_back ? walk_own_stack(&cpu->walk, task, ips) : 0;

	cpu->kernel_side.hash = 0;
	if (nr) {
		note_kernel_walk(cpu, nr);
		return nr > settings.max_frames ? settings.max_frames : nr;
	}
	nr = walk(ctx, ips, 0);
	if (is_back && has_kernel_walk && orc.ready) {
		cpu->own.accounts.orc_fallbacks++;
		learn_syscall_caller(ips, nr);
	}
	return nr;
}

/*
 * True if the kernel frames of a thread are needed: in its samples, or to recognize a wait for
 * work. User space then leaves them out of the samples.
 */
static __always_inline bool wants_kernel_frames(struct task_struct *task)
{
	__s32 nr;

	if (settings.kernel_stacks || !settings.judge_idle)
		return settings.kernel_stacks;
	if (task->flags & PF_KTHREAD)
		return true;
	nr = user_call_nr((struct pt_regs *)bpf_task_pt_regs(task));
	return nr >= 0 && calls[nr & (WIRE_MAX_CALLS - 1)] & WIRE_CALL_JUDGED;
}

/*
 * True if the kernel frames of parked stacks are found when their thread comes back, by walking it
 * as the next one at a switch: at switch-out it is not known whether they are needed.
 */
static __always_inline bool walks_next(void)
{
	return settings.walk_at_out && has_kernel_walk && orc.ready;
}

/* True if a task's stacks are parked, or what walk_next() does not find. */
static __always_inline bool has_parked(const struct task_state *ts)
{
	return settings.walk_at_out &&
	       (!walks_next() || (settings.user_stacks && !(ts->flags & TASK_STATE_KTHREAD)));
}

/* Walks the stacks of current, which leaves; only later is it known whether its block counts. */
static __always_inline void walk_stacks(void *ctx, struct cpu *cpu, struct full_block *full,
					bool is_back)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct wire_block *block = &full->block;
	__u32 nr = 0;

	block->nr_kernel = block->nr_user = 0;
	if ((is_back || !walks_next()) && wants_kernel_frames(task)) {
		nr = walk_kernel(ctx, cpu, task, full->ips, is_back);
		block->nr_kernel = (__u16)nr;
		if (nr >= settings.max_frames)
			block->flags |= WIRE_BLOCK_TRUNC_KERNEL;
	}
	if (settings.user_stacks && !(block->flags & WIRE_BLOCK_KTHREAD)) {
		nr = walk_user_of(ctx, cpu, task, &full->ips[bounded_frames(nr)], block,
				  is_back);
		block->nr_user = (__u16)nr;
		if (nr >= settings.max_frames)
			block->flags |= WIRE_BLOCK_TRUNC_USER;
	}
}

/* A waker's room has no reason: the woken thread was the one that waited. */
static __always_inline bool has_reason(const struct full_block *full)
{
	return settings.reasons && full->reason.id;
}

/* Puts the user frames of full there, if they are still where their stack was recognized. */
static __always_inline void fetch_user_frames(struct cpu *cpu, struct full_block *full)
{
	__u32 nr = bounded_frames(full->block.nr_kernel);

	if (!has_user_walk || full != &cpu->full || !full->block.nr_user || !cpu->user_side.known)
		return;
	copy_known(cpu->user_side.known - 1, &full->ips[nr]);
	cpu->user_side.known = 0;
}

/* Sends the block as a sample of its own. */
static __always_inline void send_block(void *ctx, struct cpu *cpu, struct full_block *full)
{
	__u32 nr = bounded_frames(full->block.nr_kernel) + bounded_frames(full->block.nr_user);
	__u64 size = sizeof(full->block) + nr * sizeof(__u64);
	long err;

	fetch_user_frames(cpu, full);
	full->block.head.kind = WIRE_BLOCK;
	full->block.head.size = (__u32)size;
	if (has_reason(full))
		err = send_record(ctx, full, sizeof(full->reason) + size);
	else
		err = send_record(ctx, &full->block, size);
	tally_outcome(cpu, err ? WIRE_OUTCOME_LOST_RING : WIRE_OUTCOME_DIRECT, full->block.ns);
}

/*
 * 64 bits over the frames; never 0, which means no frames. A global function, so that the
 * verifier walks through the loop once and not once for each path that leads to it.
 */
__noinline __u64 hash_frames(const struct frame_room *room, __u32 nr, __u64 seed)
{
	__u64 hash = seed;

	if (!room)
		return 1;
	for (__u32 i = 0; i < WIRE_MAX_FRAMES; i++) {
		if (i >= nr)
			break;
		hash = hash_frame(hash, room->ips[i]);
	}
	return hash ? hash : 1;
}

enum stack_result {
	STACK_KNOWN,
	STACK_FULL, /* the set is full: send the block itself */
	STACK_LOST, /* the ring is full */
};

/* Sends the frames of an id to user space before a sum refers to it. */
static __always_inline enum stack_result publish_stack(void *ctx, struct cpu *cpu, __u32 gen,
						       __u64 id, const __u64 *ips, __u32 nr,
						       bool user)
{
	struct full_stack *out = &cpu->out;
	__u64 size = sizeof(out->stack);

	if (find_id(&stacks0, &stacks1, gen, &id))
		return STACK_KNOWN;
	if (nr_stacks[gen & 1] >= STACKS_MAX)
		return STACK_FULL;
	nr = bounded_frames(nr);
	bpf_probe_read_kernel(out->ips, nr * sizeof(__u64), ips);
	size += nr * sizeof(__u64);
	out->stack.head.kind = WIRE_STACK;
	out->stack.head.size = (__u32)size;
	out->stack.id = id;
	out->stack.generation = gen;
	out->stack.nr = (__u16)nr;
	out->stack.user = user;
	if (send_record(ctx, out, size)) {
		cpu->own.accounts.lost_stacks++;
		return STACK_LOST;
	}
	if (add_id(&stacks0, &stacks1, gen, &id) == 0)
		__sync_fetch_and_add(&nr_stacks[gen & 1], 1);
	return STACK_KNOWN;
}

static __always_inline struct wire_entry *find_sum(__u32 gen, const struct wire_entry_key *key)
{
	return find_in(&entries0, &entries1, gen, key);
}

static __always_inline void add_to_sum(struct wire_entry *entry, const struct wire_block *block)
{
	if (settings.on_cpu && block->flags & WIRE_BLOCK_ON_CPU)
		entry->ns = block->ns;
	else
		__sync_fetch_and_add(&entry->ns, block->ns);
	__sync_fetch_and_add(&entry->count, 1);
	if (settings.split_runqueue)
		__sync_fetch_and_add(&entry->runqueue_ns, block->runqueue_ns);
	entry->time = block->time;
	entry->cpu = block->cpu;
}

/* Begins a sum with the block. False: there is no room, send it directly. */
static __always_inline bool begin_sum(__u32 gen, const struct wire_entry_key *key,
				      const struct wire_block *block)
{
	struct wire_entry first = {
		.ns = block->ns,
		.count = 1,
		.time = block->time,
		.cpu = block->cpu,
		.runqueue_ns = block->runqueue_ns,
	};
	struct wire_entry *entry;

	if (gen & 1 ? bpf_map_update_elem(&entries1, key, &first, BPF_NOEXIST)
		    : bpf_map_update_elem(&entries0, key, &first, BPF_NOEXIST)) {
		/* Another CPU may have begun it. */
		entry = find_sum(gen, key);
		if (!entry)
			return false;
		add_to_sum(entry, block);
		return true;
	}
	__sync_fetch_and_add(&nr_sums[gen & 1], 1);
	return true;
}

/* Sends user space all that the key of a sum refers to. */
static __always_inline enum stack_result publish(void *ctx, struct cpu *cpu, __u32 gen,
						 struct full_block *full, struct file *file,
						 const struct wire_entry_key *key)
{
	__u32 nr_kernel = bounded_frames(full->block.nr_kernel);
	enum stack_result result = STACK_KNOWN;

	fetch_user_frames(cpu, full);
	if (key->kernel_id)
		result = publish_stack(ctx, cpu, gen, key->kernel_id, full->ips, nr_kernel, false);
	if (key->user_id && result == STACK_KNOWN)
		result = publish_stack(ctx, cpu, gen, key->user_id, &full->ips[nr_kernel],
				       full->block.nr_user, true);
	if (result == STACK_KNOWN && has_reason(full) &&
	    !publish_reason(ctx, cpu, gen, &full->reason, file))
		result = STACK_FULL;
	return result;
}

/*
 * The id of nr frames of one side: if is_own, these are of the room that side is about, and their
 * walk may have hashed them on the way.
 */
static __always_inline __u64 side_id(const struct walked_side *side, bool is_own, const __u64 *ips,
				     __u32 nr, __u64 seed)
{
	if (is_own && side->hash && side->nr == nr)
		return side->hash;
	return hash_frames((const struct frame_room *)ips, nr, seed);
}

/*
 * Adds a short block to the sum of its thread, state and stacks. All that an existing sum refers to
 * has been sent. False: there is no room, or the ring is full. The block is to be sent directly; a
 * full ring is then counted by send_block().
 */
static __always_inline bool accumulate(void *ctx, struct cpu *cpu, struct full_block *full,
				       struct file *file)
{
	struct wire_block *block = &full->block;
	struct wire_entry_key key = {
		.incarnation = block->incarnation,
		.reason_id = has_reason(full) ? full->reason.id : 0,
		.cgroup = block->cgroup,
		.pid = block->pid,
		.tid = block->tid,
		.state = block->state,
		.flags = block->flags,
	};
	__u32 nr_kernel = block->nr_kernel, gen = generation & 1;
	bool is_own = full == &cpu->full;
	enum stack_result result;
	struct wire_entry *entry;

	if (nr_kernel)
		key.kernel_id = side_id(&cpu->kernel_side, is_own, full->ips, nr_kernel,
					FRAMES_SEED_KERNEL);
	nr_kernel = bounded_frames(nr_kernel);
	if (block->nr_user)
		key.user_id = side_id(&cpu->user_side, is_own, &full->ips[nr_kernel],
				      block->nr_user, FRAMES_SEED_USER);
	entry = find_sum(gen, &key);
	if (entry) {
		add_to_sum(entry, block);
	} else {
		result = publish(ctx, cpu, gen, full, file, &key);
		if (result != STACK_KNOWN || !begin_sum(gen, &key, block)) {
			cpu->own.accounts.full_stacks += result == STACK_FULL;
			cpu->own.accounts.full_entries += result == STACK_KNOWN;
			return false;
		}
	}
	tally_outcome(cpu, WIRE_OUTCOME_ACCUMULATED, block->ns);
	return true;
}

/* Whether a block, of current, is sent with a copy of its stack, since a table was missing. */
static __always_inline bool is_bridged(struct cpu *cpu, const struct wire_block *block)
{
	return has_user_walk && settings.copy_bytes && settings.copied == WIRE_COPIED_BRIDGED &&
	       block->flags & WIRE_BLOCK_BY_TABLES &&
	       wants_copy(&cpu->user_walk, block->ns, generation);
}

/* Takes the stamp of the block that ends now, so that it ends only once. */
static __always_inline __u64 take_stamp(struct task_state *ts)
{
	__u64 since = ts->since;

	if (!since)
		return 0;
	if (phase == WIRE_PHASE_CLOSING) /* the iterator may claim it at the same moment */
		return __sync_val_compare_and_swap(&ts->since, since, 0) == since ? since : 0;
	ts->since = 0;
	return since;
}

/* Fills in the block; flags set by the walk of a parked stack are kept. */
static __always_inline void describe_block(struct wire_block *block, struct task_state *ts,
					   struct task_struct *task, __u64 end, __u64 ns)
{
	block->time = end;
	block->ns = ns;
	block->cgroup = sample_cgroup(task);
	block->pid = target_pid(task, ts);
	block->tid = target_tid(task, ts);
	block->cpu = bpf_get_smp_processor_id();
	block->state = ts->state;
	block->flags &= WIRE_BLOCK_TRUNC_KERNEL | WIRE_BLOCK_TRUNC_USER;
	if (ts->flags & TASK_STATE_KTHREAD)
		block->flags |= WIRE_BLOCK_KTHREAD;
	if (ts->preempted)
		block->flags |= WIRE_BLOCK_PREEMPTED;
	if (ts->throttled)
		block->flags |= WIRE_BLOCK_THROTTLED;
	if (settings.wakers && ts->handed_over)
		block->flags |= WIRE_BLOCK_HANDED_OVER;
	block->stack_bytes = 0;
	block->reserved = 0;
	block->incarnation = ts->incarnation;
	block->since = end - ns;
	block->runqueue_ns = 0;
}

/* How a task that gets a CPU was found, and where its stacks are. */
enum comer {
	COMER_BACK,   /* it is current, whose stacks are walked now */
	COMER_PARKED, /* it is the next one at a switch, and its stacks were parked when it went */
	COMER_NEW,    /* the same, but it never had a CPU: it has no stacks */
};

/* The kernel frames of next, which is off its CPU. Returns the number of frames. */
static __always_inline __u32 walk_next(struct cpu *cpu, struct task_struct *next, __u64 *ips)
{
	__u32 nr = walk_kernel_stack(&cpu->walk, next, ips);
	long bytes;

	if (nr) {
		note_kernel_walk(cpu, nr);
		return nr > settings.max_frames ? settings.max_frames : nr;
	}
	bytes = bpf_get_task_stack(next, ips, WIRE_MAX_FRAMES * sizeof(__u64), 0);
	nr = bytes > 0 ? (__u32)bytes / sizeof(__u64) : 0;
	if (has_kernel_walk && orc.ready) {
		cpu->own.accounts.orc_fallbacks++;
		learn_syscall_caller(ips, nr);
	}
	return nr > settings.max_frames ? settings.max_frames : nr;
}

/* Puts the user frames that were parked behind nr kernel frames. */
static __always_inline void append_parked(struct full_block *full, const struct full_block *room,
					  __u32 nr)
{
	__u32 nr_user = bounded_frames(room->block.nr_user);

	full->block.nr_user = (__u16)nr_user;
	full->block.flags = room->block.flags;
	bpf_probe_read_kernel(&full->ips[bounded_frames(nr)], nr_user * sizeof(__u64),
			      room->ips);
}

/* The stacks of next, which comes back: as they were parked, or what of them was. */
static __always_inline struct full_block *next_stacks(struct cpu *cpu, struct task_struct *next,
						      struct task_state *ts, __u64 since, __u64 ns)
{
	struct full_block *full = &cpu->full, *room = NULL;
	bool wants_kernel = wants_kernel_frames(next);
	__u32 nr = 0;

	/* They are of prev, which was walked just before. */
	cpu->kernel_side.hash = cpu->user_side.hash = cpu->user_side.known = 0;
	if (has_parked(ts))
		room = find_parked(cpu, ts->incarnation, since, ns);
	if (room && (room->block.nr_kernel || !wants_kernel))
		return room;
	full->block.nr_user = full->block.flags = 0;
	if (wants_kernel)
		nr = walk_next(cpu, next, full->ips);
	if (room && room != full)
		append_parked(full, room, nr);
	full->block.nr_kernel = (__u16)nr;
	if (nr >= settings.max_frames)
		full->block.flags |= WIRE_BLOCK_TRUNC_KERNEL;
	return full;
}

/* Adds a block to a sum, or sends it. is_back: it is that of current, whose stack is there. */
static __always_inline void keep_block(void *ctx, struct cpu *cpu, struct full_block *full,
				       struct file *file, bool is_back)
{
	__u32 index = bpf_get_smp_processor_id();
	bool bridged = is_back && is_bridged(cpu, &full->block);

	if (!bridged && is_for_sum(&full->block) && accumulate(ctx, cpu, full, file))
		return;
	if (settings.reasons && file)
		read_names(file, &full->reason);
	if (bridged || (is_back && is_copied(&full->block)))
		send_copy(ctx, cpu, &full->block, bpf_map_lookup_elem(&copies, &index));
	send_block(ctx, cpu, full);
}

/* A block that has ended. */
struct ended_block {
	__u64 since;
	__u64 end;
	__u64 ns;
	__u64 weight;	/* ns that it stands for */
	__u64 runnable; /* ns of it */
};

/* Records a block of task that is neither filtered nor left out, with its stacks and its reason. */
static __always_inline void record_block(void *ctx, struct cpu *cpu, struct task_struct *task,
					 struct task_state *ts, enum comer comer,
					 const struct ended_block *ended)
{
	bool is_parked = comer == COMER_PARKED;
	struct full_block *full = &cpu->full;
	struct file *file = NULL;

	if (is_parked)
		full = next_stacks(cpu, task, ts, ended->since, ended->ns);
	else
		full->block.flags = 0;
	describe_block(&full->block, ts, task, ended->end, ended->ns);
	full->block.weight = ended->weight;
	if (settings.split_runqueue)
		full->block.runqueue_ns = ended->runnable;
	if (comer == COMER_BACK)
		walk_stacks(ctx, cpu, full, true);
	else if (comer == COMER_NEW)
		full->block.nr_kernel = full->block.nr_user = 0;
	if (settings.reasons && comer == COMER_NEW)
		full->reason.id = 0;
	else if (settings.reasons)
		file = describe_reason(task, &full->reason, ts, !is_parked, true);
	keep_block(ctx, cpu, full, file, comer == COMER_BACK);
}

/* A task is on the CPU, again or for the first time. */
static __always_inline int sched_in(void *ctx, struct task_struct *task, enum comer comer)
{
	struct ended_block ended;
	struct task_state *ts;
	struct cpu *cpu;
	__u64 since, end, ns, woken, delay, runnable, weight;
	bool over;

	if (!task->pid || phase < WIRE_PHASE_RUNNING)
		return 0;
	ts = bpf_task_storage_get(&task_states, task, NULL, 0);
	if (!ts)
		return 0;
	cpu = this_cpu();
	if (!cpu)
		return 0;
	/* The first hook of this switch was missed if the last one shown had another next. */
	end = cpu->own.next == (__u32)task->pid ? cpu->own.now : bpf_ktime_get_ns();
	over = is_over(end);
	if (!settings.on_cpu)
		ts->ran = 1;
	since = take_stamp(ts);
	woken = take_wakeup(ts);
	delay = take_run_delay(task, ts, comer != COMER_BACK);
	if (settings.on_cpu)
		since = begin_running(ts, since, woken, delay, end, over);
	if (!is_wanted(task, ts, bpf_get_smp_processor_id()))
		return 0;
	if (over) {
		/* Runnable time after the end of the recording does not belong to the block. */
		delay -= delay < end - end_ns ? delay : end - end_ns;
		end = end_ns;
	}
	runnable = since ? runnable_part(ts->state, since, end, woken, delay) : 0;
	count_runnable(cpu, ts, since, end, runnable, delay);
	if (!since)
		return 0;
	ns = end > since ? end - since : 0;
	tally(&cpu->own.accounts.seen, ns);
	if (settings.on_cpu) {
		cpu->own.accounts.queued_ns += runnable;
		cpu->own.accounts.blocked_ns += ns - runnable;
	}
	if (is_filtered(cpu, ts->state, ns) || in_histogram(cpu, ts->state, ns))
		return 0;
	if (!is_drawn(cpu, end, ns, &weight))
		return 0;
	ended = (struct ended_block){ since, end, ns, weight, runnable };
	record_block(ctx, cpu, task, ts, comer, &ended);
	return 0;
}

/* Called by any of the hooks at switch-in. */
static __always_inline int handle_switch_in(void *ctx)
{
	return sched_in(ctx, bpf_get_current_task_btf(), COMER_BACK);
}

/* Counts a switch-out of a task that should have a state; user space then gives it one. */
static __always_inline void count_stray(struct cpu *cpu, struct task_struct *task, __u8 state)
{
	struct task_state none = {};

	if (state == WIRE_STATE_X || !is_stray(task) ||
	    !is_wanted(task, &none, bpf_get_smp_processor_id()))
		return;
	cpu->own.accounts.unseen++;
	strays = 1;
}

/* Prev leaves the CPU to next: stamps it. Returns its state, or NULL. */
static __always_inline struct task_state *sched_out(void *ctx, struct cpu *cpu, bool preempt,
						    struct task_struct *prev,
						    struct task_struct *next, __u32 state)
{
	struct task_state *ts;
	__u64 now;

	now = bpf_ktime_get_ns();
	cpu->own.now = now;
	cpu->own.next = next->pid;
	if (!prev->pid)
		return NULL;
	ts = bpf_task_storage_get(&task_states, prev, NULL, 0);
	if (is_over(now)) {
		if (ts && classify_state(preempt, state) == WIRE_STATE_X) {
			tell_thread(ctx, prev, ts);
			if (settings.on_cpu)
				tell_run(ctx, cpu, prev, ts, end_ns);
		}
		return NULL;
	}
	if (!ts) {
		count_stray(cpu, prev, classify_state(preempt, state));
		return NULL;
	}
	/*
	 * It has come back without a hook being called, unless the stamp is a late one of the
	 * start.
	 */
	if (ts->since && (ts->since != start_ns || !ts->ran) &&
	    is_wanted(prev, ts, bpf_get_smp_processor_id()))
		cpu->own.accounts.unseen++;
	if (settings.on_cpu)
		end_running(prev, ts, now);
	ts->ran = 1;
	ts->preempted = preempt;
	ts->state = classify_state(preempt, state);
	ts->throttled = ts->state == WIRE_STATE_R && is_throttled(prev);
	if (settings.reasons)
		note_owner(prev, ts);
	if (settings.wakers)
		ts->handed_over = 0;
	ts->since = now;
	if (ts->state == WIRE_STATE_X) {
		ts->since = 0;
		tell_thread(ctx, prev, ts);
		if (settings.on_cpu)
			tell_run(ctx, cpu, prev, ts, now);
	}
	return ts;
}

/* True if next gets its first CPU, which the hooks at switch-in may miss. */
static __always_inline bool is_new(const struct task_struct *next)
{
	return settings.on_cpu && !has_left_cpu(next);
}

static __always_inline int handle_switch_out(void *ctx, bool preempt, struct task_struct *prev,
					     struct task_struct *next, __u32 state)
{
	struct cpu *cpu = this_cpu();

	if (!cpu || phase < WIRE_PHASE_RUNNING)
		return 0;
	sched_out(ctx, cpu, preempt, prev, next, state);
	return is_new(next) ? sched_in(ctx, next, COMER_NEW) : 0;
}

/*
 * Walks the stacks of current, which leaves its CPU, before it is known whether its block counts.
 */
static __always_inline void park_stacks(void *ctx, struct cpu *cpu, struct task_state *ts)
{
	struct full_block *full;

	if (!has_parked(ts))
		return;
	if (!ts->since) {
		forget_parked(ts->incarnation);
		return;
	}
	if (!(settings.states & (1U << (ts->state & 15))))
		return;
	full = parking_room(cpu, ts->incarnation);
	if (!full)
		return;
	full->block.since = ts->since;
	full->block.flags = ts->flags & TASK_STATE_KTHREAD ? WIRE_BLOCK_KTHREAD : 0;
	walk_stacks(ctx, cpu, full, false);
}

/* Both ends in one hook: prev leaves, and its stacks are parked; next comes back. */
static __always_inline int handle_switch(void *ctx, bool preempt, struct task_struct *prev,
					 struct task_struct *next, __u32 state)
{
	struct cpu *cpu = this_cpu();
	struct task_state *ts;

	if (!cpu || phase < WIRE_PHASE_RUNNING)
		return 0;
	ts = sched_out(ctx, cpu, preempt, prev, next, state);
	if (ts)
		park_stacks(ctx, cpu, ts);
	if (is_new(next))
		return sched_in(ctx, next, COMER_NEW);
	return sched_in(ctx, next, COMER_PARKED);
}

#endif /* DENET_BLOCK_BPF_H */
