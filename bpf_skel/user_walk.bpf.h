/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user stack of current, or a copy of another, by call frame information: frame by frame, the
 * rule of its address tells where the caller's is. The stack is read in pieces, since each read
 * costs as much as half a kilobyte read at once. Code without a rule (made at run time, or by a
 * compiler that writes none) is left by its frame pointer.
 */
#ifndef DENET_USER_WALK_BPF_H
#define DENET_USER_WALK_BPF_H

#include "frames.bpf.h"
#include "known_stack.bpf.h"
#include "user_rules.bpf.h"

#define USER_PIECE_WORDS 256U
#define USER_PIECE_BYTES (USER_PIECE_WORDS * 8U)
_Static_assert(CFI_BP_FARTHEST <= USER_PIECE_WORDS, "short rules read one piece");
#define USER_STRETCH 8            /* frames that the verifier follows in one go */
#define USER_FRAME_MAX (1U << 20) /* bytes, along a frame pointer */
#define BRIDGE_COPIES 64U /* of a CPU in a window: half of a ring of the default size */
#define BRIDGE_LEAST_NS 100000U

/* In struct ucontext, arch/x86/include/uapi/asm/sigcontext.h. */
#define UCONTEXT_BP 120U
#define UCONTEXT_WORDS 7U /* from bp to ip */

/* Of a frame. */
#define FRAME_EXACT 1U /* it was interrupted: its ip is no return address */
#define FRAME_LEAF 2U  /* all of its registers are known */
#define FRAME_GUESS 4U /* found along a frame pointer */

/* Where a walk is: what a rule tells the next of. */
struct user_walk_frame {
	__u64 ip;
	__u64 sp;
	__u64 bp;
	__u32 flags;
	__u32 nr;   /* of frames so far */
	__u64 hash; /* over them, see hash_frame(); 0: unknown */
};

/* A walk, in a map: what the verifier does not know of it, it need not follow. */
struct user_walk {
	__u64 piece[USER_PIECE_WORDS]; /* of the stack, from base on */
	__u64 regs;                    /* address of struct pt_regs */
	__u64 base;
	__u64 process; /* rules_process() */
	__u64 copy;    /* address of a copy of the stack; 0: it is read from current */
	__u64 copy_sp; /* where the copy begins on the stack */
	struct user_walk_frame frame;
	__u32 bytes; /* of the piece */
	__u32 missing; /* what was missing first, and bridged: an enum user_walk_end; 0: nothing */
	__u32 copies;  /* of bridged stacks, in the window, which is this generation */
	__u32 window;
	__u32 copy_bytes;
	__u32 known; /* the place of the stack in known_stacks */
	__u32 recognized; /* it was walked before, and not walked again */
	__u32 reserved;
	struct rules_regions regions;
};

/* Whether the walk goes on; else an enum user_walk_end. */
#define USER_WALK_GOING (-1)

/* Reads from the stack, or its copy. 0 or a negative errno. */
static __always_inline long read_stack(const struct user_walk *walk, void *to, __u32 bytes,
				       __u64 address)
{
	__u64 at = address - walk->copy_sp;

	if (!walk->copy)
		return bpf_probe_read_user(to, bytes, (const void *)address);
	if (at >= walk->copy_bytes || bytes > walk->copy_bytes - at)
		return -EFAULT;
	return bpf_probe_read_kernel(to, bytes, (const void *)(walk->copy + at));
}

/*
 * Sees to it that the piece has need bytes of the stack from low on. A piece that cannot be read
 * up to its end is read up to the end of its page.
 */
static __always_inline bool read_piece(struct user_walk *walk, __u64 low, __u32 need)
{
	__u64 at = low - walk->base, bytes = USER_PIECE_BYTES;

	if (at < walk->bytes && at + need <= walk->bytes)
		return true;
	walk->base = low;
	walk->bytes = 0;
	if (read_stack(walk, walk->piece, USER_PIECE_BYTES, low)) {
		bytes = USER_PAGE - (low & (USER_PAGE - 1));
		asm volatile("" : "+r"(bytes));
		if (bytes < need || bytes > USER_PIECE_BYTES ||
		    read_stack(walk, walk->piece, (__u32)bytes, low))
			return false;
	}
	walk->bytes = (__u32)bytes;
	return true;
}

/* A word of the piece, which read_piece() has read. */
static __always_inline __u64 piece_word(const struct user_walk *walk, __u64 address)
{
	__u64 at = (address - walk->base) / sizeof(__u64);

	asm volatile("%0 &= %1" : "+r"(at) : "i"(USER_PIECE_WORDS - 1));
	return walk->piece[at];
}

/* The frame at hand is that of a caller, whose CFA was sp. */
static __always_inline int go_on(struct user_walk_frame *frame, __u64 cfa, __u64 ip, __u64 bp)
{
	frame->ip = ip;
	frame->sp = cfa;
	frame->bp = bp;
	frame->flags = 0;
	return ip < USER_PAGE ? USER_WALK_WHOLE : USER_WALK_GOING;
}

/* By what nearly all rules are: distances from sp or bp. */
static __always_inline int step_plainly(struct user_walk *walk, struct user_walk_frame *frame,
					__u32 rule, struct known_stack *known)
{
	__u32 words = rule & (CFI_BP_WORDS - 1), need = (words ? words : 1) * sizeof(__u64);
	__u64 cfa = rule >> CFI_KIND_SHIFT == CFI_SP ? frame->sp : frame->bp, ip, bp = frame->bp;

	cfa += (rule >> CFI_CFA_SHIFT & (CFI_CFA_WORDS - 1)) * sizeof(__u64);
	/* A stack grows one way. */
	if (cfa <= frame->sp || cfa & 7)
		return USER_WALK_UNREADABLE;
	if (need > USER_PIECE_BYTES)
		return USER_WALK_NO_RULE;
	if (!read_piece(walk, cfa - need, need))
		return USER_WALK_UNREADABLE;
	ip = piece_word(walk, cfa - sizeof(__u64));
	if (words)
		bp = piece_word(walk, cfa - need);
	if (known) {
		note_word(known, cfa - sizeof(__u64), ip);
		if (words)
			note_word(known, cfa - need, bp);
	}
	return go_on(frame, cfa, ip, bp);
}

/* Whether the piece has what the frame pointer points to: that of the caller, a return address. */
static __always_inline bool has_frame(const struct user_walk *walk,
				      const struct user_walk_frame *frame)
{
	__u64 at = frame->bp - walk->base;

	return frame->bp >= frame->sp && !(at & 7) && at < walk->bytes &&
	       at + FRAME_BYTES <= walk->bytes;
}

/*
 * By the rule that nearly all code with frame pointers has. No address here depends on the rule, so
 * a CPU that guesses which rule comes follows the pointers while it still looks the rules up.
 */
static __always_inline int step_quickly(const struct user_walk *walk,
					struct user_walk_frame *frame, struct known_stack *known)
{
	__u64 at = frame->bp, bp = piece_word(walk, at), ip = piece_word(walk, at + sizeof(bp));

	if (known) {
		note_word(known, at + sizeof(bp), ip);
		note_word(known, at, bp);
	}
	return go_on(frame, at + FRAME_BYTES, ip, bp);
}

/* The frame that a signal has interrupted. */
static __always_inline int step_over_signal(struct user_walk *walk)
{
	__u64 saved[UCONTEXT_WORDS];

	if (read_stack(walk, saved, sizeof(saved), walk->frame.sp + UCONTEXT_BP))
		return USER_WALK_UNREADABLE;
	walk->frame.bp = saved[0];
	walk->frame.sp = saved[5];
	walk->frame.ip = saved[6];
	walk->frame.flags = (walk->frame.flags & FRAME_GUESS) | FRAME_EXACT;
	return USER_WALK_GOING;
}

/*
 * Along the frame pointer, if it can be one. A chain of them has come to the root where the next
 * one, or its return address, is 0.
 */
static __always_inline int step_by_pointer(struct user_walk *walk)
{
	int end = walk->frame.flags & FRAME_GUESS ? USER_WALK_WHOLE : USER_WALK_NO_CFI;
	__u64 bp = walk->frame.bp, words[2];

	if (!bp)
		return end;
	if (bp < walk->frame.sp || bp - walk->frame.sp > USER_FRAME_MAX || bp & 7 ||
	    read_stack(walk, words, sizeof(words), bp))
		return USER_WALK_NO_CFI;
	if (words[1] < USER_PAGE)
		return words[1] ? USER_WALK_NO_CFI : end;
	end = go_on(&walk->frame, bp + sizeof(words), words[1], words[0]);
	walk->frame.flags = FRAME_GUESS;
	return end;
}

/*
 * A rule that is yet to come is bridged along the frame pointer, as in a walk without tables. The
 * walk is not whole, whatever it finds.
 */
static __always_inline int bridge(struct user_walk *walk, __u32 missing)
{
	if (!walk->missing)
		walk->missing = missing;
	return step_by_pointer(walk);
}

/*
 * True if the stack of a block of ns whose walk has just ended is to be copied, so that user space
 * unwinds what was bridged here. The time of a block is what counts, and a ring holds few copies.
 */
static __always_inline bool wants_copy(struct user_walk *walk, __u64 ns, __u32 window)
{
	/* Of a file that may not be opened, the copy would lead no further. */
	if (!walk->missing || walk->missing == USER_WALK_FORBIDDEN || ns < BRIDGE_LEAST_NS)
		return false;
	if (walk->window != window) {
		walk->window = window;
		walk->copies = 0;
	}
	return walk->copies++ < BRIDGE_COPIES;
}

/* The frame at hand lies in no code: where it came from a frame pointer, that was none. */
static __always_inline int leave_out(struct user_walk *walk)
{
	if (walk->frame.nr > 1)
		walk->frame.nr--;
	walk->frame.hash = 0;
	return walk->frame.flags & FRAME_GUESS ? USER_WALK_NO_CFI : USER_WALK_UNREADABLE;
}

/* A register by its DWARF number. False: it is that of a callee, and lost. */
static __always_inline bool get_register(const struct user_walk *walk, __u32 reg, __u64 *value)
{
	/* Its word of struct pt_regs, a byte for each. */
	const __u64 low = 0x13040e0d050b0c0aULL, high = 0x0001020306070809ULL;
	__u32 at = (reg < 8 ? low >> reg * 8 : high >> (reg & 7) * 8) & 31;

	if (reg == USER_REG_SP)
		*value = walk->frame.sp;
	else if (reg == USER_REG_FP)
		*value = walk->frame.bp;
	else
		return walk->frame.flags & FRAME_LEAF && reg <= 15 &&
		       !bpf_probe_read_kernel(value, sizeof(*value),
					      (const __u64 *)walk->regs + at);
	return true;
}

static __always_inline int find_wide_cfa(struct user_walk *walk, const struct cfi_wide *wide,
					 __u64 *cfa)
{
	__u64 base, word;

	if (wide->cfa == CFI_CFA_PLT) {
		*cfa = walk->frame.sp + 8 +
		       ((walk->frame.ip & 15) >= (__u32)wide->cfa_offset ? 8 : 0);
		return USER_WALK_GOING;
	}
	if (!get_register(walk, wide->reg, &base))
		return USER_WALK_NO_RULE;
	*cfa = base + (__s64)wide->cfa_offset;
	if (wide->cfa == CFI_CFA_DEREF) {
		if (read_stack(walk, &word, sizeof(word), *cfa))
			return USER_WALK_UNREADABLE;
		*cfa = word + (__s64)wide->cfa_add;
	}
	/* Where the return address was popped, nothing is left between both. */
	if (*cfa < walk->frame.sp || (*cfa == walk->frame.sp && wide->ra != CFI_RA_REGISTER))
		return USER_WALK_UNREADABLE;
	return USER_WALK_GOING;
}

static __always_inline int step_widely(struct user_walk *walk, __u32 number)
{
	const struct cfi_wide *wide = bpf_map_lookup_elem(&rules_wides, &number);
	__u64 cfa, ip, bp = walk->frame.bp;
	int end;

	if (!wide)
		return USER_WALK_NO_RULE;
	end = find_wide_cfa(walk, wide, &cfa);
	if (end != USER_WALK_GOING)
		return end;
	if (wide->ra == CFI_RA_REGISTER) {
		if (!get_register(walk, wide->ra_offset, &ip))
			return USER_WALK_NO_RULE;
	} else if (read_stack(walk, &ip, sizeof(ip), cfa + (__s64)wide->ra_offset)) {
		return USER_WALK_UNREADABLE;
	}
	if (wide->bp == CFI_BP_LOST)
		bp = 0;
	else if (wide->bp != CFI_BP_SAME &&
		 read_stack(walk, &bp, sizeof(bp),
			    (wide->bp == CFI_BP_AT_CFA ? cfa : bp) + (__s64)wide->bp_offset))
		return USER_WALK_UNREADABLE;
	return go_on(&walk->frame, cfa, ip, bp);
}

/* By the rules that are rare. A global function, so that the verifier follows it once. */
__noinline int step_rarely(struct user_walk *walk, __u32 rule)
{
	if (!walk || !has_user_walk)
		return USER_WALK_NO_RULE;
	if (rule >> CFI_KIND_SHIFT == CFI_WIDE)
		return step_widely(walk, rule & CFI_VALUE_MASK);
	switch (rule & CFI_VALUE_MASK) {
	case CFI_OUTERMOST:
		return USER_WALK_WHOLE;
	case CFI_SIGNAL:
		return step_over_signal(walk);
	case CFI_UNSUPPORTED:
		return USER_WALK_NO_RULE;
	case RULES_NO_TABLE:
		return bridge(walk, USER_WALK_NO_TABLE);
	case RULES_NO_ACCESS:
		return bridge(walk, USER_WALK_FORBIDDEN);
	case RULES_BUSY:
		return bridge(walk, USER_WALK_BUSY);
	case RULES_NO_CODE:
		return leave_out(walk);
	default:
		return step_by_pointer(walk);
	}
}

/*
 * Some frames of a walk, which is remembered in known unless that is NULL. Values that change with
 * each frame are in registers, since a word that was just stored is slow to load.
 */
static __always_inline int walk_some_user(struct user_walk *walk, struct known_stack *known,
					  struct frame_room *out)
{
	struct rules_cache *cache;
	struct user_walk_frame frame;
	__u32 rule, kind, at;
	__u64 process, pc;
	int end = USER_WALK_GOING;

	cache = rules_cache();
	if (!cache)
		return USER_WALK_NO_RULE;
	frame = walk->frame;
	process = walk->process;
	for (int i = 0; i < USER_STRETCH && end == USER_WALK_GOING; i++) {
		at = frame.nr;
		asm volatile("" : "+r"(at));
		if (at >= WIRE_MAX_FRAMES) {
			end = USER_WALK_FRAMES;
			break;
		}
		out->ips[at] = frame.ip;
		frame.nr = at + 1;
		frame.hash = hash_frame(frame.hash, frame.ip);
		pc = frame.ip - !(frame.flags & FRAME_EXACT);
		rule = cached_user_rule(cache, process, pc);
		if (rule == RULES_UNCACHED)
			rule = find_user_rule(&walk->regions, process, pc);
		kind = rule >> CFI_KIND_SHIFT;
		if (rule == CFI_FRAME_POINTER && has_frame(walk, &frame)) {
			end = step_quickly(walk, &frame, known);
		} else if (kind == CFI_SP || kind == CFI_BP) {
			end = step_plainly(walk, &frame, rule, known);
		} else {
			if (known && rule != CFI_RULE(CFI_SPECIAL, CFI_OUTERMOST))
				known->is_odd = 1;
			walk->frame = frame;
			end = step_rarely(walk, rule);
			frame = walk->frame;
		}
	}
	walk->frame = frame;
	return end;
}

/* walk_some_user(). A global function, so that the verifier checks it once. */
__noinline int walk_user_stretch(struct user_walk *walk, struct frame_room *out)
{
	if (!walk || !out || !has_user_walk)
		return USER_WALK_NO_RULE;
	return walk_some_user(walk, NULL, out);
}

/* The same of a walk that is remembered. */
__noinline int walk_noted_stretch(struct user_walk *walk, struct frame_room *out)
{
	struct known_stack *known;

	if (!walk || !out || !has_user_walk)
		return USER_WALK_NO_RULE;
	known = known_stack_at(walk->known);
	return known ? walk_some_user(walk, known, out) : USER_WALK_NO_RULE;
}

/*
 * True if the walk that begins is known, and would read the same words. Its frames are left where
 * they are known: copy_known() has them. A global function, so that the verifier checks it once.
 */
__noinline int recognize_stack(struct user_walk *walk)
{
	struct known_stack *known;
	struct known_piece *piece;
	__u32 bytes, zero = 0;

	if (!walk || !has_user_walk)
		return 0;
	known = known_stack_at(walk->known);
	piece = bpf_map_lookup_elem(&known_pieces, &zero);
	if (!known || !piece)
		return 0;
	bytes = known->bytes;
	asm volatile("" : "+r"(bytes));
	if (bytes > KNOWN_BYTES ||
	    bpf_probe_read_user(piece->words, bytes, (const void *)walk->frame.sp) ||
	    !has_known_words(known, piece->words))
		return 0;
	known->misses = 0;
	walk->frame.nr = known->nr;
	walk->frame.hash = known->hash;
	walk->recognized = 1;
	return 1;
}

#ifdef __TARGET_ARCH_arm64
/* There are no tables yet. */
static __always_inline __u32 walk_user_tables(struct user_walk *walk, struct task_struct *task,
					      __u64 *ips, __u32 *end)
{
	return 0;
}

static __always_inline __u32 walk_known_user(struct user_walk *walk, struct task_struct *task,
					     __u64 *ips, __u32 *end)
{
	return 0;
}

static __always_inline __u32 walk_user_copy(struct user_walk *walk, struct task_struct *task,
					    const void *copy, __u32 bytes, __u64 *ips)
{
	return 0;
}
#else
/* False: the task has no user stack that this walk knows. */
static __always_inline bool begin_user_walk(struct user_walk *walk, struct task_struct *task)
{
	struct pt_regs *regs;

	if (!has_user_walk || !task->mm || task->flags & (PF_IO_WORKER | PF_USER_WORKER))
		return false;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	if (!regs || regs->cs != USER_CS_64)
		return false;
	walk->regs = (__u64)regs;
	walk->frame.ip = regs->ip;
	walk->frame.sp = regs->sp;
	walk->frame.bp = regs->bp;
	walk->process = rules_process(task);
	walk->bytes = walk->frame.nr = walk->missing = walk->recognized = 0;
	walk->frame.hash = FRAMES_SEED_USER;
	walk->frame.flags = FRAME_EXACT | FRAME_LEAF;
	return true;
}

/* Walks to the end. Returns why there are no more frames, an enum user_walk_end. */
static __always_inline __u32 end_user_walk(struct user_walk *walk, __u64 *ips)
{
	int ret = USER_WALK_GOING;

	for (int i = 0; i <= WIRE_MAX_FRAMES / USER_STRETCH && ret == USER_WALK_GOING; i++)
		ret = walk_user_stretch(walk, (struct frame_room *)ips);
	return walk->missing ? walk->missing : ret;
}

/*
 * Walks the user stack of task, which is current, into ips, which has room for WIRE_MAX_FRAMES;
 * walk is room of this CPU that is not in use. Returns the number of frames, and in *end why there
 * are no more (enum user_walk_end). 0: current has no user stack that this walk knows.
 */
static __always_inline __u32 walk_user_tables(struct user_walk *walk, struct task_struct *task,
					      __u64 *ips, __u32 *end)
{
	if (!begin_user_walk(walk, task))
		return 0;
	*end = end_user_walk(walk, ips);
	return walk->frame.nr;
}

/* Walks to the end, and remembers the walk. Returns as end_user_walk(). */
static __always_inline __u32 note_user_walk(struct user_walk *walk, struct known_stack *known,
					    __u64 *ips)
{
	int ret = USER_WALK_GOING;

	begin_known(known);
	for (__u32 i = 0; i <= KNOWN_FRAMES / USER_STRETCH && ret == USER_WALK_GOING; i++)
		ret = walk_noted_stretch(walk, (struct frame_room *)ips);
	if (ret == USER_WALK_GOING)
		return end_user_walk(walk, ips);
	if (ret == USER_WALK_WHOLE && !walk->missing)
		end_known(known, ips, walk->frame.nr, walk->frame.hash);
	return walk->missing ? walk->missing : ret;
}

/*
 * As walk_user_tables(), for programs of which one at a time runs on a CPU: a stack that was walked
 * twice is recognized from then on. Then walk->recognized is set, and its frames are not in ips.
 */
static __always_inline __u32 walk_known_user(struct user_walk *walk, struct task_struct *task,
					     __u64 *ips, __u32 *end)
{
	const struct user_walk_frame *frame = &walk->frame;
	struct known_stack *known;

	if (!begin_user_walk(walk, task))
		return 0;
	walk->known = (__u32)(((walk->process ^ frame->sp ^ frame->ip) * RULES_HASH) >> 32) &
		      known_mask;
	known = known_stack_at(walk->known);
	if (!known || known->process != walk->process || known->sp != frame->sp ||
	    known->ip != frame->ip || known->bp != frame->bp) {
		if (known)
			forget_known(known, walk->process, frame->ip, frame->sp, frame->bp);
		*end = end_user_walk(walk, ips);
	} else if (!is_worth_it(&known->misses)) {
		*end = end_user_walk(walk, ips);
	} else if (known->nr && recognize_stack(walk)) {
		*end = USER_WALK_WHOLE;
	} else {
		known->misses++;
		*end = note_user_walk(walk, known, ips);
	}
	return walk->frame.nr;
}

/*
 * Walks a copy of the user stack of a task that sleeps, bytes of it from its stack pointer on.
 * Returns the number of frames; 0: they do not lead to the root, and that is not for the limit.
 */
static __always_inline __u32 walk_user_copy(struct user_walk *walk, struct task_struct *task,
					    const void *copy, __u32 bytes, __u64 *ips)
{
	__u32 end;

	if (!begin_user_walk(walk, task))
		return 0;
	walk->copy = (__u64)copy;
	walk->copy_sp = walk->frame.sp;
	walk->copy_bytes = bytes;
	walk->regions.mm = (__u64)task->mm;
	end = end_user_walk(walk, ips);
	return end == USER_WALK_WHOLE || end == USER_WALK_FRAMES ? walk->frame.nr : 0;
}
#endif

#endif /* DENET_USER_WALK_BPF_H */
