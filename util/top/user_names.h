/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_USER_NAMES_H
#define DENET_TOP_USER_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"
#include "sample.h"

/*
 * Names of the functions of user frames. They are kept, so that a look asks for those alone that no
 * look before had.
 */
struct user_names;

struct user_names *user_names__new(void); /* NULL: no memory */
void user_names__delete(struct user_names *names); /* accepts NULL */

/* Forgets all names, which belong to the files of one machine: another one follows. */
void user_names__forget(struct user_names *names);

/*
 * Asks for the names of frames of a process, the leaf first, as it was at that time
 * (CLOCK_MONOTONIC). 0 or -ENOMEM.
 */
int user_names__want(struct user_names *names, const struct machine *machine, pid_t pid,
		     uint64_t time, const struct frames *frames);

/*
 * Finds all names that were asked for, in a confined child; what takes long, or cannot be read, has
 * none. 0 or -ENOMEM.
 */
int user_names__read(struct user_names *names, const struct machine *machine);

/*
 * The function that an address of a process lies in, which is in that mapping; of a caller the one
 * that its call is in. NULL: not known. Valid until the next call of another function.
 */
const char *user_names__find(const struct user_names *names, const struct process *process,
			     const struct maps_entry *map, uint64_t time, uint64_t ip,
			     bool caller);

#endif /* DENET_TOP_USER_NAMES_H */
