/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sampler of denet-top: an iterator over all threads, which nothing is attached for. It reads
 * the state of each thread and what its call is about, decides which threads are kept, and writes
 * those. It takes no lock, and reads no memory of user space. With --track, another object has
 * stamps.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "wire.h"
#include "top_wire.h"
#include "maps.bpf.h"
#include "task.bpf.h"
#include "filter.bpf.h"
#include "reason.bpf.h"
#include "top_object.bpf.h"
#include "top_idle.bpf.h"
#include "top_known.bpf.h"
#include "top_state.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct top_wire_settings top = {};
const volatile __u8 top_calls[WIRE_MAX_CALLS] = {}; /* with by_call: those that are kept */

struct top_wire_counts top_counts;

/* CLOCK_MONOTONIC less the scheduler's clock: the least difference seen, with its drift since. */
__s64 top_clock_lead;
__u64 top_clock_learnt; /* when; 0: not yet */

struct top_comm {
	char name[WIRE_COMM_LEN];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TOP_WIRE_MAX_COMMS);
	__type(key, struct top_comm);
	__type(value, __u32);
} top_comms SEC(".maps");

/* Room for one thread: one pass runs at a time. */
struct top_room {
	struct top_wire_sample sample;
	struct wire_reason reason;
	struct top_wire_socket socket;
	struct top_wire_uring uring;
	struct wire_reason request; /* the file of its latest request */
	struct top_wire_regs regs;
	struct full_stack kernel;
	struct top_wire_track track;
	struct task_state none; /* but for top_known, no state is kept between passes */
	bool walked; /* kernel has frames of the thread */
	__u64 words[POLL_WORDS]; /* of its stack */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct top_room);
} top_rooms SEC(".maps");

#include "top_track.bpf.h"

static __always_inline struct rq *queue_of(struct task_struct *task)
{
	if (!bpf_core_field_exists(struct sched_entity, cfs_rq) ||
	    !bpf_core_field_exists(struct cfs_rq, rq))
		return NULL;
	return BPF_CORE_READ(task, se.cfs_rq, rq);
}

/*
 * The scheduler's clock of this CPU was read when the sampler got it, a moment ago: at each pass
 * they seem as far apart as they are, or further. They drift apart by about one in 10,000 at most.
 */
static __always_inline void learn_clock(__u64 now)
{
	struct rq *rq = queue_of(bpf_get_current_task_btf());
	__u64 clock = BPF_CORE_READ(rq, clock);
	__s64 lead = (__s64)(now - clock), drift = (__s64)((now - top_clock_learnt) >> 13);

	if (!clock || (top_clock_learnt && lead > top_clock_lead + drift))
		return;
	top_clock_lead = lead;
	top_clock_learnt = now;
}

/* When a thread that is off the CPU was there last, by the scheduler's clock; 0: not known. */
static __always_inline __u64 last_run(struct task_struct *task)
{
	__u64 last = BPF_CORE_READ(task, se.exec_start);
	struct rq *rq = queue_of(task);

	/* The clock of running time leaves out interrupts. */
	return last && rq ? last + BPF_CORE_READ(rq, clock) - BPF_CORE_READ(rq, clock_task) : 0;
}

/* Since when a thread has been in its state, by the scheduler's clock; 0: not known. */
static __always_inline __u64 state_since(struct task_struct *task, __u32 state)
{
	if (!bpf_core_field_exists(struct sched_info, last_arrival))
		return 0;
	if (state == TOP_WIRE_RUN)
		return BPF_CORE_READ(task, sched_info.last_arrival);
	if (state == TOP_WIRE_RUNQ)
		return BPF_CORE_READ(task, sched_info.last_queued);
	return last_run(task);
}

static __always_inline __u64 time_in_state(struct task_struct *task, __u32 state, __u64 now)
{
	__u64 since = state_since(task, state);

	if (!since || !top_clock_learnt)
		return 0;
	since += (__u64)top_clock_lead;
	return now > since ? now - since : 1;
}

/*
 * The sampler takes a CPU to look, and the thread that had it is runnable since that moment. It
 * runs as far as anybody else is concerned. Threads that were woken up just then are queued since
 * the same moment, but have not run up to it.
 */
static __always_inline bool is_displaced(struct task_struct *task)
{
	struct task_struct *own = bpf_get_current_task_btf();

	return bpf_core_field_exists(struct sched_info, last_queued) &&
	       task->sched_info.last_queued &&
	       task->sched_info.last_queued == own->sched_info.last_arrival &&
	       last_cpu(task) == bpf_get_smp_processor_id() &&
	       last_run(task) >= own->sched_info.last_arrival;
}

/*
 * While the sampler looks, no other thread gets its CPU: one that is woken up there waits until the
 * look is over, though it would run and perhaps wait again. So it counts as what it was when the
 * sampler came, which is off the CPU. A thread that another CPU's queue gives away meanwhile looks
 * the same, which is rare. One that has never run has not slept: it is runnable from its birth on.
 */
static __always_inline bool has_just_woken(struct task_struct *task)
{
	struct task_struct *own = bpf_get_current_task_btf();

	return bpf_core_field_exists(struct sched_info, last_queued) &&
	       task->sched_info.last_arrival &&
	       task->sched_info.last_queued > own->sched_info.last_arrival &&
	       last_cpu(task) == bpf_get_smp_processor_id() &&
	       last_run(task) < own->sched_info.last_arrival;
}

static __always_inline bool is_at_ring(struct task_struct *task)
{
	__u64 args[6];
	bool compat = false;

	return !(task->flags & PF_KTHREAD) && user_call(task, args, &compat) == NR_IO_URING_ENTER &&
	       !compat;
}

/*
 * A task that is woken up keeps in_iowait until it runs; its sleeping state is overwritten. Those
 * that wait for an io_uring have in_iowait as well, and can be interrupted.
 */
static __always_inline __u32 slept_state(struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait) && !is_at_ring(task) ? TOP_WIRE_DISK
										   : TOP_WIRE_SLEEP;
}

static __always_inline __u32 state_of(struct task_struct *task)
{
	__u32 state = visible_state(task);

	if (state != TOP_WIRE_RUNQ)
		return state;
	if (is_displaced(task))
		return TOP_WIRE_RUN;
	return has_just_woken(task) ? slept_state(task) : state;
}

static __always_inline __u64 switches_of(const struct task_struct *task)
{
	return task->nvcsw + task->nivcsw;
}

static __always_inline __u32 pid_ns_of(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level);
	struct upid *upid;

	if (!pid)
		return 0;
	upid = (void *)pid + bpf_core_field_offset(pid->numbers) +
	       level * bpf_core_type_size(struct upid);
	return BPF_CORE_READ(upid, ns, ns.inum);
}

static __always_inline void describe_comm(struct top_wire_sample *sample, struct task_struct *task)
{
	bpf_probe_read_kernel_str(sample->comm, sizeof(sample->comm), task->comm);
}

static __always_inline void describe_identity(struct top_wire_sample *sample,
					      struct task_struct *task)
{
	const unsigned char *exe;

	sample->pid = pid_of(task);
	sample->tid = tid_of(task);
	sample->start = task->start_boottime;
	sample->uid = BPF_CORE_READ(task, real_cred, euid.val);
	sample->pid_ns = pid_ns_of(task);
	sample->cgroup = sample_cgroup(task);
	sample->cpu = last_cpu(task);
	if (!top.by_comm)
		describe_comm(sample, task);
	exe = BPF_CORE_READ(task, mm, exe_file, f_path.dentry, d_name.name);
	if (!exe || bpf_probe_read_kernel_str(sample->exe, sizeof(sample->exe), exe) < 0)
		sample->exe[0] = 0;
}

/*
 * The call of a thread that is off the CPU: its registers lie on its stack. Those of one on a CPU
 * are what its last entry into the kernel left there: the tracker knows whether that is over. A
 * thread that is dying or dead has none, wherever it was killed, and kernel threads have no caller.
 */
static __always_inline void describe_call(struct top_wire_sample *sample, struct task_struct *task,
					  const struct top_wire_track *track)
{
	bool compat = false;

	if (sample->state == TOP_WIRE_RUN && !top_knows_call(track))
		sample->flags |= TOP_WIRE_FLAG_UNKNOWN;
	if ((sample->state == TOP_WIRE_RUN && !track->entered) ||
	    sample->flags & TOP_WIRE_FLAG_KTHREAD || task->flags & PF_EXITING || task->exit_state)
		return;
	sample->nr = user_call(task, sample->args, &compat);
	if (sample->state == TOP_WIRE_RUN)
		top_check_call(sample, task, track);
	if (sample->nr < 0) {
		sample->nr = -1;
		__builtin_memset(sample->args, 0, sizeof(sample->args));
	} else if (compat) {
		sample->flags |= TOP_WIRE_FLAG_COMPAT;
	}
}

/*
 * The kernel stack of a thread that is off the CPU, without the functions of the scheduler. The
 * first of the others is where it waits, as in /proc/PID/wchan: without stacks, no more is walked;
 * and nothing, where the thread has not run since the last time.
 */
static __always_inline void describe_wait(struct top_room *room, struct task_struct *task)
{
	struct top_wire_sample *sample = &room->sample;
	struct full_stack *kernel = &room->kernel;
	__u32 most = wants_stacks() ? WIRE_MAX_FRAMES : 1;
	long bytes;

	room->walked = false;
	if (sample->state == TOP_WIRE_RUN || task->exit_state || is_known(sample, task))
		return;
	bytes = bpf_get_task_stack(task, kernel->ips, most * sizeof(__u64), 0);
	if (bytes <= 0)
		return;
	room->walked = true;
	if (sample->state != TOP_WIRE_RUNQ)
		sample->wchan = kernel->ips[0];
	if (!wants_stacks())
		return;
	kernel->stack.head.kind = WIRE_STACK;
	kernel->stack.nr = (__u16)((__u32)bytes / sizeof(__u64));
	kernel->stack.user = 0;
	sample->flags |= TOP_WIRE_FLAG_KERNEL;
}

/* Where the user stack of a thread off the CPU begins: it is read from user space. */
static __always_inline void describe_user(struct top_room *room, struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct top_wire_sample *sample = &room->sample;

	if (!settings.user_stacks || top_skip_stacks || sample->state == TOP_WIRE_RUN ||
	    task->exit_state || sample->flags & TOP_WIRE_FLAG_KTHREAD || is_compat(regs))
		return;
	room->regs.head.kind = TOP_WIRE_REGS;
	room->regs.head.size = sizeof(room->regs);
	copy_user_regs(room->regs.regs, regs);
	sample->flags |= TOP_WIRE_FLAG_REGS;
}

static __always_inline void describe_ring(struct top_room *room, struct task_struct *task,
					  struct file *ring)
{
	struct top_wire_sample *sample = &room->sample;
	struct file *file;

	if (!is_ring(&room->reason))
		return;
	file = read_ring(task, ring, &room->uring);
	sample->flags |= TOP_WIRE_FLAG_URING;
	if (!file)
		return;
	read_request_file(file, &room->request);
	sample->flags |= TOP_WIRE_FLAG_URING_FILE;
}

/* Of io_uring_enter(2) with the number of a ring in place of a descriptor. Returns its file. */
static __always_inline struct file *describe_registered(struct top_room *room,
							struct task_struct *task)
{
	struct file *file = registered_ring(task, room->sample.args[0]);

	if (!file)
		return NULL;
	read_request_file(file, &room->reason);
	room->sample.flags |= TOP_WIRE_FLAG_REASON;
	describe_ring(room, task, file);
	return file;
}

/* The object of the call. Returns its file; NULL: it has none. */
static __always_inline struct file *describe_object(struct top_room *room, struct task_struct *task)
{
	struct top_wire_sample *sample = &room->sample;
	struct file *file, *polled = NULL;
	bool alone = false;
	__u32 class;

	if (sample->nr < 0)
		return NULL;
	if (is_registered_ring(sample))
		return describe_registered(room, task);
	class = class_of_sample(sample);
	if (is_poll(sample))
		polled = polled_file(task, room->words, &alone);
	if (class != WIRE_CALL_FD && class != WIRE_CALL_EPOLL && !is_futex(class) && !polled)
		return NULL;
	file = describe_reason(task, &room->reason, &room->none, false, false);
	sample->flags |= TOP_WIRE_FLAG_REASON;
	if (polled) {
		file = polled;
		read_object(file, &room->reason);
	}
	if (alone)
		sample->flags |= TOP_WIRE_FLAG_POLLS_ONE;
	if (!file)
		return NULL;
	if (room->reason.object == WIRE_OBJECT_SOCKET) {
		read_socket_ends(file, &room->socket);
		sample->flags |= TOP_WIRE_FLAG_SOCKET;
	} else if (is_uring_call(sample)) {
		read_names(file, &room->reason);
		describe_ring(room, task, file);
	}
	return file;
}

/* The rest of what its object is. */
static __always_inline void describe_file(struct top_room *room, struct file *file)
{
	if (room->sample.flags & TOP_WIRE_FLAG_SOCKET)
		read_socket_figures(file, &room->socket);
	else if (!is_uring_call(&room->sample))
		read_names(file, &room->reason);
}

/* A thread that was switched meanwhile has left what was read of its call. */
static __always_inline void forget_call(struct top_wire_sample *sample)
{
	sample->flags &= ~(TOP_WIRE_FLAG_REASON | TOP_WIRE_FLAG_SOCKET | TOP_WIRE_FLAG_KERNEL |
			   TOP_WIRE_FLAG_COMPAT | TOP_WIRE_FLAG_IDLE | TOP_WIRE_FLAG_URING |
			   TOP_WIRE_FLAG_URING_FILE | TOP_WIRE_FLAG_SAME_KERNEL |
			   TOP_WIRE_FLAG_REGS | TOP_WIRE_FLAG_TRACK | TOP_WIRE_FLAG_POLLS_ONE);
	sample->flags |= TOP_WIRE_FLAG_UNKNOWN;
	sample->nr = -1;
	sample->wchan = 0;
	sample->state_ns = 0;
	__builtin_memset(sample->args, 0, sizeof(sample->args));
}

static __always_inline bool is_idle(const struct top_room *room)
{
	const struct top_wire_sample *sample = &room->sample;

	return is_idle_by_call(sample) ||
	       is_idle_by_object(sample, &room->reason, &room->socket, &room->uring, &room->request,
				 (const struct top_wire_settings *)&top);
}

/* By the options that name states, calls and names. */
static __always_inline bool is_chosen(const struct top_wire_sample *sample)
{
	struct top_comm comm;

	if (top.states && !(top.states >> (sample->state & 31) & 1))
		return false;
	if (top.by_call && (sample->nr < 0 || sample->flags & TOP_WIRE_FLAG_COMPAT ||
			    !top_calls[sample->nr & (WIRE_MAX_CALLS - 1)]))
		return false;
	if (!top.by_comm)
		return true;
	__builtin_memcpy(comm.name, sample->comm, sizeof(comm.name));
	return bpf_map_lookup_elem(&top_comms, &comm);
}

static __always_inline bool write_stack(struct seq_file *seq, struct full_stack *stack)
{
	__u64 size = sizeof(stack->stack) + bounded_frames(stack->stack.nr) * sizeof(__u64);

	stack->stack.head.size = (__u32)size;
	return !bpf_seq_write(seq, stack, size);
}

/* Written in one piece: what finds no room in this read is repeated in the next. */
static __always_inline bool write_sample(struct seq_file *seq, struct top_room *room)
{
	if (bpf_seq_write(seq, &room->sample, sizeof(room->sample)))
		return false;
	if (room->sample.flags & TOP_WIRE_FLAG_REASON &&
	    bpf_seq_write(seq, &room->reason, sizeof(room->reason)))
		return false;
	if (room->sample.flags & TOP_WIRE_FLAG_SOCKET &&
	    bpf_seq_write(seq, &room->socket, sizeof(room->socket)))
		return false;
	if (room->sample.flags & TOP_WIRE_FLAG_URING &&
	    bpf_seq_write(seq, &room->uring, sizeof(room->uring)))
		return false;
	if (room->sample.flags & TOP_WIRE_FLAG_URING_FILE &&
	    bpf_seq_write(seq, &room->request, sizeof(room->request)))
		return false;
	if (room->sample.flags & TOP_WIRE_FLAG_REGS &&
	    bpf_seq_write(seq, &room->regs, sizeof(room->regs)))
		return false;
	if (room->sample.flags & TOP_WIRE_FLAG_KERNEL && !write_stack(seq, &room->kernel))
		return false;
	return !(room->sample.flags & TOP_WIRE_FLAG_TRACK) ||
	       !bpf_seq_write(seq, &room->track, sizeof(room->track));
}

/* Fills in the fields that decide whether the thread is kept, except for the object of its call. */
static __always_inline void describe(struct top_room *room, struct task_struct *task)
{
	struct top_wire_sample *sample = &room->sample;

	__builtin_memset(sample, 0, sizeof(*sample));
	sample->head.kind = TOP_WIRE_SAMPLE;
	sample->head.size = sizeof(*sample);
	sample->time = bpf_ktime_get_ns();
	sample->nr = -1;
	sample->state = state_of(task);
	sample->switches = switches_of(task);
	if (task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
		sample->flags |= TOP_WIRE_FLAG_KTHREAD;
	if (top.by_comm)
		describe_comm(sample, task);
	top_describe_track(sample, task, &room->track);
	describe_call(sample, task, &room->track);
}

/* The rest, of threads that are kept: most of the cost of a look. */
static __always_inline void describe_details(struct top_room *room, struct task_struct *task,
					     struct file *file)
{
	struct top_wire_sample *sample = &room->sample;

	if (!sample->state_ns)
		sample->state_ns = time_in_state(task, sample->state, sample->time);
	describe_identity(sample, task);
	if (file)
		describe_file(room, file);
	describe_user(room, task);
	describe_wait(room, task);
}

enum verdict {
	VERDICT_KEPT,
	VERDICT_IDLE,
	VERDICT_FILTERED,
};

/* Looks at the object only where that decides, or is wanted; *file is that of a kept thread. */
static __always_inline enum verdict judge(struct top_room *room, struct task_struct *task,
					  struct file **file)
{
	if (!is_chosen(&room->sample))
		return VERDICT_FILTERED;
	if (!top.idle && is_idle_by_call(&room->sample))
		return VERDICT_IDLE;
	*file = describe_object(room, task);
	if (!is_idle(room))
		return VERDICT_KEPT;
	room->sample.flags |= TOP_WIRE_FLAG_IDLE;
	return top.idle ? VERDICT_KEPT : VERDICT_IDLE;
}

/*
 * Looks at a thread once; *moved, if it was switched meanwhile. No inline function: clang would
 * move relocations to where both are done, and with them fields that this kernel does not have.
 */
static __noinline enum verdict look_at(struct top_room *room, struct task_struct *task, bool *moved)
{
	__u64 switches = switches_of(task);
	struct file *file = NULL;
	enum verdict verdict;

	describe(room, task);
	verdict = judge(room, task, &file);
	if (verdict == VERDICT_KEPT)
		describe_details(room, task, file);
	*moved = switches != switches_of(task) || state_of(task) != room->sample.state;
	return verdict;
}

static __always_inline int sample_target(struct seq_file *seq, struct task_struct *task)
{
	struct top_room *room;
	enum verdict verdict;
	bool moved = false;
	__u32 zero = 0;

	room = bpf_map_lookup_elem(&top_rooms, &zero);
	if (!room)
		return 0;
	verdict = look_at(room, task, &moved);
	if (moved)
		verdict = look_at(room, task, &moved);
	if (verdict == VERDICT_KEPT) {
		if (moved)
			forget_call(&room->sample);
		else
			top_mark(task, &room->track);
		if (!write_sample(seq, room))
			return 0;
		if (room->walked && !moved)
			note_known(&room->sample, task, room->kernel.ips[0]);
		top_counts.kept++;
		top_counts.moved += moved;
	}
	top_counts.idle += verdict == VERDICT_IDLE;
	top_counts.futex += verdict == VERDICT_IDLE && is_at_futex(&room->sample);
	top_counts.filtered += verdict == VERDICT_FILTERED;
	top_counts.targets++;
	top_counts.seen++;
	return 0;
}

SEC("iter/task")
int sample_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!task)
		return 0;
	learn_pid_level();
	if (!ctx->meta->seq_num)
		learn_clock(bpf_ktime_get_ns());
	if (!tid_of(task) || pid_of(task) == settings.own_pid)
		return 0;
	if (match_target(task) < 0 || !is_wanted(task, &(struct task_state){}, last_cpu(task))) {
		top_want(task, false);
		top_counts.seen++;
		return 0;
	}
	top_want(task, true);
	return sample_target(ctx->meta->seq, task);
}
