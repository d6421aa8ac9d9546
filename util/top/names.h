/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_NAMES_H
#define DENET_TOP_NAMES_H

#include <stdint.h>

#include "base/idmap.h"
#include "base/strings.h"
#include "host/cgroup.h"
#include "host/kallsyms.h"

struct user_maps; /* top/user_maps.h */

/* Names of what samples have as numbers: users, cgroups, functions of the kernel. */
struct top_names {
	struct kallsyms *kallsyms; /* NULL: not readable */
	const struct user_maps *user_maps; /* borrowed; NULL: none */
	struct cgroup_mounts mounts;
	struct idmap users;   /* -> const char * of strings */
	struct idmap cgroups; /* the same */
	struct strings strings;
	uint64_t next_walk; /* CLOCK_MONOTONIC: new cgroups are looked for no sooner */
};

/* Reads the kernel's symbols. What cannot be read has no names: that is no error. */
void top_names__init(struct top_names *names);
void top_names__free(struct top_names *names);

/* Never NULL; the number in words where there is no name. Valid until the next call. */
const char *top_names__user(struct top_names *names, uint32_t uid);

/* The path from the root of the hierarchy; "": not known, or it is gone. */
const char *top_names__cgroup(struct top_names *names, uint64_t id);

/* The function of the kernel that an address lies in; "": none. */
const char *top_names__function(const struct top_names *names, uint64_t address);

#endif /* DENET_TOP_NAMES_H */
