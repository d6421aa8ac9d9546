/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/run.h"

#include "base/err_out.h"
#include "base/log.h"
#include "session/signals.h"
#include "session/targets.h"
#include "session/workload.h"

/* Limit of the delay by a terminal that takes nothing. */
#define LAST_WORDS_MS 2000

bool run__has_targets(const struct run *run)
{
	const struct capture_targets *targets = &run->options->capture.targets;

	return targets->nr_pids || targets->nr_tids;
}

int run__init(struct run *run, const struct session_options *options, bool map_code)
{
	struct workload_options workload = {
		.argv = options->command,
		.stdout_to_stderr = options->stdout_to_stderr,
	};
	bool is_target;
	int err;

	*run = (struct run){ .options = options };
	/* Beside other targets COMMAND only determines the end. */
	is_target = !options->capture.targets.all && !run__has_targets(run);
	workload.map_code = map_code && is_target;
	workload.signals = run->signals = signals__new(&err);
	if (err || !options->command)
		return err;
	err = workload__check(options->command[0]);
	if (!err)
		run->workload = workload__new(&workload, &err);
	if (run->workload && is_target)
		run->target = workload__pid(run->workload);
	return err;
}

bool run__add_command(const struct run *run, struct capture_targets *targets)
{
	if (!run->target)
		return false;
	targets->pids = &run->target;
	targets->nr_pids = 1;
	return true;
}

int run__release(struct run *run)
{
	return run->workload ? workload__release(run->workload) : 0;
}

enum session_end run__look_for_end(struct run *run)
{
	run->signal = signals__read(run->signals);
	if (run->signal)
		return SESSION_SIGNAL;
	if (run->workload && workload__ended(run->workload))
		return SESSION_COMMAND_ENDED;
	return SESSION_GOES_ON;
}

void run__finish(struct run *run)
{
	pid_t workload = 0;

	if (run->workload && !workload__ended(run->workload))
		workload = workload__pid(run->workload);
	signals__finish(run->signals, workload, run->options->patience);
	targets__warn_of_gone_groups(&run->options->capture.targets);
	if (run->begin)
		pr_warn("the %s ended before the delay of -D was over: it is empty",
			run->options->noun);
}

void run__terminate(struct run *run)
{
	run->terminated = true;
	if (run->workload)
		workload__terminate(run->workload);
}

int run__exec_error(const struct run *run, enum session_end end)
{
	return end == SESSION_COMMAND_ENDED ? workload__exec_error(run->workload) : 0;
}

int run__final_status(struct run *run, enum session_end end)
{
	if (!run->workload)
		return 0;
	if (!workload__ended(run->workload))
		pr_verbose("waiting for %s to end", run->options->command[0]);
	workload__wait(run->workload);
	return end == SESSION_COMMAND_ENDED || run->target ? workload__status(run->workload) : 0;
}

/* After a failure COMMAND goes on to its end, unless the user ends it. */
static void outlive_workload(struct run *run)
{
	if (!run->workload || !workload__is_released(run->workload) ||
	    workload__ended(run->workload))
		return;
	pr_warn("%s is no longer %s; %s waits for it to end", run->options->command[0],
		run->options->done, log__program());
	run__finish(run);
	err_out__finish(LAST_WORDS_MS);
	workload__wait(run->workload);
}

void run__free(struct run *run)
{
	if (!run->terminated)
		outlive_workload(run);
	workload__delete(run->workload);
	signals__delete(run->signals);
}
