/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_USER_TABLES_H
#define DENET_CAPTURE_USER_TABLES_H

#include <stdbool.h>
#include <stdint.h>

struct user_rules;

/* The tables of call frame information that walks of user stacks ask for. */
struct user_tables {
	struct user_rules *rules; /* of the programs; borrowed; NULL: they walk without */
	int deadline_ms;	  /* for the next files */
	uint64_t busy_until;	  /* clock__now_ns(): more files may be asked for soon */
	uint64_t made;
	uint64_t without; /* files that have none */
	bool full;	  /* there was no room for one, which was said */
};

/* rules is borrowed, and may be NULL. The first files are likely to be asked for soon. */
void user_tables__init(struct user_tables *tables, struct user_rules *rules);

/*
 * Makes the tables of the files that were asked for since the last call, within a part of a
 * second; what was not made by then is asked for again. 0 or a negative errno (logged).
 */
int user_tables__update(struct user_tables *tables);

/* timeout_ms, or less: how soon files are to be looked for again. */
int user_tables__timeout(const struct user_tables *tables, int timeout_ms);

#endif /* DENET_CAPTURE_USER_TABLES_H */
