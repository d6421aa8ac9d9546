/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_USER_TABLES_H
#define DENET_CAPTURE_USER_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "capture/new_code.h"
#include "capture/table_tries.h"

struct child;
struct ring_buffer;
struct target_maps;
struct task_event;
struct user_rules;
struct user_tables_batch;

/*
 * The tables of call frame information by which programs walk user stacks: of the files that they
 * meet, or that targets have mapped.
 */
struct user_tables {
	struct user_rules *rules; /* of the programs; borrowed; NULL: they walk without */
	struct ring_buffer *bell; /* rings when a file is wanted */
	struct buffer wishes;	  /* those that were not tried yet, the last one first */
	int epoll_fd;		  /* of the bell, and of the process that makes tables */
	struct table_tries tries; /* of tables that could not be made */
	struct user_tables_batch *batch; /* is being made; NULL: none */
	const struct target_maps *targets; /* borrowed */
	struct child *list;	  /* lists what targets have mapped; NULL: that is done */
	uint64_t list_deadline;
	bool list_failed;	  /* one did, which was said */
	bool found;		  /* files have come to be wanted since the last one began */
	struct new_code new_code; /* mapped since; which may be listed, too: */
	bool lists_processes;
	uint64_t evict_at;   /* when what no walk has looked for is evicted; 0: not now */
	uint64_t next_epoch; /* before that, no other eviction begins */
	bool full;	  /* there was no room for one, which was said */
	bool refused;	  /* a file goes without its table until there is room */
	bool closed;	  /* nor is there for the mere names of files: none is made for now */
};

/* rules is borrowed, and may be NULL. 0 or a negative errno (logged). */
int user_tables__init(struct user_tables *tables, struct user_rules *rules);

/* Whose tables are made before a recording begins. */
struct user_tables_targets {
	const struct target_maps *maps; /* borrowed as long as the tables are used */
	bool all; /* there are too many of them: their tables are made beside the recording */
	const pid_t *pids; /* processes whose first thread may be no target, but others are */
	size_t nr_pids;
};

/*
 * Makes the tables of the files that targets have mapped, so that walks need not wait for them:
 * those that most have first, and as many as can be made in about a second. The programs are
 * attached. 0 or a negative errno (logged).
 */
int user_tables__prepare(struct user_tables *tables, const struct user_tables_targets *targets);

/*
 * Takes notice of an event of a target, in the order of time: that it maps code whose table may be
 * missing. Such tables are made before a stack needs them, if they can be made in time.
 */
void user_tables__follow(struct user_tables *tables, const struct task_event *event);

/*
 * Goes on with the tables of files that are wanted, which other processes make; takes some
 * milliseconds, and up to a grace period of RCU for each MB of tables that is needed for the first
 * time, nine for the largest table. 0 or a negative errno (logged).
 */
int user_tables__update(struct user_tables *tables);

/* timeout_ms, or less where there is more to be made, or the rings may have more to follow. */
int user_tables__timeout(const struct user_tables *tables, int timeout_ms);

/* Becomes readable when there is something for user_tables__update(); -1: never. Borrowed. */
int user_tables__fd(const struct user_tables *tables);

void user_tables__free(struct user_tables *tables);

#endif /* DENET_CAPTURE_USER_TABLES_H */
