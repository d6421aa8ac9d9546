/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_BCC_H
#define DENET_OUTPUT_BCC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/profile.h"

/* The key that tells threads apart. */
enum bcc_by { BCC_BY_TID, BCC_BY_PID, BCC_BY_COMM };

/*
 * The text that bcc's offcputime prints: stacks with the name of a thread and its time in us, in
 * ascending order of time. Control characters in names are replaced by "?", what is no UTF-8 by
 * U+FFFD, and in folded stacks ";" by ":".
 */
struct bcc_form {
	bool folded;	/* -f: a line for each stack, its outermost frame first */
	bool libbpf;	/* the form of libbpf-tools: without header */
	/* -v: in front of names; the profile has them (profile__keep_addresses()) */
	bool addresses;
	bool delimited; /* -d: something between kernel and user frames */
	bool ns;	/* exact times in place of us */
	bool no_kernel, no_user; /* frames of one side were not taken */
	enum bcc_by by;
};

/*
 * The first line, unless the form has none. threads: which ones, such as "all threads".
 * duration_ns: of the trace; 0: until Ctrl-C.
 */
void bcc__print_header(const struct bcc_form *form, const char *threads, uint64_t duration_ns,
		       FILE *out);

/* All else, once symbols are resolved. 0, -ENOMEM or -EIO. */
int bcc__write(const struct profile *profile, const struct bcc_form *form, FILE *out);

#endif /* DENET_OUTPUT_BCC_H */
