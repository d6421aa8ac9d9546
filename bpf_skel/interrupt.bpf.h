/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether the thread that is current did something, or an interrupt in its place. */
#ifndef DENET_INTERRUPT_BPF_H
#define DENET_INTERRUPT_BPF_H

#include "frames.bpf.h"
#include "maps.bpf.h"

static __always_inline bool is_in(__u64 ip, __u64 start, __u64 end)
{
	return ip >= start && ip < end;
}

/*
 * Number of frames from the leaf on that belong to an interrupt; 0: the wake-up is the thread's
 * own. A thread that sends packets may run the soft interrupt at once, on its own behalf: that does
 * not count as an interrupt. A global function for the verifier's sake.
 */
__noinline __u32 frames_of_interrupt(const struct frame_room *room, __u32 nr)
{
	if (!room)
		return 0;
	for (__u32 i = 0; i < WIRE_MAX_FRAMES; i++) {
		if (i >= nr || is_in(room->ips[i], settings.waker.bh_start, settings.waker.bh_end))
			return 0;
		if (is_in(room->ips[i], settings.waker.interrupt_start,
			  settings.waker.interrupt_end))
			return i + 1;
	}
	return 0;
}

#endif /* DENET_INTERRUPT_BPF_H */
