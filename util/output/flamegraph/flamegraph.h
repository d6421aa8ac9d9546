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

#endif /* DENET_OUTPUT_FLAMEGRAPH_H */
