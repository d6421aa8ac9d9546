/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel stack of a task that was switched out, walked by cached ORC rules: the frames that
 * bpf_get_stack() finds, in a sixth of its time. Most of that time goes into the search for each
 * frame's entry and the checks of a reliable walk, while most stacks are those of a few waits.
 * Stacks that this walk is not certain of are left to the kernel.
 */
#ifndef DENET_KERNEL_WALK_BPF_H
#define DENET_KERNEL_WALK_BPF_H

#include "frames.bpf.h"
#include "orc.bpf.h"

#define WALK_WORDS 512U /* largest part of a stack that is copied; a power of two */
#define WALK_FIRST 80U	/* that are copied at once: enough for most stacks */
#define WALK_MORE 400U	/* copied if those are not enough */
#define WALK_FRAMES 64U /* a power of two */
#define WALK_STRETCH 4	/* frames that the verifier follows in one go */
/* Stretches that a walk has room for, when each of its rules is to be learnt first. */
#define WALK_STRETCHES (WALK_FRAMES / WALK_STRETCH + 1 + WALK_FRAMES)

#define WALK_NOWHERE 0x80000U /* no offset of a rule leads from here back to the stack */

#define WORD_BYTES 8U
#define KERNEL_STACK_MAX 32768U
/* arch/x86/include/asm/switch_to.h: bytes of struct inactive_task_frame, and bp in it. */
#define INACTIVE_BYTES 56U
#define INACTIVE_BP 40U

/* Set by user space if x86-64's rules apply and bpf_task_pt_regs exists. */
const volatile __u8 has_kernel_walk = 0;
/* And if programs may load from where a stack lies. */
const volatile __u8 has_kernel_loads = 0;

enum walk_result {
	WALK_GOING = 0,
	WALK_DONE,
	WALK_UNKNOWN, /* the rule of this frame is not in the cache, or not any more */
	WALK_SHORT,   /* the next word was not copied */
	WALK_REFUSED, /* no rule, or a frame where none can be */
};

/* The inputs of a walk besides return addresses; these alone are compared (known_kernel.bpf.h). */
enum walk_needs {
	WALK_NEEDS_TOP = 1,  /* where the stack ends */
	WALK_NEEDS_MORE = 2, /* other words */
};

/* A frame of a walk. */
struct kernel_frame {
	__u64 ip;
	__u64 key; /* of its rule: ip, or the next address if it was interrupted at ip */
	__u64 bp;
	__u64 hash; /* over all frames before */
	__u32 sp;   /* a place */
	__u32 nr;   /* of frames before */
	__u32 needs; /* WALK_NEEDS_*: what the frames found so far depend on */
};

/*
 * A walk, in a map, whose values the verifier does not follow. Places on the stack are bytes from
 * base on.
 */
struct kernel_walk {
	__u64 words[WALK_WORDS]; /* copied from base on; not of a live stack */
	__u64 base;		 /* the address of the frame of __schedule() */
	struct kernel_frame frame;
	__u32 end; /* the first place that was not copied; of a live stack top */
	__u32 top; /* where the registers of user space lie, the end of any stack */
	__u32 nr_read;	  /* frames before the caller of do_syscall_64() */
	__u32 recognized; /* not walked, see known_kernel.bpf.h; for tests */
	__u16 places[WALK_FRAMES]; /* of a live stack: where each frame's address lies */
};

/* The lower half of an address that the verifier knows as a pointer. */
static __always_inline __u32 low_half(const void *pointer)
{
	__u32 low;

	asm volatile("%0 = %1" : "=w"(low) : "w"((__u32)(unsigned long)pointer));
	return low;
}

/*
 * The stack of current, where it lies. The verifier lets programs load from a pointer to anything,
 * such as task_struct::stack; a load that faults gives 0.
 */
struct live_stack {
	const char *stack;
	__u32 base; /* where the walk's base is in it */
};

static __always_inline void find_live(struct live_stack *live, const struct kernel_walk *walk)
{
	live->stack = bpf_get_current_task_btf()->stack;
	live->base = (__u32)walk->base - low_half(live->stack);
}

/* A word at a place on the stack. The mask is for the verifier; clang would leave it out. */
static __always_inline __u64 load_word(const struct live_stack *live, __u32 place)
{
	place += live->base;
	asm volatile("%0 &= %1" : "+r"(place) : "i"(KERNEL_STACK_MAX - 1));
	return *(const __u64 *)(live->stack + place);
}

/* Copies up to nr more words of the stack. False: they cannot be read. */
static __always_inline bool read_words(struct kernel_walk *walk, __u32 nr)
{
	__u32 from = walk->end, bytes = nr * WORD_BYTES;
	const void *address = (const void *)(walk->base + from);
	char *to = (char *)walk->words;

	if (bytes > walk->top - from)
		bytes = walk->top - from;
	walk->end = from + bytes;
	asm volatile("" : "+r"(from));
	if (from > WALK_FIRST * WORD_BYTES)
		return false;
	to += from;
	/* Right before it is used: Linux 6.1 loses the bound of a value that lies on the stack. */
	asm volatile("" : "+r"(bytes), "+r"(to), "+r"(address));
	return bytes <= (WALK_WORDS - WALK_FIRST) * WORD_BYTES &&
	       !bpf_probe_read_kernel(to, bytes, address);
}

/* The place of an address on the stack; WALK_NOWHERE: outside of it. */
static __always_inline __u32 place_of(const struct kernel_walk *walk, __u64 address)
{
	__u64 place = address - walk->base;

	return place & (WORD_BYTES - 1) || place >= KERNEL_STACK_MAX ? WALK_NOWHERE : (__u32)place;
}

/* A word of the stack, which is live or, if that is NULL, a copy. False: it was not copied. */
static __always_inline bool get_word(const struct kernel_walk *walk, const struct live_stack *live,
				     __u32 place, __u64 *word)
{
	if (place >= walk->end)
		return false;
	if (live) {
		*word = load_word(live, place);
		return true;
	}
	place /= WORD_BYTES;
	asm volatile("" : "+r"(place));
	if (place >= WALK_WORDS)
		return false;
	*word = walk->words[place];
	return true;
}

/* The result for a place without a word: it may exist beyond the words copied. */
static __always_inline enum walk_result no_word(const struct kernel_walk *walk, __u32 place)
{
	return place >= walk->end && place < walk->top && place < WALK_WORDS * WORD_BYTES ?
		       WALK_SHORT :
		       WALK_REFUSED;
}

/* Registers at place: those of user space are the end, those of an exception one frame more. */
static __always_inline enum walk_result step_over_regs(const struct kernel_walk *walk,
						       const struct live_stack *live,
						       struct kernel_frame *frame, __u32 place)
{
	__u64 cs, sp;
	__u32 to;

	if (place == walk->top)
		return WALK_DONE;
	if (place + REGS_WORDS * WORD_BYTES > walk->top)
		return WALK_REFUSED;
	if (!get_word(walk, live, place + REGS_SP * WORD_BYTES, &sp) ||
	    !get_word(walk, live, place + REGS_CS * WORD_BYTES, &cs) ||
	    !get_word(walk, live, place + REGS_IP * WORD_BYTES, &frame->ip) ||
	    !get_word(walk, live, place + REGS_BP * WORD_BYTES, &frame->bp))
		return no_word(walk, place + REGS_SP * WORD_BYTES);
	to = place_of(walk, sp);
	if (cs & 3 || to < place + REGS_WORDS * WORD_BYTES || to > walk->top)
		return WALK_REFUSED;
	frame->sp = to;
	frame->key = frame->ip + 1;
	return WALK_GOING;
}

/* The CFA of a frame by its rule. WALK_GOING, or why there is none. */
static __always_inline enum walk_result find_cfa(const struct kernel_walk *walk,
						 const struct live_stack *live,
						 const struct kernel_frame *frame, __u64 rule,
						 __u32 *cfa)
{
	__s32 offset = rule_offset(rule, RULE_CFA_SHIFT);
	__u64 word;

	switch (rule_kind(rule)) {
	case ORC_SP:
		*cfa = frame->sp + offset;
		return WALK_GOING;
	case ORC_BP:
		*cfa = place_of(walk, frame->bp) + offset;
		return WALK_GOING;
	case ORC_INDIRECT:
		*cfa = place_of(walk, frame->bp) + offset;
		if (!get_word(walk, live, *cfa, &word))
			return no_word(walk, *cfa);
		*cfa = place_of(walk, word);
		return WALK_GOING;
	default:
		return WALK_REFUSED;
	}
}

/* One frame up: ip, bp and sp of the caller. */
static __always_inline enum walk_result step_up(const struct kernel_walk *walk,
						const struct live_stack *live,
						struct kernel_frame *frame, __u64 rule)
{
	__s32 bp_offset = rule_offset(rule, RULE_BP_SHIFT);
	__u32 kind = rule_kind(rule), cfa, place;
	enum walk_result result;
	__u64 ip;

	if (kind == ORC_SYSCALL || kind == ORC_END)
		return WALK_DONE;
	if (kind == ORC_REGS)
		return step_over_regs(walk, live, frame,
				      frame->sp + rule_offset(rule, RULE_CFA_SHIFT));
	result = find_cfa(walk, live, frame, rule, &cfa);
	if (result != WALK_GOING)
		return result;
	/* Callers' frames lie above, and the user's registers end the stack. */
	if (cfa <= frame->sp || cfa > walk->top)
		return WALK_REFUSED;
	if (!get_word(walk, live, cfa - WORD_BYTES, &ip))
		return no_word(walk, cfa - WORD_BYTES);
	if (bp_offset) {
		place = kind == ORC_INDIRECT ? place_of(walk, frame->bp) : cfa;
		place += bp_offset;
		if (!get_word(walk, live, place, &frame->bp))
			return no_word(walk, place);
	}
	frame->ip = frame->key = ip;
	frame->sp = cfa;
	return WALK_GOING;
}

/* The enum walk_needs of a step by a rule of that kind, with that result. */
static __always_inline __u32 needs_of(__u32 kind, enum walk_result result)
{
	if (kind == ORC_SP)
		return 0;
	if (result == WALK_GOING)
		return WALK_NEEDS_MORE;
	return kind == ORC_REGS ? WALK_NEEDS_TOP : 0;
}

/* Some frames of a walk. It calls nothing, so that a frame stays in registers. */
static __always_inline int walk_some(struct kernel_walk *walk, const struct live_stack *live,
				     struct frame_room *out)
{
	enum walk_result result = WALK_GOING;
	struct kernel_frame frame = walk->frame;
	__u64 rule;
	__u32 at;

#pragma clang loop unroll(disable)
	for (int i = 0; i < WALK_STRETCH && result == WALK_GOING; i++) {
		if (!find_rule(frame.key, &rule)) {
			result = WALK_UNKNOWN;
			break;
		}
		at = frame.nr;
		asm volatile("" : "+r"(at));
		if (at >= WALK_FRAMES)
			return WALK_REFUSED;
		out->ips[at] = frame.ip;
		if (live)
			walk->places[at] = (__u16)(frame.sp - WORD_BYTES);
		frame.nr = at + 1;
		frame.hash = hash_frame(frame.hash, frame.ip);
		result = step_up(walk, live, &frame, rule);
		frame.needs |= needs_of(rule_kind(rule), result);
	}
	walk->frame = frame;
	return result;
}

/* walk_some() of a copy. A global function, so that the verifier follows it once. */
__noinline int walk_copied_stretch(struct kernel_walk *walk, struct frame_room *out)
{
	if (!walk || !out || !has_kernel_walk)
		return WALK_REFUSED;
	return walk_some(walk, NULL, out);
}

/* walk_some() of the stack of current, in the same way. */
__noinline int walk_live_stretch(struct kernel_walk *walk, struct frame_room *out)
{
	struct live_stack live;

	if (!walk || !out || !has_kernel_loads)
		return WALK_REFUSED;
	find_live(&live, walk);
	return walk_some(walk, &live, out);
}

static __always_inline enum walk_result walk_words(struct kernel_walk *walk,
						   const struct live_stack *live, __u64 *ips)
{
	struct frame_room *room = (struct frame_room *)ips;
	struct kernel_frame *frame = &walk->frame;
	__u32 cfa = orc.frame_words * WORD_BYTES;
	int result = WALK_GOING;
	__u64 learnt = 0;

	/*
	 * The words that __switch_to_asm() saved are overwritten once the task runs again, so the
	 * frame of __schedule() is left by its known size, not by a rule.
	 */
	ips[0] = orc.switch_ret;
	if (!get_word(walk, live, cfa - WORD_BYTES, &frame->ip) ||
	    !get_word(walk, live, cfa + orc.frame_bp * (__s32)WORD_BYTES, &frame->bp))
		return WALK_REFUSED;
	frame->key = frame->ip;
	frame->sp = cfa;
	frame->nr = 1;
	frame->needs = 0;
	frame->hash = hash_frame(FRAMES_SEED_KERNEL, ips[0]);
	for (__u32 i = 0; i < WALK_STRETCHES; i++) {
		result = live ? walk_live_stretch(walk, room) : walk_copied_stretch(walk, room);
		/* A rule that is lost at once, as while modules come, is not asked for again. */
		if (result != WALK_GOING && (result != WALK_UNKNOWN || frame->key == learnt))
			break;
		if (result == WALK_UNKNOWN) {
			learnt = frame->key;
			learn_rule(learnt);
		}
	}
	return result;
}

/* do_syscall_64() is called from one place, which the walk does not look for. */
static __always_inline bool append_syscall_caller(struct kernel_frame *frame, __u64 *ips)
{
	__u64 caller = orc.syscall_caller;
	__u32 nr = frame->nr;

	if (frame->ip < orc.syscall_start || frame->ip >= orc.syscall_end)
		return true;
	if (!caller || nr >= WALK_FRAMES)
		return false;
	frame->nr = nr + 1;
	frame->hash = hash_frame(frame->hash, caller);
	/* Linux 6.1 loses the bound of values that clang keeps on the stack: masks it again. */
	asm volatile("%0 &= %1" : "+r"(nr) : "i"(WALK_FRAMES - 1));
	ips[nr] = caller;
	return true;
}

/*
 * Finds the stack from the frame of __schedule() on. False: there is no such frame, as in a task
 * that has never run.
 */
static __always_inline bool begin_walk(struct kernel_walk *walk, struct task_struct *task)
{
	__u32 bytes;

	if (!has_kernel_walk)
		return false;
	walk->base = task->thread.sp + INACTIVE_BYTES;
	bytes = low_half((const void *)bpf_task_pt_regs(task)) - (__u32)walk->base;
	if (bytes > KERNEL_STACK_MAX || bytes & (WORD_BYTES - 1))
		return false;
	walk->top = bytes;
	walk->end = 0;
	return bytes > orc.frame_words * WORD_BYTES;
}

/* The number of frames of a walk that has ended. 0: the kernel must walk. */
static __always_inline __u32 end_walk(struct kernel_walk *walk, enum walk_result result, __u64 *ips)
{
	walk->nr_read = walk->frame.nr;
	if (result != WALK_DONE || !append_syscall_caller(&walk->frame, ips))
		return 0;
	return walk->frame.nr;
}

/* As walk_kernel_stack(), before that walk has been proven as well. */
static __always_inline __u32 walk_unproven(struct kernel_walk *walk, struct task_struct *task,
					   __u64 *ips)
{
	enum walk_result result;

	if (!begin_walk(walk, task) || !read_words(walk, WALK_FIRST))
		return 0;
	result = walk_words(walk, NULL, ips);
	if (result == WALK_SHORT && read_words(walk, WALK_MORE))
		result = walk_words(walk, NULL, ips);
	return end_walk(walk, result, ips);
}

/*
 * Walks the kernel stack of a task that is off its CPU, or of current since it came back: into
 * ips, which has room for WALK_FRAMES. Returns the number of frames; the first lies in
 * __schedule(). 0: this walk cannot, the kernel must. The hash over the frames is in the walk.
 */
static __always_inline __u32 walk_kernel_stack(struct kernel_walk *walk, struct task_struct *task,
					       __u64 *ips)
{
	return has_kernel_walk && orc.ready ? walk_unproven(walk, task, ips) : 0;
}

/*
 * Begins the walk of task, which is current, where its stack lies, for programs that may load from
 * there. False: this walk cannot, the kernel must.
 */
static __always_inline bool begin_live_walk(struct kernel_walk *walk, struct task_struct *task)
{
	if (!has_kernel_loads || !has_kernel_walk || !orc.ready || !begin_walk(walk, task))
		return false;
	walk->end = walk->top;
	return true;
}

/* The walk that has begun so. */
static __always_inline __u32 walk_live(struct kernel_walk *walk, __u64 *ips)
{
	struct live_stack live;

	find_live(&live, walk);
	return end_walk(walk, walk_words(walk, &live, ips), ips);
}

/*
 * Learns the caller of do_syscall_64() from nr frames of the kernel's own walk. The bound is one
 * comparison from above, as Linux 6.1 learns nothing from "not 0".
 */
static __always_inline void learn_syscall_caller(const __u64 *ips, __u32 nr)
{
	__u32 callee = nr - 2;

	if (!has_kernel_walk || orc.syscall_caller)
		return;
	asm volatile("" : "+r"(callee));
	if (callee >= WIRE_MAX_FRAMES - 1)
		return;
	if (ips[callee] >= orc.syscall_start && ips[callee] < orc.syscall_end)
		orc.syscall_caller = ips[callee + 1];
}

#endif /* DENET_KERNEL_WALK_BPF_H */
