/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/top.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpu_time.h"
#include "base/err_out.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/units.h"
#include "session/signals.h"
#include "top/outputs.h"
#include "top/own_cost.h"
#include "top/schedule.h"
#include "top/wall_time.h"

/* What has ended is read so often, and the buffer of it at the end for so long at most. */
#define READ_NS (20 * NSEC_PER_MSEC)
#define READ_LAST_NS (2 * NSEC_PER_SEC)
/* Reading ends so long before a look is due, but goes on for a little in any case. */
#define AHEAD_NS NSEC_PER_MSEC
#define READ_LEAST_NS (100 * NSEC_PER_USEC)
/* Signals, keys and what waits to be written are looked after so often meanwhile. */
#define READ_MOST_NS (200 * NSEC_PER_MSEC)
/* Of less than this that no look stands for nobody is warned. */
#define UNSEEN_NS NSEC_PER_SEC

struct top {
	const struct top_options *options;
	struct run run;
	struct sampler *sampler;
	struct outputs outputs;
	struct schedule schedule;
	struct own_cost cost;
	struct pollfd fds[1 + TTY_FDS]; /* signals, the screen */
	uint64_t next_interval; /* CLOCK_MONOTONIC */
	uint64_t done;		/* tables that were printed, or looks */
	uint64_t looks;		/* so far */
	uint64_t stackless_ns;	/* that those since the last one with stacks stood for */
	bool told_cost;		/* it was said that --max-overhead has a longer period */
	bool passed;		/* there was a look for tables since the last one */
	bool has_targets;	/* processes or threads were named, or COMMAND is the target */
	bool lost_targets;	/* in the latest look there was none any more */
	uint64_t lead; /* see wall_time.h */
};

/* COMMAND and what it starts are the targets if there are no others. */
static struct sampler_options sampler_of(struct top *top)
{
	struct sampler_options sampler = top->options->sampler;
	struct capture_targets *targets = &sampler.targets;

	if (run__add_command(&top->run, targets))
		targets->children = !targets->no_inherit;
	top->has_targets = targets->nr_pids || targets->nr_tids;
	return sampler;
}

static int start(struct top *top)
{
	const struct session_options *session = &top->options->session;
	struct sampler_options sampler;
	uint64_t now;
	int err = run__init(&top->run, session, false);

	if (err)
		return err;
	sampler = sampler_of(top);
	top->sampler = sampler__new(&sampler, &err);
	if (!top->sampler)
		return err;
	err = outputs__open(&top->outputs, &top->options->outputs);
	if (!err)
		err = run__release(&top->run);
	now = clock__now_ns() + session->delay_ns;
	schedule__init(&top->schedule, top->options->period_ns, now, now);
	top->next_interval = now + top->options->interval_ns;
	own_cost__init(&top->cost, top->options->max_overhead_ppm, top->options->period_ns,
		       TOP_MAX_PERIOD_NS, now, own_cost__cpu_ns());
	return err;
}

static bool has_tables(const struct top *top)
{
	return top->options->outputs.tables;
}

static bool reads_ended(const struct top *top)
{
	return top->options->sampler.track.records;
}

static int poll_until(struct top *top, uint64_t due)
{
	uint64_t now = clock__now_ns(), ns = due > now ? due - now : 0;
	struct timespec timeout = { .tv_sec = (time_t)(ns / NSEC_PER_SEC),
				    .tv_nsec = (long)(ns % NSEC_PER_SEC) };

	return ppoll(top->fds, top->outputs.screen ? 1 + TTY_FDS : 1, &timeout, NULL) < 0 &&
			       errno != EINTR
		       ? -errno : 0;
}

/* Waits for a signal, a key, or the time of the next look, table or drawing. */
static int wait_for_more(struct top *top)
{
	uint64_t now = clock__now_ns(), due = top->schedule.due;
	struct screen *screen = top->outputs.screen;
	int err;

	if (has_tables(top))
		due = min_u64(due, top->next_interval);
	if (screen) {
		screen__poll(screen, top->fds + 1);
		due = min_u64(due, screen__due(screen));
	}
	top->fds[0] = (struct pollfd){ .fd = signals__fd(top->run.signals), .events = POLLIN };
	if (reads_ended(top) && due > now + READ_NS + AHEAD_NS)
		due = now + READ_NS;
	err_out__flush();
	err = outputs__tick(&top->outputs, now, due);
	if (err)
		return err;
	if (due == top->schedule.due)
		sampler__expect(top->sampler, top->schedule.period_ns);
	return poll_until(top, due);
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

static int take_user_stack(void *ctx, const struct top_pass *pass,
			   const struct thread_sample *sample)
{
	struct top *top = ctx;

	(void)pass;
	return outputs__learn(&top->outputs, sample);
}

/* The names that its user stacks lack are looked up all at once. */
static int give_threads(struct top *top, const struct top_pass *pass)
{
	int err = sampler__user_stacks(top->sampler, pass, take_user_stack, top);

	if (!err)
		err = outputs__learned(&top->outputs);
	return err ? err : sampler__threads(top->sampler, pass, take_sample, top);
}

static bool exists(pid_t id)
{
	return !kill(id, 0) || errno == EPERM;
}

/* Whether one of the named processes and threads is there, whatever other options leave out. */
static bool has_named(const struct top *top)
{
	const struct capture_targets *targets = &top->options->sampler.targets;
	bool found = top->run.target && exists(top->run.target);

	for (size_t i = 0; i < targets->nr_pids && !found; i++)
		found = exists(targets->pids[i]);
	for (size_t i = 0; i < targets->nr_tids && !found; i++)
		found = exists(targets->tids[i]);
	return found;
}

/* They may have ended before the first look, and children of theirs may live on. */
static void look_for_targets(struct top *top, const struct top_wire_counts *counts)
{
	bool lost = top->has_targets && !counts->targets && !has_named(top);

	if (lost && !top->lost_targets && top->outputs.screen)
		pr_info("the targets have ended; q ends denet-top");
	top->lost_targets = lost;
}

/* One warning; further steps are told with -v. */
static void tell_period(struct top *top, uint64_t before)
{
	double percent = (double)top->cost.ppm / 1e4;
	bool is_first = !top->told_cost && top->cost.period_ns > before;
	char time[32];

	units__format_time(top->cost.period_ns, time, sizeof(time));
	if (top->cost.period_ns > before)
		log__print(is_first ? LOG_WARNING : LOG_VERBOSE,
			   "own CPU time is %.1f %% of a CPU, more than --max-overhead: from now "
			   "on, while that is so, there is a look each %s",
			   percent, time);
	else
		pr_verbose("own CPU time is %.1f %% of a CPU: there is a look each %s", percent,
			   time);
	top->told_cost |= is_first;
}

static void watch_cost(struct top *top)
{
	uint64_t cpu_ns = own_cost__cpu_ns() + sampler__helpers_cpu_ns(top->sampler);
	uint64_t before = top->cost.period_ns;

	if (!own_cost__look(&top->cost, clock__now_ns(), cpu_ns))
		return;
	schedule__set_period(&top->schedule, top->cost.period_ns);
	tell_period(top, before);
}

/* The first look takes stacks, and then each Nth, which stands for those before it as well. */
static void choose_stacks(struct top *top, struct top_pass *pass)
{
	pass->has_stacks = top->looks % top->options->stack_every == 0;
	top->looks++;
	top->stackless_ns += pass->weight_ns;
	if (!pass->has_stacks)
		return;
	pass->stacks_ns = top->stackless_ns;
	top->stackless_ns = 0;
}

static int look(struct top *top, uint64_t now)
{
	struct top_pass pass = { .time = now, .wall_ns = now + wall_time__steady_lead(&top->lead) };
	int err;

	pass.unseen_ns = top->schedule.unseen_ns;
	pass.weight_ns = schedule__take(&top->schedule, now);
	pass.unseen_ns = top->schedule.unseen_ns - pass.unseen_ns;
	pass.own_ppm = top->cost.ppm;
	choose_stacks(top, &pass);
	err = outputs__begin(&top->outputs, &pass);
	if (!err)
		err = sampler__pass(top->sampler, &pass);
	if (!err)
		err = give_threads(top, &pass);
	if (err)
		return err;
	top->passed |= outputs__is_in_tables(&top->outputs, &pass);
	look_for_targets(top, &pass.counts);
	if (!has_tables(top))
		top->done++;
	err = outputs__end(&top->outputs, &pass);
	watch_cost(top);
	return err;
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
	err = outputs__print(&top->outputs, own_cost__tell(&top->cost, now));
	top->done++;
	return err;
}

static int take_ended(void *ctx, const void *data, size_t size)
{
	struct top *top = ctx;

	return outputs__complete(&top->outputs, data, size);
}

/* Calls and requests that have ended, until a time. */
static int read_ended(struct top *top, uint64_t until)
{
	uint64_t now = clock__now_ns();

	until = max_u64(min_u64(until, now + READ_MOST_NS), now + READ_LEAST_NS);
	return sampler__read_ended(top->sampler, until, take_ended, top);
}

/* As far as --max-overhead allows it; looks come first. */
static int read_some_ended(struct top *top)
{
	uint64_t now = clock__now_ns(), before = cpu_time__of(RUSAGE_SELF);
	uint64_t allowance = own_cost__allowance(&top->cost, now);
	uint64_t until = top->schedule.due - AHEAD_NS;
	int err;

	if (!allowance || !reads_ended(top))
		return 0;
	if (allowance != UINT64_MAX)
		until = min_u64(until, now + allowance);
	err = read_ended(top, until);
	own_cost__spend(&top->cost, cpu_time__of(RUSAGE_SELF) - before);
	return err;
}

static bool is_done(const struct top *top)
{
	return top->options->count && top->done >= top->options->count;
}

static enum session_end look_for_end(struct top *top)
{
	enum session_end end = run__look_for_end(&top->run);

	if (end)
		return end;
	if (top->outputs.screen && screen__has_quit(top->outputs.screen))
		return SESSION_SIGNAL;
	/* The screen stays, for what it has seen of them. */
	if (top->lost_targets && !top->outputs.screen)
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
		if (!err)
			err = read_some_ended(top);
		if (!err && top->outputs.screen)
			err = work_on_screen(top);
	}
	return err;
}

static void warn_of_unseen(const struct top *top)
{
	char time[32];

	if (top->schedule.unseen_ns < UNSEEN_NS)
		return;
	units__format_time(top->schedule.unseen_ns, time, sizeof(time));
	pr_warn("%s were not looked at, and no look stands for them: denet-top was stopped, had "
		"no CPU, or took long for a look", time);
}

/* The table of an interval that was cut short is printed, too. */
static int finish(struct top *top)
{
	uint64_t now = clock__now_ns();
	int err;

	sampler__relax(top->sampler);
	outputs__leave_screen(&top->outputs);
	err = sampler__read_last(top->sampler, now + READ_LAST_NS, take_ended, top);
	sampler__warn_of_losses(top->sampler, top->cost.used_up);
	warn_of_unseen(top);
	run__finish(&top->run);
	run__terminate(&top->run);
	pr_verbose("%" PRIu64 " looks, for %.2f %% of a CPU", top->looks,
		   (double)own_cost__mean(&top->cost, now) / 1e4);
	if (err || !top->passed || is_done(top))
		return err;
	return outputs__print(&top->outputs, own_cost__tell(&top->cost, now));
}

/* The status of a COMMAND that -n ended does not count. */
static int final_status(struct top *top, enum session_end end)
{
	int status = run__final_status(&top->run, end);

	return end == SESSION_FULL ? 0 : status;
}

int top__run(const struct top_options *options, int *status)
{
	struct top top = { .options = options };
	enum session_end end = SESSION_GOES_ON;
	unsigned long errors = log__nr_errors();
	int err = start(&top);

	if (!err)
		err = sample(&top, &end);
	if (!err)
		err = run__exec_error(&top.run, end);
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
	sampler__delete(top.sampler);
	run__free(&top.run);
	return err;
}
