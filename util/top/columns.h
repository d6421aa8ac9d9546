/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_COLUMNS_H
#define DENET_TOP_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "top/names.h"
#include "top/stack_text.h"
#include "top/thread_sample.h"

/* The columns that samples are grouped by and written with. */
enum top_column {
	TOP_COLUMN_STATE,
	TOP_COLUMN_USERNAME,
	TOP_COLUMN_EXE,
	TOP_COLUMN_COMM,
	TOP_COLUMN_COMM2, /* with its digits masked */
	TOP_COLUMN_CMDLINE,
	TOP_COLUMN_TID,
	TOP_COLUMN_TGID,
	TOP_COLUMN_PIDNS,
	TOP_COLUMN_CGROUP,
	TOP_COLUMN_CGROUP_ID,
	TOP_COLUMN_CONTAINER,
	TOP_COLUMN_CPU,
	TOP_COLUMN_SYSCALL,
	TOP_COLUMN_WCHAN,
	TOP_COLUMN_WAIT, /* the system call, or else the wait channel */
	TOP_COLUMN_FILENAME,
	TOP_COLUMN_FILENAMESUM, /* with its digits masked */
	TOP_COLUMN_FEXT,	/* what is behind the last dot of its name */
	TOP_COLUMN_AIOFILENAME,	  /* of a request of libaio, */
	TOP_COLUMN_URINGFILENAME, /* or of io_uring */
	TOP_COLUMN_CONNECTION,
	TOP_COLUMN_CONN_STATE,
	TOP_COLUMN_LOCK,
	TOP_COLUMN_ARG1,
	TOP_COLUMN_ARG2,
	TOP_COLUMN_ARG3,
	TOP_COLUMN_ARG4,
	TOP_COLUMN_ARG5,
	TOP_COLUMN_ARG6,
	TOP_COLUMN_EXTRA_INFO,
	TOP_COLUMN_KSTACK_HASH,
	TOP_COLUMN_KSTACK, /* names of functions, the leaf first */
	TOP_COLUMN_KFUNC,  /* the leaf alone */
	TOP_COLUMN_USTACK_HASH,
	TOP_COLUMN_USTACK, /* the same of the program, or offsets in files */
	TOP_COLUMN_UFUNC,
	/* What is tracked: */
	TOP_COLUMN_ACTIVE_CALL,
	TOP_COLUMN_SYSC_SEQ,
	TOP_COLUMN_IORQ_SEQ,
	TOP_COLUMN_IORQS,
	TOP_COLUMN_WAKER,
	TOP_COLUMN_WAKER_TID,
	TOP_COLUMN_LOCK_OWNER,
	TOP_COLUMN_SYSC_TIME, /* steps of time in the call, */
	TOP_COLUMN_IORQ_TIME, /* and of the request's; of recordings only */
	TOP_COLUMNS,
};

/* Room for the text of any column, which is that of a stack; other texts are shorter. */
#define TOP_COLUMN_LEN STACK_TEXT_LEN
#define TOP_TEXT_LEN 1024

/* The name as options and JSON have it, in lower case. */
const char *top_column__name(enum top_column column);

/* Whether its texts are decimal numbers, or JSON. */
bool top_column__is_number(enum top_column column);
bool top_column__is_json(enum top_column column);

/*
 * Reads a list of names, apart by commas, none of them twice; at most max. 0, -EINVAL for an
 * unknown name or one that is there twice, -E2BIG. On error columns and *nr are not valid.
 */
int top_columns__parse(const char *text, enum top_column *columns, size_t max, size_t *nr);

/* The text of a column; "" where the sample has nothing for it. Returns buf. */
char *top_column__put(enum top_column column, const struct thread_sample *sample,
		      struct top_names *names, char buf[TOP_COLUMN_LEN]);

/* A time as columns have it, in steps by ten: "<10us", "10us+" ... */
const char *top_column__time_step(uint64_t ns);

/* The order of two texts of a column: by number, by time, or as texts. As strcmp(). */
int top_column__compare(enum top_column column, const char *a, const char *b);

/* How long the thread has been in its call, the same; "": not known. */
const char *top_column__sysc_time(const struct thread_sample *sample);

/* The ending of a file's name, such as "so", within the path; "": it has none. */
const char *top_column__extension(const char *path);

/* Each run of digits becomes a star, so that worker-1 and worker-2 are one. */
void top_column__mask_digits(char *text);

/* "RUN" ... */
const char *top_state__name(enum top_wire_state state);

/* The state of a letter of ps(1): of R, RUN; of none, OTHER. */
enum top_wire_state top_state__of_letter(char letter);

/*
 * Reads a list of states, by their names in either case or by their letters in ps(1), into bits of
 * enum top_wire_state. 0 or -EINVAL.
 */
int top_states__parse(const char *text, uint32_t *states);

#endif /* DENET_TOP_COLUMNS_H */
