/* SPDX-License-Identifier: GPL-2.0-only */
/* denet-record: options in, a recording out. What it does is in util/record/. */
#include "record.h"

#include <string.h>

#include "base/log.h"
#include "base/units.h"
#include "builtin.h"
#include "host/pidns.h"
#include "session/targets.h"
#include "session/users.h"
#include "hist/hist_cmd.h"

#define RECORD_MAX_OVERHEAD_PPM 30000
/* With --call-graph dwarf, unless something else is asked for. */
#define RECORD_COPY_PERIOD (10 * NSEC_PER_MSEC)
#define RECORD_COPY_RATE 1000

static void record__init(struct record *record, int argc, char **argv)
{
	capture_options__init(&record->options.capture);
	record->options.output = "perf.data";
	record->options.window_ns = NSEC_PER_SEC;
	record->options.max_overhead_ppm = RECORD_MAX_OVERHEAD_PPM;
	record->options.argc = argc;
	record->options.argv = (const char *const *)argv;
}

/* Copies are too large to take one of each short block: those are drawn. */
static void settle_copies(struct record *record)
{
	struct capture_options *capture = &record->options.capture;

	/* The rest of a record of perf is its own. */
	capture->copy_bytes =
		record->dump_bytes < CAPTURE_MAX_COPY ? record->dump_bytes : CAPTURE_MAX_COPY;
	capture->copy_chosen = record->call_graph == CALL_GRAPH_AUTO;
	if (capture->copy_chosen || !capture->threshold_ns || capture->period_ns ||
	    record->options.max_rate)
		return;
	capture->period_ns = RECORD_COPY_PERIOD;
	record->options.max_rate = RECORD_COPY_RATE;
}

/* The parsed options, as the recorder wants them. */
static void record__settle(struct record *record)
{
	struct capture_options *capture = &record->options.capture;

	capture->pids = record->pids.ids;
	capture->nr_pids = record->pids.nr;
	capture->tids = record->tids.ids;
	capture->nr_tids = record->tids.nr;
	/* What narrows the targets needs some: all of them, if none is named. */
	if (!record->pids.nr && !record->tids.nr &&
	    (!record->options.command || record->users || record->group_names || record->has_cpus))
		capture->all = true;
	capture->kernel_stacks = !record->only_user;
	capture->user_stacks = !record->only_kernel;
	if (record->call_graph != CALL_GRAPH_FP)
		settle_copies(record);
}

/* The table of waits for work: the built-in one, and what the user adds. */
static int record__read_idle(struct record *record)
{
	int err = idle_table__init(&record->idle);

	if (!err && record->idle_file)
		err = idle_table__read(&record->idle, record->idle_file);
	record->options.capture.idle = &record->idle;
	return err;
}

/* Looks all names up on this machine. 0 or a negative errno (logged). */
static int record__resolve(struct record *record)
{
	struct capture_options *capture = &record->options.capture;
	struct cgroup_mounts mounts = { 0 };
	int err;

	err = pidns__check_proc();
	if (!err)
		err = targets__check(&record->pids, &record->tids);
	if (!err && record->users)
		err = users__resolve(&record->uids, record->users);
	if (!err && record->has_cpus)
		err = cpus__check(&record->cpus);
	if (!err && record->group_names) {
		err = cgroup_mounts__read(&mounts, NULL);
		if (!err)
			err = cgroup_list__resolve(&record->groups, &mounts, record->group_names);
		cgroup_mounts__free(&mounts);
	}
	if (!err && record->skip_idle)
		err = record__read_idle(record);
	capture->uids = (const uint32_t *)record->uids.ids;
	capture->nr_uids = record->uids.nr;
	capture->groups = record->groups.refs;
	capture->nr_groups = record->groups.nr;
	capture->cpu_bits = record->has_cpus ? record->cpus.bits : NULL;
	return err;
}

static void record__free(struct record *record)
{
	id_list__free(&record->pids);
	id_list__free(&record->tids);
	id_list__free(&record->uids);
	cgroup_list__free(&record->groups);
	idle_table__free(&record->idle);
	free(record->users);
	free(record->group_names);
}

/* From the checked options to the exit status: a watch, or else a recording. */
static int record__run(const struct record *record, int *status)
{
	const struct hist_cmd_options watch = {
		.capture = record->options.capture,
		.delay_ns = record->options.delay_ns,
		.command = record->options.command,
		.json = record->json,
		.quiet = record->options.quiet,
	};
	int err = record->hist ? hist_cmd__run(&watch, status)
			       : recorder__run(&record->options, status);

	/* Each cause is logged where it is known; if one was not, this is better than nothing. */
	if (err && !log__nr_errors())
		pr_err("the recording failed: %s", strerror(-err));
	return err;
}

/* A service that is restarted gets a cgroup of its old name, which is another one to us. */
static void warn_of_gone_groups(const struct record *record)
{
	struct cgroup_mounts mounts = { 0 };
	size_t gone = 0;

	if (!record->groups.nr || cgroup_mounts__read(&mounts, NULL))
		return;
	if (!cgroup_list__count_gone(&record->groups, &mounts, &gone) && gone)
		pr_warn("-G %s: removed meanwhile (cgroups: %zu); what was made anew under that "
			"name is not recorded: the cgroup above it has both",
			record->group_names, gone);
	cgroup_mounts__free(&mounts);
}

int cmd_record(int argc, char **argv)
{
	struct record record = { 0 };
	enum log_level level = LOG_INFO;
	int status = EXIT_STATUS_ERROR;

	record__init(&record, argc, argv);
	if (record__parse(&record, argc, argv))
		goto out;
	record__settle(&record);
	if (record.options.quiet)
		level = LOG_WARNING;
	else if (record.verbose)
		level = record.verbose > 1 ? LOG_DEBUG : LOG_VERBOSE;
	log__init("denet-record", level);
	if (record__resolve(&record) || record__run(&record, &status))
		status = EXIT_STATUS_ERROR;
	else
		warn_of_gone_groups(&record);
out:
	record__free(&record);
	return status;
}
