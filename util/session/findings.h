/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SESSION_FINDINGS_H
#define DENET_SESSION_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/log.h"

/* Greatest number of a session's lines on stderr, the closing ones included; -v shows all. */
#define FINDINGS_LINES 6
/* Of these, warnings that are printed at once, while the session goes on. */
#define FINDINGS_LIVE 2

/* Ordered by how far a reader who does not know it would be misled. */
enum finding_weight {
	FINDING_NOTE = 1, /* nothing is wrong */
	FINDING_HINT,	  /* there is more to see with another option */
	FINDING_NAMES,	  /* functions without a name; what is logged as a warning */
	FINDING_STACKS,	  /* chains end early */
	FINDING_ELSEWHERE, /* time that is not where it is looked for first */
	FINDING_LOST,	  /* blocks, stacks or a file are missing; what is logged as a loss */
};

/*
 * Warnings and results of a session, the worst first. Takes over the log: warnings
 * beyond the first FINDINGS_LIVE are kept for the end. Errors and the lines of -v are printed at
 * once.
 * Zero-initialised is empty.
 */
struct findings {
	struct buffer list; /* struct finding */
	size_t printed;	    /* lines so far */
	bool ending;	    /* nothing is printed before findings__print() */
};

/* Takes over the log. findings__free() must follow before the struct's memory is released. */
void findings__listen(struct findings *findings);

/* Keeps all later warnings for findings__print(). */
void findings__hold(struct findings *findings);

/* Adds a warning. */
void findings__warn(struct findings *findings, enum finding_weight weight, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds a formatted line, such as "[ ... ]", that -q leaves out; empty: none. */
void findings__add(struct findings *findings, enum finding_weight weight, const char *line);

/*
 * Prints the worst, as many as leave room for so many closing lines, or all with -v, and forgets
 * all. Returns the number left out.
 */
size_t findings__print(struct findings *findings, size_t closing);

/* Prints the rest in the same way, and restores the log. */
void findings__free(struct findings *findings);

#endif /* DENET_SESSION_FINDINGS_H */
