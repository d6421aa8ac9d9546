/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User stacks that were walked before. What a walk by plain rules finds depends on the process, the
 * registers it begins with and the words of the stack that it reads. Threads mostly block where
 * they blocked before, with the same words in the same places: to compare these takes less than
 * half of the time of a walk.
 */
#ifndef DENET_KNOWN_STACK_BPF_H
#define DENET_KNOWN_STACK_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "cfi_maps.h"
#include "known.bpf.h"

#define KNOWN_FRAMES 64U /* of a stack that is remembered */
#define KNOWN_WORDS 1024U /* of it, that may be read; a power of two */
#define KNOWN_BYTES (KNOWN_WORDS * 8U)
#define KNOWN_READS (2U * KNOWN_FRAMES) /* return addresses and saved frame pointers */
#define KNOWN_PLACE_MASK (KNOWN_BYTES - 8U)

/* Four words of a stack, so that they are compared without a branch for each. */
struct known_words {
	__u64 values[4];
	__u64 places; /* bytes from the stack pointer on, 16 bits each */
};

struct known_stack {
	/* At the start of the walk; process: rules_process(), another one with other tables. */
	__u64 process;
	__u64 ip;
	__u64 sp;
	__u64 bp;
	__u64 hash;   /* over its frames */
	__u32 nr;     /* of its frames; 0: only what it began with is known */
	__u32 bytes;  /* from sp to behind the last word */
	__u32 reads;  /* of words */
	__u32 is_odd; /* it was found by more than these words */
	__u32 misses; /* in a row: it began so, and went on otherwise */
	__u32 reserved;
	struct known_words words[KNOWN_READS / 4];
	__u64 ips[KNOWN_FRAMES];
};

/* User space sets its size, a power of two. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct known_stack);
} known_stacks SEC(".maps");

/* A stack that may be known, as it is now. */
struct known_piece {
	__u64 words[KNOWN_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct known_piece);
} known_pieces SEC(".maps");

/* The entries of known_stacks less one. Set by user space. */
const volatile __u32 known_mask = 0;

static __always_inline struct known_stack *known_stack_at(__u32 place)
{
	return bpf_map_lookup_elem(&known_stacks, &place);
}

/* The entry becomes that of another stack. */
static __always_inline void forget_known(struct known_stack *known, __u64 process, __u64 ip,
					 __u64 sp, __u64 bp)
{
	known->process = process;
	known->ip = ip;
	known->sp = sp;
	known->bp = bp;
	known->nr = known->misses = 0;
}

/* Begins to remember the walk that begins now. */
static __always_inline void begin_known(struct known_stack *known)
{
	known->nr = known->bytes = known->reads = known->is_odd = 0;
}

/* Remembers a word that the walk has read at address. */
static __always_inline void note_word(struct known_stack *known, __u64 address, __u64 value)
{
	__u64 place = address - known->sp, read = known->reads, shift = (read & 3) * 16;
	struct known_words *words;

	if (read >= KNOWN_READS || place >= KNOWN_BYTES || place & 7) {
		known->is_odd = 1;
		return;
	}
	/* Explicit for the verifier; clang would leave it out. */
	asm volatile("%0 &= %1" : "+r"(read) : "i"(KNOWN_READS - 1));
	words = &known->words[read / 4];
	words->values[read & 3] = value;
	words->places = (shift ? words->places : 0) | place << shift;
	known->reads++;
	if (known->bytes < place + sizeof(value))
		known->bytes = (__u32)(place + sizeof(value));
}

/*
 * Ends what note_word() began: the last four words are completed by the first one, and the frames
 * are kept. A walk that read none, or was odd, is not remembered.
 */
static __always_inline void end_known(struct known_stack *known, const __u64 *ips, __u32 nr,
				      __u64 hash)
{
	__u64 first = known->sp + (known->words[0].places & 0xffff);
	__u32 bytes = nr * sizeof(*ips);

	if (!known->reads || known->is_odd || !hash)
		return;
	for (int i = 0; i < 3 && known->reads & 3; i++)
		note_word(known, first, known->words[0].values[0]);
	/* Right before it is used: Linux 6.1 loses the bound of a value that lies on the stack. */
	asm volatile("" : "+r"(bytes));
	if (bytes > sizeof(known->ips) || bpf_probe_read_kernel(known->ips, bytes, ips))
		return;
	known->hash = hash;
	known->nr = nr;
}

/* The bits in which word i of four is not the one that was read into piece. */
static __always_inline __u64 difference_of(const struct known_words *words, const char *piece,
					   int i)
{
	__u64 place = words->places >> 16 * i & KNOWN_PLACE_MASK;

	return *(const __u64 *)(piece + place) ^ words->values[i];
}

/* Whether all words of a stack, which was read into piece, are the known ones. */
static __always_inline bool has_known_words(const struct known_stack *known, const void *piece)
{
	const struct known_words *words;
	__u32 nr = known->reads / 4;
	__u64 difference = 0;

	for (__u32 i = 0; i < KNOWN_READS / 4; i++) {
		if (i >= nr)
			break;
		words = &known->words[i];
		difference |= difference_of(words, piece, 0) | difference_of(words, piece, 1);
		difference |= difference_of(words, piece, 2) | difference_of(words, piece, 3);
	}
	return !difference;
}

/* Puts the frames of a stack that was recognized into ips, which has room for KNOWN_FRAMES. */
static __always_inline void copy_known(__u32 place, __u64 *ips)
{
	const struct known_stack *known = known_stack_at(place);
	__u32 bytes;

	if (!known)
		return;
	bytes = known->nr * sizeof(*ips);
	asm volatile("" : "+r"(bytes));
	if (bytes <= sizeof(known->ips))
		bpf_probe_read_kernel(ips, bytes, known->ips);
}

#endif /* DENET_KNOWN_STACK_BPF_H */
