/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/stat.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/err_out.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/units.h"
#include "base/whole_file.h"
#include "bpf/stat.h"
#include "capture/alive.h"
#include "capture/reason.h"
#include "capture/settings.h"
#include "session/signals.h"
#include "session/status.h"
#include "session/targets.h"
#include "session/workload.h"
#include "stat/collect.h"
#include "stat/holders.h"
#include "stat/interval.h"
#include "stat/json_lines.h"
#include "stat/proc_fallback.h"
#include "stat/table.h"
#include "stat/tree.h"
#include "stat/typed_calls.h"

_Static_assert((int)TYPED_CALLS_RECEIVE == STAT_WIRE_WAIT_RECEIVE &&
		       (int)TYPED_CALLS_SEND == STAT_WIRE_WAIT_SEND,
	       "one order of waits");

/* How often targets are looked for that ended, or were born, unseen. */
#define LOOK_NS NSEC_PER_SEC
/* How long COMMAND may take to run its program, before the first line of JSON is written. */
#define EXEC_NS (500 * NSEC_PER_MSEC)
/* How often /proc is read where there is no BPF: what threads do after the last time is missing. */
#define FALLBACK_NS (50 * NSEC_PER_MSEC)
/*
 * When processes are first looked at for their memory, which has gone once they end; then as late
 * again as the measurement is old, up to LOOK_NS.
 */
#define SAMPLE_NS (10 * NSEC_PER_MSEC)

struct measurement {
	const struct stat_options *options;
	struct run run;
	struct stat_programs *programs; /* NULL: there is no BPF, and the figures are from /proc */
	struct proc_fallback *fallback;
	char cause[512];		/* of that */
	struct tree tree;
	struct base_interval base; /* of the table */
	uint64_t next_sample;	   /* CLOCK_MONOTONIC; UINT64_MAX: only where lines are printed */
	struct alive alive;
	struct status *status;
	struct whole_file output;
	struct buffer tasks; /* struct capture_task: those that lived at the start */
	struct stat_data data;	 /* of the latest reading */
	uint64_t first_ns;	 /* CLOCK_MONOTONIC: the start */
	uint64_t next_interval;	 /* CLOCK_MONOTONIC; UINT64_MAX: there are none */
	uint64_t released;   /* CLOCK_MONOTONIC */
	uint64_t next_look;
	bool seen_end;	     /* the tree is that of COMMAND's end */
};

static int keep_tasks(void *ctx, const void *data, size_t size)
{
	struct measurement *stat = ctx;
	struct capture_task task;
	struct wire_task wire;
	int err = 0;

	for (size_t at = 0; at + sizeof(wire) <= size && !err; at += sizeof(wire)) {
		memcpy(&wire, (const char *)data + at, sizeof(wire));
		task = (struct capture_task){
			.pid = (pid_t)wire.pid,
			.tid = (pid_t)wire.tid,
			.ppid = (pid_t)wire.ppid,
			.target = wire.flags & WIRE_TASK_TARGET,
			.kthread = wire.flags & WIRE_TASK_KTHREAD,
		};
		if (!(wire.flags & WIRE_TASK_OWN))
			err = buffer__append(&stat->tasks, &task, sizeof(task));
	}
	return err;
}

/* The targets, with COMMAND among them if there are no others. */
static struct capture_options capture_of(const struct measurement *stat)
{
	struct capture_options capture = stat->options->session.capture;

	run__add_command(&stat->run, &capture.targets);
	capture.on_cpu.clock = CAPTURE_CLOCK_CPU;
	return capture;
}

/*
 * Without BPF, /proc has running and runnable time of threads. It knows no users, cgroups and CPUs
 * of the time that they spent: these filters are an error.
 */
static int begin_fallback(struct measurement *stat, const struct capture_targets *targets, int err)
{
	stat_programs__explain(err, stat->cause, sizeof(stat->cause));
	if (targets->nr_uids || targets->nr_groups || targets->cpu_bits ||
	    stat->options->session.delay_ns) {
		pr_err("%s", stat->cause);
		return err;
	}
	pr_warn("the figures are from /proc, without states, lengths, system calls and waits, and "
		"without threads that end soon: %s",
		stat->cause);
	stat->fallback = proc_fallback__new();
	return stat->fallback ? 0 : -ENOMEM;
}

/* Loads the programs, and gives them the targets. */
static int load_programs(struct measurement *stat, const struct capture_options *capture)
{
	struct ksyms_cache symbols = { 0 };
	struct stat_programs_config config;
	struct offcpu_config settings;
	__u8 typed[WIRE_MAX_CALLS], sockets[WIRE_MAX_CALLS];
	uint32_t parts = stat->options->parts;
	int err = settings__make(&settings, capture, &symbols);

	ksyms_cache__drop(&symbols);
	if (err)
		return err;
	typed_calls__mark(typed, WIRE_MAX_CALLS);
	typed_calls__mark_sockets(sockets, WIRE_MAX_CALLS);
	reason__classify(settings.calls);
	config = (struct stat_programs_config){
		.settings = &settings.settings,
		.nr_targets = settings.nr_targets,
		.calls = parts & STAT_PART_CALLS,
		.call_times = parts & STAT_PART_CALL_TIMES,
		.sigreturn = typed_calls__sigreturn(),
		.locks = parts & STAT_PART_LOCKS,
		.io = parts & STAT_PART_IO,
		.sockets = parts & STAT_PART_SOCKETS,
		.typed = typed,
		.classes = settings.calls,
		.socket_calls = sockets,
	};
	stat->programs = stat_programs__new(&config, &err);
	if (!stat->programs)
		return begin_fallback(stat, &capture->targets, err);
	return settings__add_targets(&capture->targets, stat_programs__targets(stat->programs));
}

/* The kernel may hide a target that /proc shows. */
static int look_for_targets(const struct measurement *stat)
{
	const struct session_options *session = &stat->options->session;
	const struct capture_task *tasks = (const void *)stat->tasks.data;

	return targets__look(&session->capture.targets, tasks, stat->tasks.len / sizeof(*tasks),
			     session->noun);
}

static int begin(struct measurement *stat)
{
	int err = stat_programs__begin(stat->programs, &stat->first_ns);

	stat->run.begin = 0;
	stat->data.start_real_ms = clock__real_ms();
	stat->data.end_ns = stat->first_ns;
	if (stat->options->interval_ns)
		stat->next_interval = stat->first_ns + stat->options->interval_ns;
	if (err)
		pr_err("cannot read the threads that are blocked at the start: %s", strerror(-err));
	if (!err && stat->options->parts & STAT_PART_LOCKS)
		err = holders__learn(stat->programs);
	return err;
}

/* Whether COMMAND still is a copy of this program, unless that is what it runs. */
static bool is_before_exec(const struct measurement *stat)
{
	char path[32], own[PATH_MAX], its[PATH_MAX];
	ssize_t own_len, its_len;

	if (stat->released && clock__now_ns() > stat->released + EXEC_NS)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/exe", workload__pid(stat->run.workload));
	own_len = readlink("/proc/self/exe", own, sizeof(own));
	its_len = readlink(path, its, sizeof(its));
	return own_len > 0 && its_len == own_len && !memcmp(own, its, (size_t)own_len);
}

/* COMMAND is the first process of the tree. */
static bool is_of_command(const struct measurement *stat)
{
	return stat->run.workload && stat->tree.first == workload__pid(stat->run.workload);
}

/* These are known by the figures only, where there is BPF. */
static bool has_filter(const struct measurement *stat)
{
	const struct capture_targets *targets = &stat->options->session.capture.targets;

	return targets->nr_uids || targets->nr_groups;
}

/* Reads the state of the processes; where there is no BPF, that of their threads as well. */
static int look_at_tree(struct measurement *stat)
{
	const struct buffer *pids = &stat->tree.pids;
	int err = tree__sample(&stat->tree);

	if (!err && !has_filter(stat) && !(is_of_command(stat) && is_before_exec(stat)))
		base_metrics__take(&stat->base.now, &stat->tree.sample);
	if (err || !stat->fallback)
		return err;
	return proc_fallback__look(stat->fallback, (const pid_t *)(const void *)pids->data,
				   pids->len / sizeof(pid_t));
}

/* The first look is the start of the measurement. */
static int begin_tree(struct measurement *stat, const struct capture_targets *targets)
{
	int err = tree__init(&stat->tree, targets, stat->options->alone);

	return err ? err : look_at_tree(stat);
}

/* The delay is over: what the processes did before does not count. */
static int begin_late(struct measurement *stat)
{
	const struct capture_options capture = capture_of(stat);
	int err;

	tree__free(&stat->tree);
	stat->base.now = (struct base_metrics){ 0 };
	err = begin_tree(stat, &capture.targets);
	return err ? err : begin(stat);
}

/*
 * A line on COMMAND has the program that it runs, which it does a moment after it was released. One
 * that has ended by then has none.
 */
static void wait_for_exec(const struct measurement *stat)
{
	const struct timespec pause = { 0, NSEC_PER_MSEC };

	while (is_before_exec(stat))
		nanosleep(&pause, NULL);
}

/*
 * Lines are made in memory and written at once: so the reason of a failure is that of the write,
 * whichever buffer was full in between.
 */
struct lines {
	FILE *out;
	char *text;
	size_t len;
};

static int lines__begin(struct lines *lines)
{
	*lines = (struct lines){ 0 };
	lines->out = open_memstream(&lines->text, &lines->len);
	return lines->out ? 0 : -errno;
}

/* Writes the lines unless making them failed with err. 0, err or a negative errno. */
static int lines__end(struct lines *lines, int err, FILE *out)
{
	if (fclose(lines->out) && !err)
		err = -errno;
	if (!err && (fwrite(lines->text, 1, lines->len, out) != lines->len || fflush(out)))
		err = errno ? -errno : -EIO;
	free(lines->text);
	return err;
}

static int report_write_error(const struct measurement *stat, int err)
{
	/* The reader of a pipe may have gone: that is no error. */
	if (err && err != -EPIPE)
		pr_err("cannot write %s: %s", stat->options->output, strerror(-err));
	return err;
}

/* The lines of JSON that come before the figures. */
static int print_head(struct measurement *stat)
{
	struct json_target target = { .start_ms = stat->data.start_real_ms };
	struct lines lines;
	int err;

	if (!stat->options->json)
		return 0;
	target.pid = stat->tree.first;
	if (is_of_command(stat)) {
		target.argv = (const char *const *)stat->options->session.command;
		wait_for_exec(stat);
	}
	err = lines__begin(&lines);
	if (err)
		return err;
	if (stat->options->env)
		err = json_lines__env(target.pid, target.start_ms, lines.out);
	if (!err)
		err = json_lines__metadata(&target, lines.out);
	return report_write_error(stat, lines__end(&lines, err, stat->output.out));
}

static int attach(struct measurement *stat)
{
	int err = stat->programs ? stat_programs__attach(stat->programs) : 0;

	if (err || !stat->programs)
		return err;
	err = stat_programs__enlist(stat->programs, keep_tasks, stat);
	if (err) {
		pr_err("cannot iterate over the tasks: %s", strerror(-err));
		return err;
	}
	err = look_for_targets(stat);
	if (!err && !stat->options->session.delay_ns)
		err = begin(stat);
	return err;
}

static int release(struct measurement *stat)
{
	uint64_t delay = stat->options->session.delay_ns;
	int err;

	if (stat->run.workload && stat->programs)
		stat_programs__release(stat->programs, workload__pid(stat->run.workload));
	err = run__release(&stat->run);
	if (err)
		return err;
	stat->released = clock__now_ns();
	if (!stat->data.start_real_ms)
		stat->data.start_real_ms = clock__real_ms();
	stat->run.begin = delay ? stat->released + delay : 0;
	stat->next_look = stat->released + (stat->fallback ? FALLBACK_NS : LOOK_NS);
	/* The machine's processes, and those of filters, are looked at where lines are printed. */
	if (stat->tree.first && !stat->options->json && !has_filter(stat))
		stat->next_sample = stat->released + SAMPLE_NS;
	stat->status = status__new(stat->options->session.quiet);
	return 0;
}

static int start(struct measurement *stat)
{
	struct capture_options capture;
	int err = whole_file__open(&stat->output, stat->options->output);

	if (err) {
		pr_err("cannot write %s: %s", stat->options->output, strerror(-err));
		return err;
	}
	err = run__init(&stat->run, &stat->options->session, false);
	if (err)
		return err;
	capture = capture_of(stat);
	err = load_programs(stat, &capture);
	if (!err)
		err = attach(stat);
	if (!err)
		err = begin_tree(stat, &capture.targets);
	if (!err)
		err = release(stat);
	return err ? err : print_head(stat);
}

/* Waits for a signal, the end of the last target, or the time at which something is due. */
static int wait_for_more(const struct measurement *stat)
{
	uint64_t now = clock__now_ns(), due = min_u64(stat->next_look, stat->next_interval);
	struct pollfd fds[] = {
		{ .fd = signals__fd(stat->run.signals), .events = POLLIN },
		{ .fd = -1, .events = POLLIN },
	};
	int timeout;

	due = min_u64(due, stat->next_sample);
	/* COMMAND's own end is a signal. */
	if (run__has_targets(&stat->run) && stat->programs)
		fds[1].fd = target_maps__bell(stat_programs__targets(stat->programs));
	if (stat->run.begin)
		due = min_u64(due, stat->run.begin);
	timeout = due <= now ? 0 : (int)((due - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);
	err_out__flush();
	return poll(fds, 2, timeout) < 0 && errno != EINTR ? -errno : 0;
}

static bool has_living_targets(struct measurement *stat)
{
	if (!stat->programs)
		return stat->tree.pids.len != 0;
	return alive__any(&stat->alive, stat_programs__targets(stat->programs));
}

static enum session_end look_for_end(struct measurement *stat)
{
	enum session_end end = run__look_for_end(&stat->run);

	if (!end && run__has_targets(&stat->run) && !has_living_targets(stat))
		return SESSION_TARGETS_ENDED;
	return end;
}

/* A line of JSON has all since the start, as denet's have. */
static int print_line(struct measurement *stat, const struct stat_data *data)
{
	struct lines lines;
	int err = lines__begin(&lines);

	if (err)
		return err;
	err = stat->options->alone ? json_lines__sample(&stat->tree.sample, data, lines.out) :
				     json_lines__tree(&stat->tree.sample, data, lines.out);
	return lines__end(&lines, err, stat->output.out);
}

static int print(struct measurement *stat, const struct stat_data *data)
{
	int err = stat->options->json ?
			  print_line(stat, data) :
			  stat_table__print(data, &stat->base, &stat->options->form,
					    stat->output.out);

	return report_write_error(stat, err);
}

static int fill_by_proc(const struct measurement *stat, struct stat_data *data)
{
	struct capture_options capture = capture_of(stat);

	return proc_fallback__fill(stat->fallback, &capture.targets, data);
}

/* Reads the figures up to end_ns. */
static int read_figures(struct measurement *stat, uint64_t end_ns, struct stat_data *data)
{
	const uint64_t start_real_ms = stat->data.start_real_ms;
	int err = stat->seen_end ? 0 : look_at_tree(stat);

	if (!err && stat->fallback)
		err = fill_by_proc(stat, data);
	else if (!err)
		err = stat_collect(stat->programs, data);
	if (err) {
		pr_err("cannot read the counters: %s", strerror(-err));
		return err;
	}
	if (!stat->fallback) {
		data->start_ns = stat->first_ns;
		data->end_ns = end_ns;
		data->parts = stat->options->parts;
	} else {
		data->error = stat->cause;
	}
	data->start_real_ms = start_real_ms;
	data->end_real_ms = clock__real_ms();
	if (has_filter(stat))
		base_metrics__take_known(&stat->base.now, &stat->tree.sample, data);
	return 0;
}

/* Prints what came since the last time, or all. */
static int read_and_print(struct measurement *stat, uint64_t end_ns)
{
	bool is_interval = stat->options->interval_ns && !stat->options->json;
	struct stat_data interval = { 0 }, data = { 0 };
	int err = read_figures(stat, end_ns, &data);

	if (!err && is_interval)
		err = stat_interval__between(&stat->data, &data, &interval);
	if (!err)
		err = print(stat, is_interval ? &interval : &data);
	if (is_interval)
		stat->base.before = stat->base.now;
	stat_data__free(&interval);
	stat_data__free(&stat->data);
	stat->data = data;
	return err;
}

static int end_interval(struct measurement *stat, uint64_t now)
{
	stat->next_interval += stat->options->interval_ns;
	if (stat->next_interval <= now)
		stat->next_interval = now + stat->options->interval_ns;
	status__delete(stat->status);
	stat->status = status__new(stat->options->session.quiet);
	return read_and_print(stat, now);
}

static int look_at_targets(struct measurement *stat, uint64_t now)
{
	const struct target_maps *targets = stat_programs__targets(stat->programs);
	int64_t alive = target_maps__alive(targets);

	stat->next_look = now + LOOK_NS;
	alive__adopt_strays(&stat->alive, targets);
	status__show_counting(stat->status, now - stat->released, alive > 0 ? (uint64_t)alive : 0);
	return 0;
}

static int look_at_proc(struct measurement *stat, uint64_t now)
{
	stat->next_look = now + FALLBACK_NS;
	status__show_counting(stat->status, now - stat->released, stat->tree.sample.total.threads);
	return look_at_tree(stat);
}

static int do_what_is_due(struct measurement *stat)
{
	uint64_t now = clock__now_ns();

	if (stat->run.begin && now >= stat->run.begin)
		return begin_late(stat);
	if (now >= stat->next_interval)
		return end_interval(stat, now);
	if (now >= stat->next_sample) {
		stat->next_sample = now + min_u64(now - stat->released, LOOK_NS);
		return look_at_tree(stat);
	}
	if (now < stat->next_look)
		return 0;
	return stat->fallback ? look_at_proc(stat, now) : look_at_targets(stat, now);
}

/* Until COMMAND is waited for, /proc has the last of its counters. */
static int look_at_end(struct measurement *stat)
{
	if (!stat->run.workload || stat->seen_end || !workload__is_zombie(stat->run.workload))
		return 0;
	stat->seen_end = true;
	return look_at_tree(stat);
}

static int count(struct measurement *stat, enum session_end *end)
{
	int err = 0;

	while (!err) {
		err = look_at_end(stat);
		if (err)
			return err;
		*end = look_for_end(stat);
		if (*end)
			return 0;
		err = wait_for_more(stat);
		if (!err)
			err = do_what_is_due(stat);
	}
	return err;
}

static int finish(struct measurement *stat)
{
	uint64_t end_ns;
	int err;

	run__finish(&stat->run);
	end_ns = clock__now_ns();
	err = stat->programs ? stat_programs__end(stat->programs, &end_ns) : 0;
	/* Before COMMAND is told to end, and loses its memory. */
	if (!err && !stat->seen_end)
		err = look_at_tree(stat);
	stat->seen_end = true;
	if (is_of_command(stat) && workload__ended(stat->run.workload))
		base_metrics__raise_peak(&stat->base.now, workload__peak_kb(stat->run.workload));
	run__terminate(&stat->run);
	status__delete(stat->status);
	stat->status = NULL;
	if (!err)
		err = read_and_print(stat, end_ns);
	return whole_file__close(&stat->output, err);
}

static void free_stat(struct measurement *stat)
{
	if (stat->output.out)
		whole_file__close(&stat->output, -ECANCELED);
	status__delete(stat->status);
	stat_programs__delete(stat->programs);
	proc_fallback__delete(stat->fallback);
	tree__free(&stat->tree);
	stat_data__free(&stat->data);
	buffer__free(&stat->tasks);
	run__free(&stat->run);
}

int stat__run(const struct stat_options *options, int *status)
{
	struct measurement stat = {
		.options = options,
		.next_interval = UINT64_MAX,
		.next_sample = UINT64_MAX,
	};
	enum session_end end = SESSION_GOES_ON;
	unsigned long errors = log__nr_errors();
	int err = start(&stat);

	if (!err)
		err = count(&stat, &end);
	if (!err)
		err = run__exec_error(&stat.run, end);
	if (!err)
		err = finish(&stat);
	if (err == -EPIPE)
		err = 0;
	if (!err)
		*status = run__final_status(&stat.run, end);
	if (err && log__nr_errors() == errors)
		pr_err("the measurement failed: %s", strerror(-err));
	free_stat(&stat);
	return err;
}
