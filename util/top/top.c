/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/top.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "base/err_out.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/units.h"
#include "session/signals.h"
#include "session/targets.h"
#include "session/workload.h"
#include "top/outputs.h"
#include "top/schedule.h"
#include "top/wall_time.h"

struct top {
	const struct top_options *options;
	struct signals *signals;
	struct workload *workload; /* NULL: there is no COMMAND */
	struct sampler *sampler;
	struct outputs outputs;
	struct schedule schedule;
	struct pollfd fds[1 + TTY_FDS]; /* signals, the screen */
	uint64_t next_interval; /* CLOCK_MONOTONIC */
	uint64_t done;		/* tables that were printed, or looks */
	bool passed;		/* there was a look since the last table */
	bool has_targets;	/* processes or threads were named, or COMMAND is the target */
	bool seen_targets;	/* and one of them was there */
	bool lost_targets;	/* in the latest look there was none any more */
	bool terminated;
	pid_t pid; /* of COMMAND */
};

/* COMMAND and what it starts are the targets if there are no others. */
static struct sampler_options sampler_of(struct top *top)
{
	struct sampler_options sampler = top->options->sampler;
	struct capture_targets *targets = &sampler.targets;

	if (top->workload && !targets->all && !targets->nr_pids && !targets->nr_tids) {
		top->pid = workload__pid(top->workload);
		targets->pids = &top->pid;
		targets->nr_pids = 1;
		targets->children = !targets->no_inherit;
	}
	top->has_targets = targets->nr_pids || targets->nr_tids;
	return sampler;
}

static int start(struct top *top)
{
	const struct session_options *session = &top->options->session;
	struct workload_options workload = { .argv = session->command, .stdout_to_stderr = true };
	struct sampler_options sampler;
	uint64_t now;
	int err;

	workload.signals = top->signals = signals__new(&err);
	if (!top->signals)
		return err;
	err = workload__prepare(&workload, &top->workload);
	if (err)
		return err;
	sampler = sampler_of(top);
	top->sampler = sampler__new(&sampler, &err);
	if (!top->sampler)
		return err;
	err = outputs__open(&top->outputs, &top->options->outputs);
	if (!err && top->workload)
		err = workload__release(top->workload);
	now = clock__now_ns() + session->delay_ns;
	schedule__init(&top->schedule, top->options->period_ns, now, now);
	top->next_interval = now + top->options->interval_ns;
	return err;
}

static bool has_tables(const struct top *top)
{
	return top->options->outputs.tables;
}

/* Waits for a signal, a key, or the time of the next look, table or drawing. */
static int wait_for_more(struct top *top)
{
	uint64_t now = clock__now_ns(), due = top->schedule.due, ns;
	struct screen *screen = top->outputs.screen;
	struct timespec timeout;

	if (has_tables(top))
		due = min_u64(due, top->next_interval);
	if (screen) {
		screen__poll(screen, top->fds + 1);
		due = min_u64(due, screen__due(screen));
	}
	top->fds[0] = (struct pollfd){ .fd = signals__fd(top->signals), .events = POLLIN };
	ns = due > now ? due - now : 0;
	timeout = (struct timespec){ .tv_sec = (time_t)(ns / NSEC_PER_SEC),
				     .tv_nsec = (long)(ns % NSEC_PER_SEC) };
	err_out__flush();
	if (due == top->schedule.due)
		sampler__expect(top->sampler, top->options->period_ns);
	return ppoll(top->fds, screen ? 1 + TTY_FDS : 1, &timeout, NULL) < 0 && errno != EINTR
		       ? -errno : 0;
}

/* Without the priority of a look. */
static int work_on_screen(struct top *top)
{
	sampler__relax(top->sampler);
	return screen__work(top->outputs.screen, top->fds + 1);
}

static int take_sample(void *ctx, const struct top_pass *pass, const struct thread_sample *sample)
{
	struct top *top = ctx;

	return outputs__add(&top->outputs, pass, sample);
}

/* The targets are gone if they were there before. */
static void look_for_targets(struct top *top, const struct top_wire_counts *counts)
{
	bool lost;

	top->seen_targets |= counts->targets != 0;
	lost = top->has_targets && top->seen_targets && !counts->targets;
	if (lost && !top->lost_targets && top->outputs.screen)
		pr_info("the targets have ended; q ends denet-top");
	top->lost_targets = lost;
}

static int look(struct top *top, uint64_t now)
{
	struct top_pass pass = { .time = now, .wall_ns = now + wall_time__lead() };
	int err;

	pass.weight_ns = schedule__take(&top->schedule, now);
	err = outputs__begin(&top->outputs, &pass);
	if (!err)
		err = sampler__pass(top->sampler, &pass, take_sample, top);
	if (err)
		return err;
	top->passed = true;
	look_for_targets(top, &pass.counts);
	if (!has_tables(top))
		top->done++;
	return outputs__end(&top->outputs, &pass);
}

static int end_interval(struct top *top, uint64_t now)
{
	int err;

	top->next_interval += top->options->interval_ns;
	if (top->next_interval <= now)
		top->next_interval = now + top->options->interval_ns;
	if (!top->passed)
		return 0;
	top->passed = false;
	err = outputs__print(&top->outputs);
	top->done++;
	return err;
}

static bool is_done(const struct top *top)
{
	return top->options->count && top->done >= top->options->count;
}

static enum session_end look_for_end(const struct top *top)
{
	if (signals__read(top->signals))
		return SESSION_SIGNAL;
	if (top->workload && workload__ended(top->workload))
		return SESSION_COMMAND_ENDED;
	if (top->outputs.screen)
		return screen__has_quit(top->outputs.screen) ? SESSION_SIGNAL : SESSION_GOES_ON;
	if (top->lost_targets)
		return SESSION_TARGETS_ENDED;
	return is_done(top) ? SESSION_FULL : SESSION_GOES_ON;
}

static int sample(struct top *top, enum session_end *end)
{
	uint64_t now;
	int err = 0;

	while (!err) {
		*end = look_for_end(top);
		if (*end)
			return 0;
		err = wait_for_more(top);
		now = clock__now_ns();
		if (!err && has_tables(top) && now >= top->next_interval)
			err = end_interval(top, now);
		if (!err && now >= top->schedule.due && !is_done(top))
			err = look(top, now);
		if (!err && top->outputs.screen)
			err = work_on_screen(top);
	}
	return err;
}

/* The table of an interval that was cut short is printed, too. */
static int finish(struct top *top)
{
	pid_t pid = 0;

	sampler__relax(top->sampler);
	outputs__leave_screen(&top->outputs);
	if (top->workload && !workload__ended(top->workload))
		pid = workload__pid(top->workload);
	signals__finish(top->signals, pid, 1);
	targets__warn_of_gone_groups(&top->options->sampler.targets);
	top->terminated = true;
	if (top->workload)
		workload__terminate(top->workload);
	return top->passed && !is_done(top) ? outputs__print(&top->outputs) : 0;
}

/* A COMMAND that is no target, or that -n ended, counts only if it ended by itself. */
static int final_status(const struct top *top, enum session_end end)
{
	bool counts = end == SESSION_COMMAND_ENDED || (top->pid && end != SESSION_FULL);
	char *const *command = top->options->session.command;

	return workload__final_status(top->workload, command ? command[0] : "", counts);
}

/* After a failure COMMAND goes on to its end. */
static void free_top(struct top *top)
{
	if (top->workload && !top->terminated && workload__is_released(top->workload) &&
	    !workload__ended(top->workload)) {
		signals__finish(top->signals, workload__pid(top->workload), 1);
		workload__wait(top->workload);
	}
	workload__delete(top->workload);
	sampler__delete(top->sampler);
	signals__delete(top->signals);
}

int top__run(const struct top_options *options, int *status)
{
	struct top top = { .options = options };
	enum session_end end = SESSION_GOES_ON;
	unsigned long errors = log__nr_errors();
	int err = start(&top);

	if (!err)
		err = sample(&top, &end);
	if (!err && end == SESSION_COMMAND_ENDED)
		err = workload__exec_error(top.workload);
	if (!err)
		err = finish(&top);
	err = outputs__close(&top.outputs, err);
	/* The reader of a pipe may have gone: that is no error. */
	if (err == -EPIPE)
		err = 0;
	if (!err)
		*status = final_status(&top, end);
	if (err && log__nr_errors() == errors)
		pr_err("sampling failed: %s", strerror(-err));
	free_top(&top);
	return err;
}
