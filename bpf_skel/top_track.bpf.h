/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * denet-top's sampler reads the maps of its tracker, and marks there the calls and requests that it
 * has met. Without --track the verifier removes all of this.
 */
#ifndef DENET_TOP_TRACK_BPF_H
#define DENET_TOP_TRACK_BPF_H

#include "track_maps.bpf.h"

__u8 top_is_rehearsal; /* nothing of this pass is kept */

static __always_inline __u32 top_bit(void)
{
	return 1U << (top.track_slot & (TRACK_WIRE_SAMPLERS - 1));
}

/* Tells the tracker whether the thread is a target. */
static __always_inline void top_want(struct task_struct *task, bool wanted)
{
	struct track_wire_task *track = top.tracked ? track_of(task) : NULL;

	/* A sampler that had this bit before has met other calls. */
	if (track && top_is_rehearsal)
		__sync_fetch_and_and(&track->mark, ~top_bit());
	if (!track || !(track->wanted & top_bit()) == !wanted)
		return;
	if (wanted)
		__sync_fetch_and_or(&track->wanted, top_bit());
	else
		__sync_fetch_and_and(&track->wanted, ~top_bit());
}

/* A call may begin or end meanwhile: then it is read once more, and else is taken for none. */
static __always_inline void top_take_call(struct top_wire_track *out,
					  const struct track_wire_task *track)
{
	const volatile struct track_wire_task *now = track;

	out->calls_known = now->known;
	for (int i = 0; i < 2; i++) {
		out->entered = now->entered;
		out->nr = now->nr;
		out->seq = now->seq;
		if (out->entered == now->entered)
			break;
		out->entered = 0;
	}
	if (out->entered)
		return;
	out->nr = -1;
	out->seq = 0;
}

static __always_inline void top_take_requests(struct top_wire_track *out, struct task_struct *task,
					      const struct track_wire_task *track)
{
	for (__u64 i = 0; i < TRACK_WIRE_LATEST; i++) {
		__u64 seq = track->nr_requests - i;

		if (!seq || seq > track->nr_requests)
			return;
		if (!track_request(task, track, seq))
			continue;
		out->requests++;
		if (!out->request_seq)
			out->request_seq = seq;
	}
}

static __always_inline void top_take_switches(struct top_wire_sample *sample,
					      struct top_wire_track *out,
					      const struct track_wire_task *track)
{
	out->since = track_since(track, sample->state == TOP_WIRE_RUN,
				 sample->state == TOP_WIRE_RUNQ);
	out->waker_kind = track->waker_kind;
	out->waker_tid = track->waker_tid;
	__builtin_memcpy(out->waker, track->waker, sizeof(out->waker));
	if (out->since && sample->state != TOP_WIRE_RUN && sample->state != TOP_WIRE_RUNQ) {
		out->owner = track->owner;
		out->owner_shared = track->owner_shared;
	}
	if (out->since && sample->time > out->since)
		sample->state_ns = sample->time - out->since;
}

static __always_inline void top_describe_track(struct top_wire_sample *sample,
					       struct task_struct *task,
					       struct top_wire_track *out)
{
	struct track_wire_task *track = top.tracked ? track_of(task) : NULL;

	__builtin_memset(out, 0, sizeof(*out));
	out->nr = -1;
	if (!track)
		return;
	out->head.kind = TOP_WIRE_TRACK;
	out->head.size = sizeof(*out);
	out->what = top.tracked;
	if (top.tracked & TRACK_WIRE_CALLS)
		top_take_call(out, track);
	if (top.tracked & TRACK_WIRE_OFFCPU)
		top_take_switches(sample, out, track);
	if (top.tracked & TRACK_WIRE_BLOCK)
		top_take_requests(out, task, track);
	sample->flags |= TOP_WIRE_FLAG_TRACK;
}

/* Whether it is known if the thread is in a call, also while it is on a CPU. */
static __always_inline bool top_knows_call(const struct top_wire_track *out)
{
	return out->what & TRACK_WIRE_CALLS && out->calls_known;
}

/* The arguments of a thread on a CPU may have been those of its next call. */
static __always_inline void top_check_call(struct top_wire_sample *sample, struct task_struct *task,
					   const struct top_wire_track *out)
{
	const volatile struct track_wire_task *track = top.tracked ? track_of(task) : NULL;

	sample->nr = out->nr;
	if (!track || track->entered != out->entered)
		__builtin_memset(sample->args, 0, sizeof(sample->args));
}

/* Samplers that share a tracker may meet a call at once. */
#define MARK_TRIES 3

/*
 * Marks the call and the requests of a sample: the tracker then sends a record when they end. The
 * mark of a call holds its number, so that it does not count for the next call.
 */
static __always_inline void top_mark(struct task_struct *task, const struct top_wire_track *out)
{
	struct track_wire_task *track;
	struct track_wire_request *request;
	__u32 old, kept, seq = (__u32)out->seq & TRACK_WIRE_MARK_SEQ;

	if (!top.tracked || !top.marks || top_is_rehearsal)
		return;
	track = track_of(task);
	for (int i = 0; i < MARK_TRIES && track && out->entered; i++) {
		old = track->mark;
		kept = old >> TRACK_WIRE_MARK_SHIFT == seq ? old : seq << TRACK_WIRE_MARK_SHIFT;
		if (__sync_val_compare_and_swap(&track->mark, old, kept | top_bit()) == old)
			break;
	}
	for (__u64 i = 0; i < TRACK_WIRE_LATEST && track && out->requests; i++) {
		if (i >= out->request_seq)
			return;
		request = track_request(task, track, out->request_seq - i);
		if (request)
			__sync_fetch_and_or(&request->mark, top_bit());
	}
}

#endif /* DENET_TOP_TRACK_BPF_H */
