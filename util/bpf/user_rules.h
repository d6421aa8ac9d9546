/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_USER_RULES_H
#define DENET_BPF_USER_RULES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/extents.h"
#include "base/idmap.h"
#include "cfi_maps.h"

struct bpf_link;
struct bpf_map;
struct bpf_program;
struct cfi_table;
struct placed_table;

/*
 * The tables by which programs walk user stacks (bpf_skel/user_walk.bpf.h). The maps belong to a
 * BPF object. A zero-initialised struct with the maps set goes into user_rules__add().
 */
struct user_rules {
	const struct bpf_map *slab0;
	const struct bpf_map *slabs;
	const struct bpf_map *files;
	const struct bpf_map *wides;
	const struct bpf_map *wanted;
	const struct bpf_map *bell;   /* a ring that gets a word for each new file in wanted */
	const struct bpf_program *list_code; /* lists code that is mapped; may be NULL */
	volatile uint32_t *epoch;	     /* of the programs, see rules_epoch, */
	volatile uint32_t *silent;	     /* and rules_silent */
	int btf_fd; /* of their object; negative: they were made without */
	struct bpf_link *list_link;
	struct extents places; /* of the words of tables */
	struct extents wide_numbers;
	struct placed_table *tables;
	size_t nr_tables;
	struct rules_file *gone; /* whose room is not given back yet: a walk may be at them */
	size_t nr_gone;
	struct idmap inodes; /* how many keys of files differ by their stamp only */
	struct rules_slab *memory[RULES_SLABS];
};

/*
 * Whether the programs have the table of a file, or go without: false if they are to ask for it,
 * for the first time or again.
 */
bool user_rules__has(const struct user_rules *rules, const struct rules_key *key);

/* The same of a file with any stamp. */
bool user_rules__knows(const struct user_rules *rules, const struct rules_key *key);

/*
 * Gives the programs the table of a file, unless they have it; NULL: the file has no call frame
 * information. Files with the same table, as copies of a library in several containers, share its
 * room. 0; -ENOSPC if there is no more room, -E2BIG if the table would leave too little for
 * others, or another negative errno.
 */
int user_rules__add(struct user_rules *rules, const struct rules_key *key,
		    const struct cfi_table *table);

/*
 * Has the file go without a table, until the next eviction: walks say so. forbidden: it may not be
 * opened; else its table could not be made, or has no room. As user_rules__add().
 */
int user_rules__refuse(struct user_rules *rules, const struct rules_key *key, bool forbidden);

/*
 * Has walks that meet the refused file ask for it again; until it is added, or refused once more,
 * they still say so. Of other files, nothing changes.
 */
void user_rules__ask_again(struct user_rules *rules, const struct rules_key *key);

/* From here on it is noted which tables walks look for. */
void user_rules__begin_epoch(struct user_rules *rules);

/*
 * Takes back the tables that no walk has looked for since user_rules__begin_epoch(), and files that
 * were refused. Waits for the programs that run, but for those that may sleep, none of which may
 * run: some ms. Returns how many files, or a negative errno; the room of files that were taken out
 * is then given back by the next one.
 */
int user_rules__evict(struct user_rules *rules);

/*
 * Calls want for each file without a table that walks have met, or that was mapped, since the last
 * call, until it returns other than 0. Returns that, or a negative errno. A file to which want adds
 * nothing is met again. What comes meanwhile may be left, and rings the bell.
 */
int user_rules__each_wanted(struct user_rules *rules,
			    int (*want)(void *ctx, const struct rules_key *key,
					const struct rules_wanted *wanted),
			    void *ctx);

/*
 * Whether programs leave the bell alone for the time being: what they want waits for
 * user_rules__each_wanted(). None is missed by it that user_rules__evict() comes before.
 */
void user_rules__silence(struct user_rules *rules, bool silent);

/*
 * A descriptor that makes files wanted while it is read: those whose code targets have mapped. It
 * brings no bytes, and its reader hangs as long as a target holds its mmap_lock. The caller closes
 * it. Negative: an errno.
 */
int user_rules__open_list(struct user_rules *rules);

/*
 * The same of one process, as its id is in our namespace; nothing is listed if it is gone, or its
 * first thread is no target, but see target_maps__list_named(). program: the descriptor of
 * list_code, so that a child needs no other. -E2BIG before Linux 6.1, which cannot list a single
 * process.
 */
int user_rules__open_process_list(int program, pid_t pid);

/* Bytes of the maps that it has made itself, beside those of the object. rules may be NULL. */
uint64_t user_rules__map_bytes(const struct user_rules *rules);

void user_rules__free(struct user_rules *rules);

#endif /* DENET_BPF_USER_RULES_H */
