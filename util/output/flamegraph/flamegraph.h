/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_FLAMEGRAPH_H
#define DENET_OUTPUT_FLAMEGRAPH_H

#include <stdio.h>

#include "profile/profile.h"

/* The profile to compare with. */
struct flamegraph_other {
	const struct profile *profile;
	const char *name; /* of its file */
};

/*
 * A page for browsers that draws a profile as a flame graph and needs no network: below the root
 * what the time was spent on, then threads by name, then functions. With another profile, which may
 * be NULL, nodes have the time of both, and tell which grew. 0, -ENOMEM or -EIO.
 */
int flamegraph__write(const struct profile *profile, const struct flamegraph_other *other,
		      FILE *out);

/* The same page of stacks that are texts already. */
struct flamegraph_page;

/* Time of a thread in a state. */
struct flamegraph_texts {
	enum profile_event event;
	char state; /* as in struct sample */
	const char *comm;
	const char *kernel; /* "leaf;its caller;..."; "": none */
	const char *user;
	uint64_t ns;
};

struct flamegraph_page *flamegraph_page__new(void);	       /* NULL: no memory */
void flamegraph_page__delete(struct flamegraph_page *page); /* accepts NULL */
int flamegraph_page__add(struct flamegraph_page *page, const struct flamegraph_texts *texts);
int flamegraph_page__write(struct flamegraph_page *page, FILE *out); /* once, at the end */

#endif /* DENET_OUTPUT_FLAMEGRAPH_H */
