/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/internal.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/units.h"
#include "machine/machine.h"
#include "record/sampling_event.h"
#include "record/cgroups.h"
#include "session/existing.h"
#include "session/targets.h"
#include "symbol/mount_ns.h"
#include "session/workload.h"

/* With --max-size, a ring is read once it holds this part of it, but not less than that. */
#define RECORDER_SIZE_PARTS 16
#define RECORDER_LEAST_WAKE 8192

/* Two recordings of the same load draw different blocks. */
static uint64_t make_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = clock__now_ns() ^ (uint64_t)getpid() << 32;
	return seed;
}

static enum callchain_mode callchain_mode(const struct recorder_options *options)
{
	if (!options->session.capture.stacks.copies.bytes)
		return CALLCHAIN_FP;
	return options->raw_stacks ? CALLCHAIN_RAW : CALLCHAIN_UNWIND;
}

/* When the map of chosen processes is full, the process stays in fp mode. */
static void choose(void *ctx, pid_t pid, bool chosen)
{
	int err = capture__choose(ctx, pid, chosen);

	if (err && chosen)
		pr_verbose("pid %d cannot be chosen: %s", (int)pid, strerror(-err));
}

/* The sink counts by the current level, and the file gets an event for it. */
static int sampling_changed(void *ctx, const struct sampling_level *level,
			    const struct rate_control_reason *reason)
{
	struct recorder *recorder = ctx;

	recorder->sink.level = *level;
	if (!recorder->options->tell_rates)
		return 0;
	return sampling_event__write(recorder->sink.writer, level, reason);
}

static uint64_t unwind_ns(void *ctx, uint64_t *gone_ns)
{
	const struct recorder *recorder = ctx;

	return callchain__cpu_ns(&recorder->sink.callchain, gone_ns);
}

static void init_rate_control(struct recorder *recorder)
{
	const struct recorder_options *options = recorder->options;
	const struct rate_control_options rate_control_options = {
		.period_ns = options->session.capture.period_ns,
		.threshold_ns = options->session.capture.threshold_ns,
		.max_overhead_ppm = options->max_overhead_ppm,
		.max_rate = options->max_rate,
		.between_windows = options->window_ns > NSEC_PER_SEC,
		.counts = &recorder->sink.counts,
		.changed = sampling_changed,
		.unwind_ns = unwind_ns,
		.ctx = recorder,
	};

	rate_control__init(&recorder->rate_control, &rate_control_options);
	recorder->sink.level = rate_control__level(&recorder->rate_control);
}

/* A ring must be read before it is half full, to notice that a file is full. */
static uint32_t wake_bytes(const struct recorder_options *options)
{
	uint64_t size = options->max_size / RECORDER_SIZE_PARTS;

	if (!options->max_size)
		return 0;
	return (uint32_t)min_u64(max_u64(size, RECORDER_LEAST_WAKE), UINT32_MAX);
}

static int start_capture(struct recorder *recorder)
{
	struct capture_options options = recorder->options->session.capture;
	uint16_t ids[TRACEPOINTS_MAX];
	struct capture_sink sink;
	int err;

	options.data_maps = recorder->options->raw_stacks;
	options.nr_tracepoints = recorder->tracepoints.nr;
	for (size_t i = 0; i < options.nr_tracepoints; i++)
		ids[i] = recorder->tracepoints.all[i].id;
	options.tracepoints = ids;
	init_rate_control(recorder);
	options.wake_bytes = wake_bytes(recorder->options);
	options.max_rate = recorder->options->max_rate;
	options.seed = make_seed();
	options.period_ns = recorder->sink.level.period_ns;
	recorder->sink.events.reasons = options.reasons;
	recorder->sink.events.idle_apart = !options.filter.idle;
	recorder->sink.events.split = options.split_runqueue;
	recorder->sink.events.one_event = recorder->options->one_event;
	recorder->machine = machine__new();
	if (!recorder->machine)
		return -ENOMEM;
	options.machine = recorder->machine;
	/* Any process on the machine may be a waker. */
	recorder->sink.selective = options.wakers && !options.targets.all;
	err = sink__init(&recorder->sink, recorder->machine, &sink,
			 callchain_mode(recorder->options));
	if (err)
		return err;
	err = session__capture(&recorder->session, &options, &sink);
	if (options.stacks.copies.chosen) {
		recorder->sink.callchain.choose = choose;
		recorder->sink.callchain.choose_ctx = recorder->session.capture;
	}
	/* With copies of blocked threads only, which come at the end, that process starts then. */
	recorder->sink.callchain.max_frames = options.stacks.max_frames;
	/* Our own processes are no targets by now. */
	if (!err && !options.stacks.copies.tables && capture__copies(recorder->session.capture))
		err = callchain__start(&recorder->sink.callchain, options.stacks.max_frames);
	return err;
}

/* The events of the file besides offcpu-time. */
static uint64_t other_events(const struct recorder *recorder)
{
	uint64_t events = 0;

	if (recorder->options->one_event)
		return 0;
	if (recorder->options->session.capture.split_runqueue)
		events |= 1ULL << WRITER_RUNQUEUE_TIME;
	if (recorder->options->session.capture.wakers)
		events |= 1ULL << WRITER_WAKEUP_TIME;
	if (recorder->options->session.capture.on_cpu.clock)
		events |= 1ULL << WRITER_ONCPU_TIME;
	if (recorder->sink.events.reasons)
		events |= 1ULL << WRITER_OFFCPU_WAIT;
	return events;
}

/*
 * Events that are in the file only if there are samples of them: perf report without options opens
 * a menu for a file with several events, even if some have no samples.
 */
static uint64_t perhaps_events(const struct recorder *recorder)
{
	uint64_t events = 0;

	if (recorder->options->one_event)
		return 0;
	if (recorder->sink.events.idle_apart)
		events |= 1ULL << WRITER_OFFCPU_IDLE;
	if (recorder->options->tell_rates)
		events |= 1ULL << WRITER_SAMPLING;
	return events;
}

static uint32_t raw_stack_bytes(const struct recorder *recorder)
{
	const struct recorder_options *options = recorder->options;

	return options->raw_stacks && capture__copies(recorder->session.capture)
		       ? options->session.capture.stacks.copies.bytes
		       : 0;
}

static int open_output(struct recorder *recorder)
{
	const struct recorder_options *options = recorder->options;
	const struct output_options output_options = {
		.writer = {
			.path = options->output,
			.events = other_events(recorder),
			.perhaps = perhaps_events(recorder),
			.one_event = options->one_event,
			.tracepoints = &recorder->tracepoints,
			.cgroups = options->session.capture.cgroups,
			.stack_bytes = raw_stack_bytes(recorder),
			.argc = options->argc,
			.argv = options->argv,
			.version = DENET_VERSION,
		},
		.rotation = options->rotation,
		.machine = recorder->machine,
		.sink = &recorder->sink,
		.build_ids = !options->no_build_ids,
		.fill_cache = options->fill_cache,
	};
	int err = output__init(&recorder->output, &output_options);

	sink__set_writer(&recorder->sink, recorder->output.writer);
	recorder->sink.dso_table = recorder->output.dso_table;
	return err;
}

static int tell_event(void *ctx, const struct task_event *event)
{
	struct recorder *recorder = ctx;

	return sink__synthesized(&recorder->sink, event);
}

/* True if the file has all processes, targets or not. */
static bool tells_all(const struct recorder *recorder)
{
	const struct capture_options *capture = &recorder->options->session.capture;

	return capture->targets.all || capture->wakers;
}

/* If the file has all processes, mount namespaces are read at a process's first sample. */
static int tell_task(void *ctx, const struct capture_task *task)
{
	struct recorder *recorder = ctx;
	struct dso_table *dso_table = recorder->sink.dso_table;

	if (task->target)
		sink__want(&recorder->sink, task->pid);
	if (!dso_table || task->pid != task->tid || tells_all(recorder))
		return 0;
	return mount_ns__look(dso_table, task->pid,
			      capture__tasks_seen(recorder->session.capture));
}

static int tell_comm(struct recorder *recorder, pid_t pid, const char *comm)
{
	const struct task_event event = { .kind = TASK_EVENT_COMM, .pid = pid, .tid = pid,
					  .comm = comm };

	return tell_event(recorder, &event);
}

/* Wakers without a record of the kernel or /proc; the capture's tasks do not include us. */
static int tell_strange_wakers(struct recorder *recorder)
{
	int err = tell_comm(recorder, (pid_t)CAPTURE_PID_INTERRUPT, "[interrupt]");

	if (!err)
		err = tell_comm(recorder, (pid_t)CAPTURE_PID_OUTSIDE, "[outside]");
	return err ? err : tell_comm(recorder, getpid(), log__program());
}

/* Writes the processes that existed when the capture started, to the front of the file. */
static int tell_existing(struct recorder *recorder)
{
	const struct capture_options *capture = &recorder->options->session.capture;
	struct existing_options existing = {
		.all = tells_all(recorder),
		.data_maps = raw_stack_bytes(recorder),
		.deadline_ms = RECORDER_DEADLINE_MS,
		.event = tell_event,
		.task = tell_task,
		.ctx = recorder,
	};
	int err;

	/*
	 * COMMAND is a fork of this process until its exec, at which perf drops no mapping: with
	 * two C libraries it would unwind by the wrong one.
	 */
	if (existing.data_maps && recorder->session.run.workload)
		existing.unmapped = workload__pid(recorder->session.run.workload);
	err = existing__tell_kernel(&existing, recorder->session.capture);
	if (!err && capture->cgroups)
		err = cgroups__write(recorder->output.writer);
	if (!err && capture->wakers)
		err = tell_strange_wakers(recorder);
	return err ? err : existing__tell_tasks(&existing, recorder->session.capture);
}

/* Called after the capture has started: if that fails, no file was touched. */
static int start_output(struct recorder *recorder)
{
	int err = open_output(recorder);

	if (!err)
		err = tell_existing(recorder);
	return err ? err : output__begin(&recorder->output, RECORDER_SWITCH_MS);
}

int recorder__start(struct recorder *recorder, const struct recorder_options *options)
{
	int err;

	*recorder = (struct recorder){ .options = options };
	findings__listen(&recorder->findings);
	err = options->tracepoints ?
		      tracepoint_list__read(&recorder->tracepoints, options->tracepoints, NULL) :
		      0;
	if (err)
		return err;
	err = session__init(&recorder->session, &options->session);
	if (!err)
		err = start_capture(recorder);
	if (!err)
		err = start_output(recorder);
	if (!err)
		err = session__release(&recorder->session);
	if (err)
		return err;
	rate_control__start(&recorder->rate_control, recorder->session.capture);
	recorder->window_end = recorder->session.started + options->window_ns;
	return recorder->session.run.begin ? 0 : rate_control__begin(&recorder->rate_control);
}

void recorder__free(struct recorder *recorder)
{
	sink__free(&recorder->sink);
	output__free(&recorder->output);
	findings__free(&recorder->findings);
	/* Last: until here a signal must not kill this process with the file half closed. */
	session__free(&recorder->session);
	machine__delete(recorder->machine);
	tracepoint_list__free(&recorder->tracepoints);
}
