/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tracker of denet-top: stamps of calls, switches, wake-ups and requests, which its samplers
 * read when they look. Only what is asked for is attached. Nothing is sent but the calls and
 * requests that a sampler has met, or that are longer than it asks for, when they end.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "wire.h"
#include "track_maps.bpf.h"
#include "maps.bpf.h"
#include "task.bpf.h"
#include "reason.bpf.h"
#include "request.bpf.h"
#include "track_show.bpf.h"
#include "track_waker.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct track_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* each sampler brings its own */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, TRACK_WIRE_SAMPLERS);
	__type(key, __u32);
	__array(values, struct track_ring);
} track_rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TRACK_WIRE_SAMPLERS);
	__type(key, __u32);
	__type(value, struct track_wire_slot);
} track_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct track_wire_common);
} track_common SEC(".maps");

static __always_inline struct track_wire_common *common_part(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&track_common, &zero);
}

/* Whether a sampler wants calls that it has not met, if they are long. */
static __always_inline bool wants_all_calls(void)
{
	struct track_wire_common *common = common_part();

	return common && common->least_call_ns != TRACK_WIRE_NEVER;
}

static __always_inline void count_lost(void)
{
	struct track_wire_common *common = common_part();

	if (common)
		__sync_fetch_and_add(&common->lost, 1);
}

/* Gives a record to the samplers of these bits. */
static __always_inline void give(__u32 samplers, void *record, __u64 size)
{
	for (__u32 i = 0; i < TRACK_WIRE_SAMPLERS; i++) {
		struct track_wire_slot *slot;
		__u32 at = i;
		void *ring;

		if (!(samplers >> i & 1))
			continue;
		slot = bpf_map_lookup_elem(&track_slots, &at);
		if (!slot || !slot->used)
			continue;
		ring = bpf_map_lookup_elem(&track_rings, &at);
		/* Rings are read now and then: nobody has to be woken up. */
		if (!ring || bpf_ringbuf_output(ring, record, size, BPF_RB_NO_WAKEUP))
			__sync_fetch_and_add(&slot->lost, 1);
	}
}

/* Of the samplers of these bits, those that want all calls, or requests, of such a length. */
static __always_inline __u32 samplers_of(__u32 wanted, __u64 ns, bool call)
{
	struct track_wire_common *common = common_part();
	__u32 samplers = 0;

	if (!wanted || !common || ns < (call ? common->least_call_ns : common->least_request_ns))
		return 0;
	for (__u32 i = 0; i < TRACK_WIRE_SAMPLERS; i++) {
		__u32 at = i;
		struct track_wire_slot *slot = bpf_map_lookup_elem(&track_slots, &at);

		if (slot && wanted >> i & 1 &&
		    ns >= (call ? slot->min_call_ns : slot->min_request_ns))
			samplers |= 1U << i;
	}
	return samplers;
}

static __always_inline struct track_wire_task *make_track(struct task_struct *task)
{
	struct track_wire_task *track;

	track = bpf_task_storage_get(&track_tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!track)
		count_lost();
	return track;
}

/* Threads of a target are targets until a sampler looks, and what targets start if it says so. */
SEC("tp_btf/task_newtask")
int BPF_PROG(track_born, struct task_struct *task, unsigned long clone_flags)
{
	struct track_wire_task *track = make_track(task), *parent;
	struct track_wire_common *common = common_part();

	if (!track || !common)
		return 0;
	track->left = bpf_ktime_get_ns();
	track->preempted = 1;
	parent = track_of(bpf_get_current_task_btf());
	if (parent)
		track->wanted = clone_flags & CLONE_THREAD ? parent->wanted
							   : parent->wanted & common->inherits;
	return 0;
}

/* Runs before the hooks count: threads that live already. */
SEC("iter/task")
int track_enlist(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	learn_pid_level();
	if (task)
		make_track(task);
	return 0;
}

/* The number of the call comes last: a sampler that sees it sees the rest, too. */
static __always_inline int enter_call(long nr)
{
	struct track_wire_task *track = track_of(bpf_get_current_task_btf());

	if (!track)
		return 0;
	track->known = 1;
	track->nr = (__s32)nr;
	track->seq++;
	barrier();
	track->entered = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void tell_call(struct task_struct *task, const struct track_wire_task *track,
				      __u32 samplers, __u64 entered, __u64 now, long ret)
{
	struct track_wire_call call = {
		.head = { .kind = TRACK_WIRE_CALL, .size = sizeof(call) },
		.entered = entered,
		.ns = now - entered,
		.seq = track->seq,
		.ret = ret,
		.nr = track->nr,
		.pid = pid_of(task),
		.tid = tid_of(task),
		.compat = is_compat_call(task, (struct pt_regs *)bpf_task_pt_regs(task)),
	};

	give(samplers, &call, sizeof(call));
}

static __always_inline int leave_call(long ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct track_wire_task *track = track_of(task);
	__u64 entered, now;
	__u32 samplers = 0;

	if (!track)
		return 0;
	track->known = 1;
	entered = track->entered;
	track->entered = 0;
	if (!entered)
		return 0;
	if (track->mark >> TRACK_WIRE_MARK_SHIFT == (track->seq & TRACK_WIRE_MARK_SEQ))
		samplers = track->mark & ((1U << TRACK_WIRE_MARK_SHIFT) - 1);
	if (!samplers && (!track->wanted || !wants_all_calls()))
		return 0;
	now = bpf_ktime_get_ns();
	samplers |= samplers_of(track->wanted, now - entered, true);
	if (samplers)
		tell_call(task, track, samplers, entered, now, ret);
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(track_entered, struct pt_regs *regs, long nr)
{
	return enter_call(nr);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(track_returned, struct pt_regs *regs, long ret)
{
	return leave_call(ret);
}

/* Where tasks may be preempted in the two above, see call_entered_unpreempted of stat.bpf.c. */
SEC("tracepoint/raw_syscalls/sys_enter")
int track_entered_unpreempted(struct trace_event_raw_sys_enter *ctx)
{
	return enter_call(ctx->id);
}

SEC("tracepoint/raw_syscalls/sys_exit")
int track_returned_unpreempted(struct trace_event_raw_sys_exit *ctx)
{
	return leave_call(ctx->ret);
}

/* The lock's owner is read now, from the memory of current; later it has to be mapped in. */
static __always_inline void leave_cpu(struct task_struct *prev, bool preempt, __u32 prev_state,
				      __u64 now)
{
	struct track_wire_task *track = track_of(prev);
	struct task_state state = {};

	if (!track)
		return;
	state.state = classify_state(preempt, prev_state);
	state.flags = prev->flags & PF_KTHREAD ? TASK_STATE_KTHREAD : 0;
	track->preempted = state.state == WIRE_STATE_R;
	track->left = now;
	note_owner(prev, &state);
	track->owner = state.owner;
	track->owner_shared = state.owner_shared;
}

static __always_inline int switch_tasks(bool preempt, struct task_struct *prev,
					struct task_struct *next, __u32 prev_state)
{
	__u64 now = bpf_ktime_get_ns();
	struct track_wire_task *track;

	if (prev->pid)
		leave_cpu(prev, preempt, prev_state, now);
	track = next->pid ? track_of(next) : NULL;
	if (track)
		track->came = now;
	return 0;
}

/* The tracepoint carries the state since 5.18. */
SEC("tp_btf/sched_switch")
int BPF_PROG(track_switched, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	return switch_tasks(preempt, prev, next, prev_state);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(track_switched_no_state, bool preempt, struct task_struct *prev,
	     struct task_struct *next)
{
	return switch_tasks(preempt, prev, next, read_task_state(prev));
}

static __always_inline int wake_up(void *ctx, struct task_struct *task, __u32 bits)
{
	struct track_wire_task *track = track_of(task);

	if (!track)
		return 0;
	track->woken = bpf_ktime_get_ns();
	note_waker(ctx, track, bits);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(track_woken, struct task_struct *task)
{
	return wake_up(ctx, task, interrupt_bits());
}

/* Where the kernel does not show its counter of interrupts, each wake-up takes a walk. */
SEC("tp_btf/sched_waking")
int BPF_PROG(track_woken_walked, struct task_struct *task)
{
	return wake_up(ctx, task, PREEMPT_SOFTIRQ);
}

static __always_inline __u32 flag_of(__u32 flags, __u32 bit, __u32 ours)
{
	return flags >> (bit & 31) & 1 ? ours : 0;
}

static __always_inline __u32 flags_of(struct request *request)
{
	__u32 flags = BPF_CORE_READ(request, cmd_flags);

	return (flags & REQUEST_OP) |
	       flag_of(flags, bpf_core_enum_value(enum req_flag_bits, __REQ_SYNC),
		       TRACK_WIRE_IO_SYNC) |
	       flag_of(flags, bpf_core_enum_value(enum req_flag_bits, __REQ_META),
		       TRACK_WIRE_IO_META) |
	       flag_of(flags, bpf_core_enum_value(enum req_flag_bits, __REQ_PRIO),
		       TRACK_WIRE_IO_PRIO) |
	       flag_of(flags, bpf_core_enum_value(enum req_flag_bits, __REQ_FUA),
		       TRACK_WIRE_IO_FUA) |
	       flag_of(flags, bpf_core_enum_value(enum req_flag_bits, __REQ_RAHEAD),
		       TRACK_WIRE_IO_RAHEAD);
}

/* Current made the request, unless an interrupt sends on what others have made. */
static __always_inline void describe_maker(void *ctx, struct track_wire_request *made,
					   __u64 address)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct track_wire_task *track = task->pid ? track_of(task) : NULL;

	if (!track || is_by_interrupt(ctx, PREEMPT_SOFTIRQ))
		return;
	made->task = (__u64)task;
	made->seq = ++track->nr_requests;
	made->wanted = track->wanted;
	made->insert_pid = pid_of(task);
	made->insert_tid = tid_of(task);
	track->requests[made->seq & (TRACK_WIRE_LATEST - 1)] = address;
}

/* The entry of a request, which is made if there is none, or that is of one that has ended. */
static __always_inline struct track_wire_request *find_request(void *ctx,
								struct request *request)
{
	__u64 address = (__u64)request, start = BPF_CORE_READ(request, start_time_ns);
	struct track_wire_request *found, made = {};

	found = bpf_map_lookup_elem(&track_requests, &address);
	if (found && found->start == start)
		return found;
	made.start = start;
	made.inserted = bpf_ktime_get_ns();
	made.sector = BPF_CORE_READ(request, __sector);
	made.bytes = BPF_CORE_READ(request, __data_len);
	made.dev = device_of_request(request);
	made.flags = flags_of(request);
	describe_maker(ctx, &made, address);
	if (bpf_map_update_elem(&track_requests, &address, &made, BPF_ANY)) {
		count_lost();
		return NULL;
	}
	return bpf_map_lookup_elem(&track_requests, &address);
}

SEC("tp_btf/block_rq_insert")
int BPF_PROG(track_inserted, struct request *request)
{
	find_request(ctx, request);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(track_issued, struct request *request)
{
	struct track_wire_request *found = find_request(ctx, request);
	struct task_struct *task = bpf_get_current_task_btf();

	if (!found)
		return 0;
	found->issued = bpf_ktime_get_ns();
	/* Others may have been merged into it. */
	found->sector = BPF_CORE_READ(request, __sector);
	found->bytes = BPF_CORE_READ(request, __data_len);
	found->issue_pid = pid_of(task);
	found->issue_tid = tid_of(task);
	return 0;
}

static __always_inline void tell_request(const struct track_wire_request *found, __u32 samplers,
					 __u64 now, int error)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct track_wire_done done = {
		.head = { .kind = TRACK_WIRE_REQUEST, .size = sizeof(done) },
		.time = now,
		.pid = pid_of(task),
		.tid = tid_of(task),
		.error = error,
	};

	__builtin_memcpy(&done.request, found, sizeof(done.request));
	give(samplers, &done, sizeof(done));
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(track_completed, struct request *request, int error, unsigned int bytes)
{
	__u64 address = (__u64)request, now, start;
	struct track_wire_request *found = bpf_map_lookup_elem(&track_requests, &address);
	__u32 samplers;

	if (!found || !is_last_part(request, bytes))
		return 0;
	now = bpf_ktime_get_ns();
	start = found->start ? found->start : found->inserted;
	samplers = found->mark | samplers_of(found->wanted, now - start, false);
	if (samplers)
		tell_request(found, samplers, now, error);
	bpf_map_delete_elem(&track_requests, &address);
	return 0;
}

/* It has become a part of another one, and has no end of its own. */
SEC("tp_btf/block_rq_merge")
int BPF_PROG(track_merged, struct request *request)
{
	__u64 address = (__u64)request;

	bpf_map_delete_elem(&track_requests, &address);
	return 0;
}

/* Pinned where the tracker is shared. */
SEC("iter/task")
int track_show(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	return task ? show_thread(ctx, task) : 0;
}
