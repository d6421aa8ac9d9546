/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUILTIN_OPTIONS_TARGET_H
#define DENET_BUILTIN_OPTIONS_TARGET_H

#include "base/id_list.h"
#include "builtin/options/table.h"
#include "capture/options.h"
#include "host/cgroup.h"
#include "host/cpus.h"
#include "session/session.h"

/* Threads to record, and when: targets, options that narrow them, COMMAND, the delay. */
struct target_options {
	struct capture_targets capture; /* complete after target_options__resolve() */
	struct id_list pids;
	struct id_list tids;
	char *users;  /* names, apart by commas */
	char *groups; /* the same */
	struct chosen_cpus {
		bool any;
		struct cpus set;
	} cpus;
	uint64_t delay_ns;
	char **command; /* NULL: none */
	struct id_list uids;	       /* of users */
	struct cgroup_list group_list; /* of groups */
};

extern const struct option_table target_table;	      /* which threads, and COMMAND */
extern const struct option_table target_detail_table; /* options that narrow them further */

/*
 * Looks the names up on this machine and completes the options of the session. Data that these then
 * point to is owned by the target options. 0 or a negative errno (logged).
 */
int target_options__resolve(struct target_options *target, struct session_options *session);

/* Frees what the options own, not the options. */
void target_options__free(struct target_options *target);

#endif /* DENET_BUILTIN_OPTIONS_TARGET_H */
