/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/target_filter.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "host/cgroup.h"
#include "host/pidns.h"

_Static_assert(CAPTURE_MAX_CPUS == WIRE_MAX_CPUS, "one limit with two names");
_Static_assert(CAPTURE_MAX_GROUPS == WIRE_MAX_CGROUPS, "one limit with two names");
_Static_assert((int)CGROUP_V2 == WIRE_CGROUP_V2 && (int)CGROUP_PERF_EVENT == WIRE_CGROUP_V1,
	       "one order of two hierarchies");

/* Which hierarchy's ids samples carry, as wire_settings.cgroups has it. */
static int choose_hierarchy(__u8 *cgroups)
{
	struct cgroup_mounts mounts;
	int err = cgroup_mounts__read(&mounts, NULL);

	if (err) {
		pr_err("--all-cgroups: cannot read /proc/self/mounts: %s", strerror(-err));
		return err;
	}
	*cgroups = (__u8)(1 + cgroup_mounts__of_samples(&mounts));
	cgroup_mounts__free(&mounts);
	return 0;
}

int target_filter__settle(struct wire_settings *settings, const struct capture_options *options)
{
	struct wire_filter *filter = &settings->filter;
	int err = pidns__inode(&filter->pid_ns);

	if (err) {
		pr_err("cannot tell our PID namespace: /proc/self/ns/pid: %s", strerror(-err));
		return err;
	}
	if (options->cpu_bits) {
		filter->cpus = 1;
		memcpy(filter->cpu_bits, options->cpu_bits, sizeof(filter->cpu_bits));
	}
	if (options->cgroups)
		err = choose_hierarchy(&settings->cgroups);
	filter->users = options->nr_uids != 0;
	for (size_t i = 0; i < options->nr_groups; i++) {
		if (options->groups[i].hierarchy == CGROUP_V2)
			filter->cgroup_v2 = 1;
		else
			filter->cgroup_v1 = 1;
	}
	return err;
}

size_t target_filter__targets(const struct capture_options *options)
{
	return options->nr_pids + options->nr_tids + options->nr_uids;
}

int target_filter__add(const struct capture_options *options, const struct target_maps *target_maps)
{
	int err = 0;

	for (size_t i = 0; i < options->nr_pids && !err; i++)
		err = target_maps__add(target_maps, WIRE_TARGET_PID, (uint32_t)options->pids[i]);
	for (size_t i = 0; i < options->nr_tids && !err; i++)
		err = target_maps__add(target_maps, WIRE_TARGET_TID, (uint32_t)options->tids[i]);
	for (size_t i = 0; i < options->nr_uids && !err; i++)
		err = target_maps__add(target_maps, WIRE_TARGET_UID, options->uids[i]);
	for (size_t i = 0; i < options->nr_groups && !err; i++)
		err = target_maps__add_cgroup(target_maps, options->groups[i].hierarchy,
					 options->groups[i].id);
	return err;
}
