/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel stack of a task that was switched out, walked by cached ORC rules: the frames that
 * bpf_get_stack() finds, in a tenth of its time. Most of that time goes into the search for each
 * frame's entry and the checks of a reliable walk, while most stacks are those of a few waits.
 * Stacks that this walk is not certain of are left to the kernel.
 */
#ifndef DENET_KERNEL_WALK_BPF_H
#define DENET_KERNEL_WALK_BPF_H

#include "frames.bpf.h"
#include "orc.bpf.h"

#define WALK_WORDS 512U /* largest part of a stack to look at; a power of two */
#define WALK_FIRST 80U	/* that are read at once: enough for most stacks */
#define WALK_MORE 400U	/* read if those are not enough */
#define WALK_FRAMES 64U /* a power of two */
#define WALK_STRETCH 4	/* frames that the verifier follows in one go */

#define WALK_NOWHERE 0x10000U /* no offset of a rule leads from here back to the stack */

#define KERNEL_STACK_MAX 32768U
/* arch/x86/include/asm/switch_to.h: bytes of struct inactive_task_frame, and bp in it. */
#define INACTIVE_BYTES 56U
#define INACTIVE_BP 40U

/* Set by user space if x86-64's rules apply and bpf_task_pt_regs exists. */
const volatile __u8 has_kernel_walk = 0;

enum walk_result {
	WALK_GOING = 0,
	WALK_DONE,
	WALK_SHORT,   /* the next word was not read */
	WALK_REFUSED, /* no rule, or a frame where none can be */
};

/*
 * A walk, in a map, whose values the verifier does not follow. Places on the stack are indices into
 * words.
 */
struct kernel_walk {
	__u64 words[WALK_WORDS]; /* from the frame of __schedule() on */
	__u64 base;		 /* the address of the first */
	__u64 ip;
	__u64 bp;
	__u32 nr_words; /* that were read */
	__u32 top;	/* where the registers of user space lie, the end of any stack */
	__u32 sp;
	__u32 nr;	 /* frames so far */
	__u32 is_signal; /* the frame was interrupted, its ip is no return address */
	__u32 reserved;
};

/* The lower half of an address that the verifier knows as a pointer. */
static __always_inline __u32 low_half(const void *pointer)
{
	__u32 low;

	asm volatile("%0 = %1" : "=w"(low) : "w"((__u32)(unsigned long)pointer));
	return low;
}

/* Reads up to nr words behind those that were read. False: they cannot be read. */
static __always_inline bool read_words(struct kernel_walk *walk, __u32 from, __u32 nr)
{
	__u32 bytes;

	if (nr > walk->top - from)
		nr = walk->top - from;
	bytes = nr * sizeof(__u64);
	asm volatile("" : "+r"(bytes));
	if (bytes > (WALK_WORDS - WALK_FIRST) * sizeof(__u64) ||
	    bpf_probe_read_kernel(&walk->words[from], bytes,
				  (const void *)(walk->base + from * sizeof(__u64))))
		return false;
	walk->nr_words = from + nr;
	return true;
}

/* The place of an address on the stack; WALK_NOWHERE: outside of the words. */
static __always_inline __u32 place_of(const struct kernel_walk *walk, __u64 address)
{
	__u64 offset = address - walk->base;

	return offset & 7 || offset >= WALK_WORDS * sizeof(__u64) ? WALK_NOWHERE :
								    (__u32)(offset / 8);
}

/* A word of the stack. False: it was not read. */
static __always_inline bool get_word(const struct kernel_walk *walk, __u32 place, __u64 *word)
{
	asm volatile("" : "+r"(place));
	if (place >= WALK_WORDS || place >= walk->nr_words)
		return false;
	*word = walk->words[place];
	return true;
}

/* The result for a place without a word: it may exist beyond the words read. */
static __always_inline enum walk_result no_word(const struct kernel_walk *walk, __u32 place)
{
	return place >= walk->nr_words && place < walk->top && place < WALK_WORDS ? WALK_SHORT :
										     WALK_REFUSED;
}

/* Registers at place: those of user space are the end, those of an exception one frame more. */
static __always_inline enum walk_result step_over_regs(struct kernel_walk *walk, __u32 place)
{
	__u64 cs, sp;
	__u32 to;

	if (place == walk->top)
		return WALK_DONE;
	if (place + REGS_WORDS > walk->top)
		return WALK_REFUSED;
	if (!get_word(walk, place + REGS_SP, &sp) || !get_word(walk, place + REGS_CS, &cs) ||
	    !get_word(walk, place + REGS_IP, &walk->ip) ||
	    !get_word(walk, place + REGS_BP, &walk->bp))
		return no_word(walk, place + REGS_SP);
	to = place_of(walk, sp);
	if (cs & 3 || to < place + REGS_WORDS || to > walk->top)
		return WALK_REFUSED;
	walk->sp = to;
	walk->is_signal = 1;
	return WALK_GOING;
}

/* The CFA of a frame by its rule. WALK_GOING, or why there is none. */
static __always_inline enum walk_result find_cfa(struct kernel_walk *walk, __u64 rule, __u32 *cfa)
{
	__s32 offset = rule_offset(rule, RULE_CFA_SHIFT);
	__u64 word;

	switch (rule_kind(rule)) {
	case ORC_SP:
		*cfa = walk->sp + offset;
		return WALK_GOING;
	case ORC_BP:
		*cfa = place_of(walk, walk->bp) + offset;
		return WALK_GOING;
	case ORC_INDIRECT:
		*cfa = place_of(walk, walk->bp) + offset;
		if (!get_word(walk, *cfa, &word))
			return no_word(walk, *cfa);
		*cfa = place_of(walk, word);
		return WALK_GOING;
	default:
		return WALK_REFUSED;
	}
}

/* One frame up: ip, bp and sp of the caller. */
static __always_inline enum walk_result step_up(struct kernel_walk *walk)
{
	__u64 rule = rule_of(walk->ip + walk->is_signal), ip;
	__u32 kind = rule_kind(rule), cfa, place;
	__s32 bp_offset = rule_offset(rule, RULE_BP_SHIFT);
	enum walk_result result;

	walk->is_signal = 0;
	if (kind == ORC_SYSCALL || kind == ORC_END)
		return WALK_DONE;
	if (kind == ORC_REGS)
		return step_over_regs(walk, walk->sp + rule_offset(rule, RULE_CFA_SHIFT));
	result = find_cfa(walk, rule, &cfa);
	if (result != WALK_GOING)
		return result;
	/* Callers' frames lie above, and the user's registers end the stack. */
	if (cfa <= walk->sp || cfa > walk->top)
		return WALK_REFUSED;
	if (!get_word(walk, cfa - 1, &ip))
		return no_word(walk, cfa - 1);
	if (bp_offset) {
		place = kind == ORC_INDIRECT ? place_of(walk, walk->bp) : cfa;
		place += bp_offset;
		if (!get_word(walk, place, &walk->bp))
			return no_word(walk, place);
	}
	walk->ip = ip;
	walk->sp = cfa;
	return WALK_GOING;
}

/* Some frames of a walk. A global function, so that the verifier follows it once. */
__noinline int walk_stretch(struct kernel_walk *walk, struct frame_room *out)
{
	enum walk_result result;
	__u32 at;

	if (!walk || !out)
		return WALK_REFUSED;
	for (int i = 0; i < WALK_STRETCH; i++) {
		at = walk->nr;
		asm volatile("" : "+r"(at));
		if (at >= WALK_FRAMES)
			return WALK_REFUSED;
		out->ips[at] = walk->ip;
		walk->nr = at + 1;
		result = step_up(walk);
		if (result != WALK_GOING)
			return result;
	}
	return WALK_GOING;
}

static __always_inline enum walk_result walk_words(struct kernel_walk *walk, __u64 *ips)
{
	__u32 cfa = orc.frame_words;
	int result = WALK_GOING;

	/*
	 * The words that __switch_to_asm() saved are overwritten once the task runs again, so the
	 * frame of __schedule() is left by its known size, not by a rule.
	 */
	ips[0] = orc.switch_ret;
	if (!get_word(walk, cfa - 1, &walk->ip) || !get_word(walk, cfa + orc.frame_bp, &walk->bp))
		return WALK_REFUSED;
	walk->sp = cfa;
	walk->nr = 1;
	walk->is_signal = 0;
	for (__u32 i = 0; i <= WALK_FRAMES / WALK_STRETCH && result == WALK_GOING; i++)
		result = walk_stretch(walk, (struct frame_room *)ips);
	return result;
}

/* do_syscall_64() is called from one place, which the walk does not look for. */
static __always_inline bool append_syscall_caller(struct kernel_walk *walk, __u64 *ips)
{
	__u64 caller = orc.syscall_caller;
	__u32 nr = walk->nr;

	if (walk->ip < orc.syscall_start || walk->ip >= orc.syscall_end)
		return true;
	if (!caller || nr >= WALK_FRAMES)
		return false;
	walk->nr = nr + 1;
	/* Linux 6.1 loses the bound of values that clang keeps on the stack: masks it again. */
	asm volatile("%0 &= %1" : "+r"(nr) : "i"(WALK_FRAMES - 1));
	ips[nr] = caller;
	return true;
}

/*
 * Reads the stack from the frame of __schedule() on. False: it cannot be read. The stack of a task
 * that has never run ends there.
 */
static __always_inline bool begin_walk(struct kernel_walk *walk, struct task_struct *task)
{
	__u32 bytes;

	if (!has_kernel_walk)
		return false;
	walk->base = task->thread.sp + INACTIVE_BYTES;
	bytes = low_half((const void *)bpf_task_pt_regs(task)) - (__u32)walk->base;
	if (bytes > KERNEL_STACK_MAX || bytes & 7)
		return false;
	walk->top = bytes / sizeof(__u64);
	return walk->top > orc.frame_words && read_words(walk, 0, WALK_FIRST);
}

/* As walk_kernel_stack(), before that walk has been proven as well. */
static __always_inline __u32 walk_unproven(struct kernel_walk *walk, struct task_struct *task,
					   __u64 *ips)
{
	enum walk_result result;

	if (!begin_walk(walk, task))
		return 0;
	result = walk_words(walk, ips);
	if (result == WALK_SHORT && read_words(walk, WALK_FIRST, WALK_MORE))
		result = walk_words(walk, ips);
	if (result != WALK_DONE || !append_syscall_caller(walk, ips))
		return 0;
	return walk->nr;
}

/*
 * Walks the kernel stack of a task that is off its CPU, or of current since it came back: into
 * ips, which has room for WALK_FRAMES. Returns the number of frames; the first lies in
 * __schedule(). 0: this walk cannot, the kernel must.
 */
static __always_inline __u32 walk_kernel_stack(struct kernel_walk *walk, struct task_struct *task,
					       __u64 *ips)
{
	return has_kernel_walk && orc.ready ? walk_unproven(walk, task, ips) : 0;
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
