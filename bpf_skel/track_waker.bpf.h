/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stores who woke a thread up: another thread, or an interrupt. */
#ifndef DENET_TRACK_WAKER_BPF_H
#define DENET_TRACK_WAKER_BPF_H

#include "interrupt.bpf.h"
#include "namespace.bpf.h"
#include "track_wire.h"

/* include/linux/preempt.h. */
#define PREEMPT_SOFTIRQ 0x100U /* one is being served */
#define PREEMPT_HARDIRQ 0xff0000U /* with those that cannot be masked */

/* Room for a stack. Interrupts are off in a wake-up: two of them never use it at once. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct frame_room);
} track_stacks SEC(".maps");

#ifdef __TARGET_ARCH_x86
extern const int __preempt_count __ksym __weak;
extern const struct pcpu_hot pcpu_hot __ksym __weak;

/* The interrupts that are being served on this CPU, as bits above, where the kernel shows them. */
static __always_inline __u32 interrupt_bits(void)
{
	if (&__preempt_count)
		return *(const int *)bpf_this_cpu_ptr(&__preempt_count);
	if (&pcpu_hot)
		return ((const struct pcpu_hot *)bpf_this_cpu_ptr(&pcpu_hot))->preempt_count;
	return PREEMPT_SOFTIRQ;
}
#else
static __always_inline __u32 interrupt_bits(void)
{
	return PREEMPT_SOFTIRQ;
}
#endif

/*
 * True if an interrupt does this in place of current. Bits of PREEMPT_SOFTIRQ do not tell: a soft
 * interrupt may be served by a thread on its own behalf. Then the stack does.
 */
static __always_inline bool is_by_interrupt(void *ctx, __u32 bits)
{
	struct frame_room *room;
	__u32 zero = 0;
	long bytes;

	if (bits & PREEMPT_HARDIRQ || !(bits & PREEMPT_SOFTIRQ))
		return bits & PREEMPT_HARDIRQ;
	room = bpf_map_lookup_elem(&track_stacks, &zero);
	if (!room)
		return true;
	bytes = bpf_get_stack(ctx, room->ips, WIRE_MAX_FRAMES * sizeof(__u64), 0);
	return bytes <= 0 || frames_of_interrupt(room, (__u32)bytes / sizeof(__u64));
}

/* Current wakes up the thread of this track. */
static __always_inline void note_waker(void *ctx, struct track_wire_task *track, __u32 bits)
{
	struct task_struct *waker = bpf_get_current_task_btf();

	if (!waker->pid || is_by_interrupt(ctx, bits)) {
		track->waker_kind = TRACK_WIRE_WAKER_INTERRUPT;
		track->waker_tid = 0;
		track->waker[0] = 0;
		return;
	}
	track->waker_kind = TRACK_WIRE_WAKER_THREAD;
	track->waker_tid = tid_of(waker);
	bpf_probe_read_kernel_str(track->waker, sizeof(track->waker), waker->comm);
}

#endif /* DENET_TRACK_WAKER_BPF_H */
