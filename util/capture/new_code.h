/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_NEW_CODE_H
#define DENET_CAPTURE_NEW_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cfi_maps.h"

struct task_event; /* machine/task_event.h */

/* Processes whose mappings are listed in one go. */
#define NEW_CODE_PIDS 16
/* How many lists a file is a reason for: the process that has mapped it may be gone by then. */
#define NEW_CODE_TRIES 3
/*
 * Lists in each second, each of which takes a process, and readings of the rings for what is below.
 */
#define NEW_CODE_LISTS 16
#define NEW_CODE_LOOKS 32

/* For files that are remembered; a power of two. */
#define NEW_CODE_FILES_SHIFT 10

/* A file that was mapped. */
struct new_code_file {
	struct rules_key file;
	unsigned int tries;
	unsigned int list; /* which one it was a reason for last, by struct new_code's list */
};

/* How often something was done since a time. */
struct new_code_rate {
	uint64_t since;
	unsigned int nr;
};

/*
 * Code that targets map while they are recorded, as MMAP2 records tell of it: which processes are
 * to be listed so that its unwind tables are made, and when rings are to be read for more of it.
 * Where one file is mapped, others follow within milliseconds, as at the start of a program; a
 * record that nobody reads would wait until the end of a window.
 *
 * The device and the inode of a record are not always those by which the programs know a file: of
 * one on an overlay or on FUSE the programs see the file that lies below, and records since Linux
 * 6.18, and in stable releases of older ones, have the one that was opened. So here they only tell
 * files apart, and only a list shows whether the programs have the table of such a file: lists that
 * bring nothing become rare. Zero-initialised is empty; memory is bounded, and what is forgotten
 * costs a list.
 */
struct new_code {
	struct new_code_file files[1 << NEW_CODE_FILES_SHIFT]; /* in sets of two */
	pid_t pids[NEW_CODE_PIDS]; /* to be listed: those that came last */
	size_t nr_pids;
	unsigned int list; /* the number of the next list */
	struct new_code_rate lists;
	struct new_code_rate looks;
	uint64_t list_pause; /* after the last list, which brought nothing; 0: it did */
	uint64_t list_at;    /* when that is over */
	bool expected;	  /* more of it, since the last look */
	uint64_t look_at; /* when the rings are to be read; 0: whenever they are */
	uint64_t pause;	  /* before that look */
};

/* The file of an event, without its stamp. False if that is no code, or none that a file has. */
bool new_code__file(const struct task_event *event, struct rules_key *file);

/* True if the file is no reason to list a process any more. */
bool new_code__is_settled(const struct new_code *new_code, const struct rules_key *file);
void new_code__settle(struct new_code *new_code, const struct rules_key *file);

/*
 * A process has mapped a file that may have no table: it is to be listed, in place of the one that
 * came first if there is no room for both.
 */
void new_code__add(struct new_code *new_code, const struct rules_key *file, pid_t pid);

/*
 * True if processes are to be listed now, by clock__now_ns(): beyond NEW_CODE_LISTS times in a
 * second, and after lists that brought nothing, they have to wait. Those that are left out are left
 * to the stacks that meet their files.
 */
bool new_code__wants_list(const struct new_code *new_code, uint64_t now);

/* These processes are being listed; what is added from here on is for the next list. */
void new_code__take(struct new_code *new_code, uint64_t now);

/*
 * A list has ended, or could not begin. found: since it began, the programs have asked for tables.
 * Otherwise the next one comes after a pause, which doubles from list to list, up to 10 s.
 */
void new_code__listed(struct new_code *new_code, bool found, uint64_t now);

/* More code is about to be mapped. */
void new_code__expect(struct new_code *new_code);

/*
 * The rings are read next. Decides when to read them again: soon after something was expected, and
 * then after ever longer pauses, up to an eighth of a second in all.
 */
void new_code__look(struct new_code *new_code, uint64_t now);

/*
 * Milliseconds until the rings should be read, or with may_list processes be listed, rounded up;
 * -1: there is no hurry.
 */
int new_code__timeout(const struct new_code *new_code, bool may_list, uint64_t now);

#endif /* DENET_CAPTURE_NEW_CODE_H */
