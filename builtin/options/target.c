/* SPDX-License-Identifier: GPL-2.0-only */
/* Options that choose threads, for every command that has a capture. */
#include "builtin/options/target.h"

#include <stdlib.h>
#include <string.h>

#include "builtin/options/values.h"
#include "host/pidns.h"
#include "session/targets.h"
#include "session/users.h"

static void set_cpus(const struct option_value *value, void *field)
{
	struct chosen_cpus *cpus = field;

	option_set__cpus(value, &cpus->set);
	cpus->any = true;
}

static void set_delay(const struct option_value *value, void *field)
{
	if (!strcmp(value->text, "-1"))
		option_value__error(value, "to begin only when told so is not there yet; give the "
					   "delay in ms");
	option_set__time(value, field);
}

/* Letters that users try for a duration. */
static void refuse_duration(const struct option_value *value, void *field)
{
	bool is_number = value->text[strspn(value->text, "0123456789.")] == '\0';

	(void)field;
	option_value__error(value, "there is no such option; to record for %s seconds: -- sleep %s",
			    is_number ? value->text : "N", is_number ? value->text : "N");
}

#define FIELD(fn, type, field) OPTION_FIELD(fn, type, struct target_options, field)

static const struct option_row rows[] = {
	{ "all-cpus", 'a', .text = "All processes",
	  OPTION_TRUE(struct target_options, capture.all) },
	{ "pid", 'p', .arg = "PID,...", .text = "These processes",
	  OPTION_IDS(struct target_options, pids) },
	{ "tid", 't', .arg = "TID,...", .text = "These threads",
	  OPTION_IDS(struct target_options, tids) },
	{ "children", .text = "With -p: their descendants as well, also those that live already",
	  OPTION_TRUE(struct target_options, capture.children) },
	{ "cgroup", 'G', .arg = "PATH,...",
	  .text = "Only threads in these cgroups and their descendants; also a container's "
		  "name or id",
	  OPTION_NAMES(struct target_options, groups) },
};

static const struct option_row detail_rows[] = {
	{ "uid", 'u', .arg = "USER,...", .text = "Only threads of these users, by name or number",
	  OPTION_NAMES(struct target_options, users) },
	{ "cpu", 'C', .arg = "LIST", .text = "Only blocks that end on these CPUs, as in 0-3,8",
	  FIELD(set_cpus, struct chosen_cpus, cpus) },
	{ "delay", 'D', .arg = "MS", .text = "Start MS after COMMAND starts",
	  FIELD(set_delay, uint64_t, delay_ns) },
	{ "no-inherit", 'i', .text = "Leave out descendants of the targets",
	  OPTION_TRUE(struct target_options, capture.no_inherit) },
	{ "duration", 'd', .hidden = true, .arg = "SECONDS", .set = refuse_duration },
	{ "kernel-threads", .text = "Kernel threads as well",
	  OPTION_TRUE(struct target_options, capture.kernel_threads) },
};

static void check(const struct options *options, const void *values)
{
	const struct target_options *target = values;

	if (target->capture.all && target->pids.nr)
		options__exclude(options, "all-cpus", "pid");
	if (target->capture.all && target->tids.nr)
		options__exclude(options, "all-cpus", "tid");
	if (target->capture.children && !target->pids.nr)
		options__error(options, "--children needs -p, whose children it adds");
}

static void take_command(void *values, char **argv)
{
	struct target_options *target = values;

	target->command = argv;
}

const struct option_table target_table = {
	.title = "Which threads (default: COMMAND, or else -a):",
	.group = 1,
	OPTION_ROWS(rows),
	.check = check,
	.arguments = take_command,
};

const struct option_table target_detail_table = { .group = 1, OPTION_ROWS(detail_rows) };

static int resolve_groups(struct target_options *target)
{
	struct cgroup_mounts mounts = { 0 };
	int err;

	if (!target->groups)
		return 0;
	err = cgroup_mounts__read(&mounts, NULL);
	if (!err)
		err = cgroup_list__resolve(&target->group_list, &mounts, target->groups);
	cgroup_mounts__free(&mounts);
	return err;
}

/* The capture borrows the lists of ids, which the options own. */
static void lend(const struct target_options *target, struct capture_targets *capture)
{
	*capture = target->capture;
	capture->pids = target->pids.ids;
	capture->nr_pids = target->pids.nr;
	capture->tids = target->tids.ids;
	capture->nr_tids = target->tids.nr;
	capture->uids = (const uint32_t *)target->uids.ids;
	capture->nr_uids = target->uids.nr;
	capture->groups = target->group_list.refs;
	capture->nr_groups = target->group_list.nr;
	capture->cpu_bits = target->cpus.any ? target->cpus.set.bits : NULL;
	/* Options that narrow the targets apply to all processes if none is named. */
	if (!target->pids.nr && !target->tids.nr &&
	    (!target->command || target->users || target->groups || target->cpus.any))
		capture->all = true;
}

int target_options__resolve(struct target_options *target, struct session_options *session)
{
	int err;

	err = pidns__check_proc();
	if (!err)
		err = targets__check(&target->pids, &target->tids);
	if (!err && target->users)
		err = users__resolve(&target->uids, target->users);
	if (!err && target->cpus.any)
		err = cpus__check(&target->cpus.set);
	if (!err)
		err = resolve_groups(target);
	if (err)
		return err;
	lend(target, &session->capture.targets);
	session->delay_ns = target->delay_ns;
	session->command = target->command;
	return 0;
}

void target_options__free(struct target_options *target)
{
	id_list__free(&target->pids);
	id_list__free(&target->tids);
	id_list__free(&target->uids);
	cgroup_list__free(&target->group_list);
	free(target->users);
	free(target->groups);
}
