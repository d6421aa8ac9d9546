/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The programs of denet-stat: counts and totals of each thread, kept in the kernel. Nothing is sent
 * while they run. Targets and filters are those of bpf_skel/offcpu.bpf.c.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "wire.h"
#include "stat_wire.h"
#include "maps.bpf.h"
#include "task.bpf.h"
#include "iterate.bpf.h"
#include "running.bpf.h"
#include "stat_sums.bpf.h"
#include "stat_calls.bpf.h"
#include "stat_files.bpf.h"
#include "stat_io.bpf.h"
#include "stat_waits.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* A thread got a CPU at that time, and has waited for delay ns for it. */
static __always_inline void stat_in(struct task_struct *task, struct task_state *ts,
				    struct stat_thread *thread, __u64 now, __u64 delay)
{
	__u64 since = ts->since;

	ts->since = 0;
	since = begin_running(ts, since, 0, delay, now, false);
	if (!since || now <= since || !is_wanted(task, ts, bpf_get_smp_processor_id()))
		return;
	stat_add_block(&thread->sums, ts->state, now - since,
		       runnable_part(ts->state, since, now, 0, delay));
	stat_end_wait(task, ts, thread, now - since);
	stat_end_io(task, ts, thread, now - since);
	stat_end_file(task, ts, thread, now - since);
}

/* For how long prev, which is about to leave its CPU, has been there by its queue's clock. */
static __always_inline __u64 stay_of(struct task_struct *prev)
{
	__u64 arrived, now;

	if (!bpf_core_field_exists(struct sched_info, last_arrival) ||
	    !bpf_core_field_exists(struct sched_entity, cfs_rq) ||
	    !bpf_core_field_exists(struct cfs_rq, rq))
		return 0;
	arrived = prev->sched_info.last_arrival;
	now = prev->se.cfs_rq->rq->clock;
	return arrived && now > arrived ? now - arrived : 0;
}

/*
 * Prev has come back without a switch being shown: it came after a thread that the kernel of a
 * virtual machine hides. The scheduler knows when that was.
 */
static __always_inline void stat_in_unseen(struct task_struct *prev, struct task_state *ts,
					   struct stat_thread *thread, __u64 now)
{
	__u64 since = ts->since, stay = stay_of(prev);

	stay = stay < now - since ? stay : now - since;
	stat_in(prev, ts, thread, now - stay, take_run_delay(prev, ts, false));
}

/* Prev has ended. Where the kernel did not show its exit, its calls are folded here. */
static __always_inline void stat_end(struct task_struct *prev, struct task_state *ts,
				     struct stat_thread *thread, __u64 now)
{
	stat_fold(prev, ts, thread, now);
	stat_fold_calls(prev, ts);
}

/* Prev leaves its CPU. */
static __always_inline void stat_out(struct cpu *cpu, bool preempt, struct task_struct *prev,
				     __u32 state, __u64 now)
{
	struct task_state *ts = bpf_task_storage_get(&task_states, prev, NULL, 0);
	struct stat_thread *thread = ts ? stat_thread_of(prev) : NULL;
	__u8 kind = classify_state(preempt, state);

	if (!thread) {
		if (!is_over(now))
			count_stray(cpu, prev, kind);
		return;
	}
	if (is_over(now)) {
		if (kind == WIRE_STATE_X)
			stat_end(prev, ts, thread, end_ns);
		return;
	}
	if (ts->since && !ts->on_since && now > ts->since)
		stat_in_unseen(prev, ts, thread, now);
	end_running(prev, ts, now);
	ts->ran = 1;
	ts->state = kind;
	stat_note_wait(prev, ts, thread);
	ts->since = kind == WIRE_STATE_X ? 0 : now;
	if (kind == WIRE_STATE_X)
		stat_end(prev, ts, thread, now);
}

/* Next gets the CPU, whose queue's clock is exact here. */
static __always_inline void stat_next(struct task_struct *next, __u64 now)
{
	struct task_state *ts = bpf_task_storage_get(&task_states, next, NULL, 0);
	struct stat_thread *thread = ts ? stat_thread_of(next) : NULL;

	if (thread && !is_over(now))
		stat_in(next, ts, thread, now, take_run_delay(next, ts, true));
}

static __always_inline int stat_switch(bool preempt, struct task_struct *prev,
				       struct task_struct *next, __u32 state)
{
	struct cpu *cpu = this_cpu();
	__u64 now;

	if (!cpu || phase != WIRE_PHASE_RUNNING)
		return 0;
	now = bpf_ktime_get_ns();
	if (prev->pid)
		stat_out(cpu, preempt, prev, state, now);
	if (next->pid)
		stat_next(next, now);
	return 0;
}

/* The tracepoint carries the state since 5.18. */
SEC("tp_btf/sched_switch")
int BPF_PROG(switched, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	return stat_switch(preempt, prev, next, prev_state);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched_no_state, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return stat_switch(preempt, prev, next, read_task_state(prev));
}

static __always_inline struct stat_thread *make_stat_thread(struct task_struct *task)
{
	struct stat_thread *thread;

	thread = bpf_task_storage_get(&stat_threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread)
		count_no_storage();
	return thread;
}

SEC("tp_btf/task_newtask")
int BPF_PROG(task_born, struct task_struct *task, unsigned long clone_flags)
{
	struct stat_thread *thread;
	struct task_state *ts;
	int match;

	if (phase != WIRE_PHASE_ENLISTING && phase != WIRE_PHASE_RUNNING)
		return 0;
	match = inherit_target(task, clone_flags);
	ts = match >= 0 ? make_task_state(task, match) : NULL;
	thread = ts ? make_stat_thread(task) : NULL;
	if (!thread)
		return 0;
	thread->known = STAT_NEWBORN;
	begin_life(task, ts);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(task_gone, struct task_struct *task)
{
	struct task_state *ts = bpf_task_storage_get(&task_states, task, NULL, 0);
	struct stat_thread *thread;
	__u32 one = 1;

	if (!ts)
		return 0;
	keep_numbers(task, ts);
	stat_fold_calls(task, ts);
	thread = stat_thread_of(task);
	/* Before the measurement, its last switch is not seen. */
	if (thread && !thread->gone && phase == WIRE_PHASE_RUNNING) {
		thread->gone = 1;
		__sync_fetch_and_add(&stat_losses.gone, 1);
	}
	if (__sync_fetch_and_add(&targets_alive, -1) == 1 && !settings.all)
		bpf_ringbuf_output(&bell, &one, sizeof(one), BPF_RB_FORCE_WAKEUP);
	return 0;
}

/* COMMAND, until it runs its program; 0: it does, or there is none. */
volatile __u32 stat_held = 0;

/*
 * COMMAND counts from its program on: before, it was a child of ours that waited, and looked for
 * the program. The call that started it is its first.
 */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(program_came, struct task_struct *task)
{
	struct stat_thread *thread;
	struct task_state *ts;

	if (!stat_held || phase != WIRE_PHASE_RUNNING || tid_of(task) != stat_held)
		return 0;
	stat_held = 0;
	ts = bpf_task_storage_get(&task_states, task, NULL, 0);
	thread = ts ? stat_thread_of(task) : NULL;
	if (!thread)
		return 0;
	__builtin_memset(&thread->sums, 0, sizeof(thread->sums));
	stat_drop_calls(thread);
	thread->lock = thread->lock_max_ns = 0;
	ts->born = ts->on_since = bpf_ktime_get_ns();
	ts->run_ns = ts->rest_ns = 0;
	return 0;
}

static __always_inline int stat_entered(struct pt_regs *regs, long nr)
{
	if (stat_counts_locks)
		stat_note_wake(regs, (__u32)nr);
	return stat_times_calls ? stat_enter(regs, nr) : 0;
}

static __always_inline int stat_returned(struct pt_regs *regs, long ret)
{
	return stat_times_calls ? stat_exit(regs, ret) : stat_count_return(regs, ret);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(call_entered, struct pt_regs *regs, long nr)
{
	return stat_entered(regs, nr);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(call_returned, struct pt_regs *regs, long ret)
{
	return stat_returned(regs, ret);
}

static __always_inline struct pt_regs *own_regs(void)
{
	return (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
}

/*
 * The same where tasks may be preempted in the two above, which costs the other tasks of that CPU
 * their calls: these run with preemption off, and the kernel fills in a record for them.
 */
SEC("tracepoint/raw_syscalls/sys_enter")
int call_entered_unpreempted(struct trace_event_raw_sys_enter *ctx)
{
	return stat_entered(own_regs(), ctx->id);
}

SEC("tracepoint/raw_syscalls/sys_exit")
int call_returned_unpreempted(struct trace_event_raw_sys_exit *ctx)
{
	return stat_returned(own_regs(), ctx->ret);
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(request_issued, struct request *request)
{
	return stat_issue(request);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(request_completed, struct request *request, int error, unsigned int bytes)
{
	return stat_complete_request(request, error, bytes);
}

/* Before the start and right after it, as in the recorder's programs. */
SEC("iter/task")
int list_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!task)
		return 0;
	if (phase == WIRE_PHASE_ENLISTING) {
		enlist(ctx->meta->seq, task);
		if (bpf_task_storage_get(&task_states, task, NULL, 0))
			make_stat_thread(task);
	} else {
		stamp_sleeper(task);
		stat_note_sleeper(task);
	}
	return 0;
}

SEC("iter/task")
int count_targets(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!task)
		return 0;
	count_target(task);
	if (bpf_task_storage_get(&task_states, task, NULL, 0))
		make_stat_thread(task);
	return 0;
}

/* Room for the iterator: one of them runs at a time. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stat_wire_thread);
} stat_room SEC(".maps");

static __always_inline __u64 leader_of(struct task_struct *task)
{
	struct task_struct *leader = task->group_leader;
	struct task_state *ts;

	if (!leader)
		return 0;
	ts = bpf_task_storage_get(&task_states, leader, NULL, 0);
	return ts ? ts->incarnation : 0;
}

/* The call that a thread is in, also if it entered that before the measurement. */
static __always_inline void describe_open_call(struct stat_wire_thread *out,
					       struct task_struct *task,
					       const struct task_state *ts,
					       const struct stat_thread *thread)
{
	struct pt_regs *regs;
	__s32 nr;

	out->open_since = thread->entered;
	out->open_call = thread->entered ? thread->call : 0;
	if (!stat_times_calls || thread->known || ts->flags & TASK_STATE_KTHREAD)
		return;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	nr = user_call_nr(regs);
	if (nr < 0)
		return;
	out->open_since = start_ns;
	out->open_call = ((__u32)nr & STAT_WIRE_CALL_NR) | STAT_WIRE_CALL_USED;
	if (is_compat_call(task, regs))
		out->open_call |= STAT_WIRE_CALL_COMPAT;
}

/* The operation and the value of a futex call, by which a mutex is told from other objects. */
static __always_inline bool describe_futex_call(struct stat_wire_thread *out,
						struct task_struct *task)
{
	bool compat = false;
	__u64 args[6];
	__u32 class = class_of(user_call(task, args, &compat));

	if (compat || !is_futex(class) || args[0] != out->wait_id)
		return false;
	/* futex_wait() has no operation, but the same flag for private futexes. */
	out->futex_op = class == WIRE_CALL_FUTEX ? args[1] : args[3] & MUTEX_OWNER_PRIVATE;
	out->futex_value = class == WIRE_CALL_FUTEX ? args[2] : args[1];
	return true;
}

/* What a thread that is off its CPU waits for, up to out->time. */
static __always_inline void describe_open_wait(struct stat_wire_thread *out,
					       struct task_struct *task, struct task_state *ts,
					       const struct stat_thread *thread)
{
	__u64 since = ts->since, now = out->time;

	out->wait = out->owner = 0;
	out->lock = thread->lock;
	out->lock_max_ns = thread->lock_max_ns;
	if (!since || now <= since || ts->on_since || !thread->wait)
		return;
	out->wait = thread->wait;
	out->wait_id = thread->wait_id;
	out->wait_ns = now - since;
	if (stat_counts_locks && out->wait == STAT_WIRE_WAIT_FUTEX) {
		stat_learn_holder(ts, thread);
		if (describe_futex_call(out, task) && !ts->ran)
			out->flags |= STAT_WIRE_ASLEEP;
	}
	out->owner = out->wait == STAT_WIRE_WAIT_FUTEX ? ts->owner : 0;
	if (out->owner && out->wait_ns > out->lock_max_ns) {
		out->lock = out->wait_id;
		out->lock_max_ns = out->wait_ns;
	}
	stat_name_open_wait(task, ts, thread);
}

/* Run by util/bpf/end_time.c. */
SEC("raw_tp")
int set_end(void *ctx)
{
	return set_end_ahead();
}

/* Lists the threads that have not ended, with their sums so far. */
SEC("iter/task")
int report_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct stat_wire_thread *out;
	struct stat_thread *thread;
	struct task_state *ts;
	__u32 zero = 0;
	__u64 now;

	if (!task)
		return 0;
	ts = bpf_task_storage_get(&task_states, task, NULL, 0);
	thread = ts ? stat_thread_of(task) : NULL;
	out = bpf_map_lookup_elem(&stat_room, &zero);
	if (!thread || !out || thread->folded)
		return 0;
	now = bpf_ktime_get_ns();
	if (is_over(now))
		now = end_ns;
	out->pid = target_pid(task, ts);
	out->tid = target_tid(task, ts);
	out->ppid = pid_of(task->real_parent);
	out->flags = ts->flags & TASK_STATE_KTHREAD ? STAT_WIRE_KTHREAD : 0;
	if (thread->gone)
		out->flags |= STAT_WIRE_LEAVING;
	out->incarnation = ts->incarnation;
	out->leader = leader_of(task);
	out->time = now;
	bpf_probe_read_kernel_str(out->comm, sizeof(out->comm), task->comm);
	out->first_call = thread->first_call;
	describe_open_call(out, task, ts, thread);
	if (stat_counts_calls && out->open_call)
		stat_add_file(task, ts, out->open_call, 0);
	describe_open_wait(out, task, ts, thread);
	bpf_probe_read_kernel(&out->sums, sizeof(out->sums), &thread->sums);
	stat_complete(&out->sums, thread, task, ts, now);
	bpf_seq_write(ctx->meta->seq, out, sizeof(*out));
	return 0;
}
