/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TESTS_EXAMPLE_PROFILE_H
#define DENET_TESTS_EXAMPLE_PROFILE_H

#include <stddef.h>
#include <stdio.h>

#include "machine/machine.h"
#include "profile/profile.h"

/* Samples of all events of two threads, with known names: what tests of outputs print. */
struct example_profile {
	char path[64];
	struct machine *machine;
	struct symbols *symbols;
	struct profile_filter filter;
	struct profile *profile;
};

/* The filter is as it is in example. 0 or a negative errno. */
int example_profile__make(struct example_profile *example);
void example_profile__free(struct example_profile *example);

/* Returns the text that write prints of it, for free(); NULL on failure. */
char *example_profile__print(const struct example_profile *example,
			     int (*write)(const struct profile *profile, FILE *out), size_t *size);

#endif /* DENET_TESTS_EXAMPLE_PROFILE_H */
