/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tables of cfi.h in maps, for both compilers: util/bpf/user_rules.c fills them,
 * user_rules.bpf.h searches them.
 *
 * Tables lie one behind the other in slabs. A place is the number of a word over all slabs. The
 * index of a table may cross the border of two slabs, the rows of a page don't.
 */
#ifndef DENET_CFI_MAPS_H
#define DENET_CFI_MAPS_H

#include "cfi.h"

#define RULES_SLAB_SHIFT 18
#define RULES_SLAB_WORDS (1U << RULES_SLAB_SHIFT) /* 1 MB */
#define RULES_SLABS 32
#define RULES_FILES 8192
#define RULES_WIDES 32768 /* of all files */
#define RULES_REFUSED 0xffffffffU
#define RULES_FORBIDDEN 0xfffffffeU
#define RULES_WANTED 1024
#define RULES_CACHE_WORDS 65536U
/* Stacks that are recognized, 1.8 KB each: of all CPUs, and the most and the fewest of one. */
#define KNOWN_STACKS 512U
#define KNOWN_STACKS_MOST 256U
#define KNOWN_STACKS_LEAST 16U

struct rules_slab {
	__u32 words[RULES_SLAB_WORDS];
};

/*
 * A file as the kernel knows it, with its contents: one that is written anew in place is another
 * one. All 0: the vDSO.
 */
struct rules_key {
	__u64 ino;
	__u32 dev; /* of its file system: major << 20 | minor */
	__u32 generation;
	__u64 stamp; /* of its last change and its size; 0: not known */
};

/*
 * Where the table of a file lies. No pages: the file has no call frame information; with
 * RULES_REFUSED as its index, its table could not be made, or there was no room for it; with
 * RULES_FORBIDDEN, the file may not be opened.
 */
struct rules_file {
	__u64 start;	/* as in struct cfi_table; of these two: walks are to ask for it again */
	__u32 nr_pages;
	__u32 index;	/* the place of the first index word; those of rows begin here, too */
	/* Added to the numbers of its struct cfi_wide; RULES_WIDES: it has none, or no room. */
	__u32 wides;
	__u32 epoch;	/* the last one in which a walk looked for the file, see rules_epoch */
};

/* How much code a process had, and how often it has unmapped some of it since. */
struct rules_unmapped {
	__u32 most;  /* pages of code that a walk has met, since the last change */
	__u32 count; /* changes after which another mapping may have the place of code */
};

/* A file whose table is wanted: one of the mappings of it. */
struct rules_wanted {
	__u64 start;
	__u64 end;
	__u32 pid;  /* as the recorder knows it */
	__u32 uses; /* mappings of the file that were seen, or RULES_MET */
};

/* A walk has met the file: no other is wanted more. */
#define RULES_MET 0x80000000U

#endif /* DENET_CFI_MAPS_H */
