/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/recording.h"

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
#include "record/synthesize.h"
#include "session/targets.h"
#include "session/workload.h"

/* With --max-size, a ring with such a part of it is read, but not for less than that. */
#define RECORDING_SIZE_PARTS 16
#define RECORDING_LEAST_WAKE 8192

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
	if (!options->capture.copy_bytes)
		return CALLCHAIN_FP;
	return options->raw_stacks ? CALLCHAIN_RAW : CALLCHAIN_UNWIND;
}

/* Who cannot be chosen, since there are too many, keeps its frame pointers. */
static void choose(void *ctx, pid_t pid, bool chosen)
{
	int err = capture__choose(ctx, pid, chosen);

	if (err && chosen)
		pr_verbose("pid %d cannot be chosen: %s", (int)pid, strerror(-err));
}

/* The sink counts by what is in force, and the file tells it. */
static int sampling_changed(void *ctx, const struct sampling_level *level,
			    const struct rate_control_reason *reason)
{
	struct recording *recording = ctx;

	recording->sink.level = *level;
	return sampling_event__write(recording->sink.writer, level, reason);
}

static uint64_t unwind_ns(void *ctx, uint64_t *gone_ns)
{
	const struct recording *recording = ctx;

	return callchain__cpu_ns(&recording->sink.callchain, gone_ns);
}

static void init_rate_control(struct recording *recording)
{
	const struct recorder_options *options = recording->options;
	const struct rate_control_options rate_control_options = {
		.period_ns = options->capture.period_ns,
		.threshold_ns = options->capture.threshold_ns,
		.max_overhead_ppm = options->max_overhead_ppm,
		.max_rate = options->max_rate,
		.threads = targets__threads(&options->capture),
		.between_windows = options->window_ns > NSEC_PER_SEC,
		.counts = &recording->sink.counts,
		.changed = sampling_changed,
		.unwind_ns = unwind_ns,
		.ctx = recording,
	};

	rate_control__init(&recording->rate_control, &rate_control_options);
	recording->sink.level = rate_control__level(&recording->rate_control);
}

/* What has to be noticed before a ring is half full: too many samples, a file that is full. */
static uint32_t wake_bytes(const struct recording *recording)
{
	const struct recorder_options *options = recording->options;
	uint64_t rate, size = options->max_size / RECORDING_SIZE_PARTS;

	rate = sampling__wake_bytes(&recording->rate_control.sampling, options->capture.copy_bytes);
	if (!options->max_size)
		return (uint32_t)rate;
	if (size < RECORDING_LEAST_WAKE)
		size = RECORDING_LEAST_WAKE;
	return (uint32_t)min_u64(rate ? rate : UINT32_MAX, min_u64(size, UINT32_MAX));
}

static int start_capture(struct recording *recording)
{
	struct capture_options options = recording->options->capture;
	struct capture_sink sink;
	int err;

	options.data_maps = recording->options->raw_stacks;
	init_rate_control(recording);
	options.wake_bytes = wake_bytes(recording);
	options.seed = make_seed();
	options.period_ns = recording->sink.level.period_ns;
	recording->sink.events.reasons = options.reasons;
	/* By their kernel chains, without which none is known. */
	recording->sink.events.idle_apart = !options.idle && options.kernel_stacks;
	recording->sink.events.split = options.split_runqueue;
	recording->machine = machine__new();
	if (!recording->machine)
		return -ENOMEM;
	options.machine = recording->machine;
	err = sink__init(&recording->sink, recording->machine, &sink,
			 callchain_mode(recording->options));
	if (err)
		return err;
	err = session__capture(&recording->run, &options, &sink);
	if (options.copy_chosen) {
		recording->sink.callchain.choose = choose;
		recording->sink.callchain.choose_ctx = recording->run.capture;
	}
	/* After that a process of ours is no target. */
	if (!err && capture__copies(recording->run.capture))
		err = callchain__start(&recording->sink.callchain, options.max_frames);
	return err;
}

/* The events of the file besides offcpu-time. */
static uint64_t other_events(const struct recording *recording)
{
	uint64_t events = 0;

	if (recording->sink.events.idle_apart)
		events |= 1ULL << WRITER_OFFCPU_IDLE;
	if (recording->options->capture.split_runqueue)
		events |= 1ULL << WRITER_RUNQUEUE_TIME;
	if (recording->options->capture.wakers)
		events |= 1ULL << WRITER_WAKEUP_TIME;
	if (recording->sink.events.reasons)
		events |= 1ULL << WRITER_OFFCPU_WAIT;
	return events;
}

static uint32_t raw_stack_bytes(const struct recording *recording)
{
	const struct recorder_options *options = recording->options;

	return options->raw_stacks && capture__copies(recording->run.capture)
		       ? options->capture.copy_bytes
		       : 0;
}

static int open_output(struct recording *recording)
{
	const struct recorder_options *options = recording->options;
	const struct output_options output_options = {
		.writer = {
			.path = options->output,
			.events = other_events(recording),
			.perhaps = 1ULL << WRITER_SAMPLING,
			.cgroups = options->capture.cgroups,
			.stack_bytes = raw_stack_bytes(recording),
			.argc = options->argc,
			.argv = options->argv,
			.version = DENET_VERSION,
		},
		.rotation = options->rotation,
		.machine = recording->machine,
		.build_ids = !options->no_build_ids,
		.fill_cache = options->fill_cache,
	};
	int err = output__init(&recording->output, &output_options);

	sink__set_writer(&recording->sink, recording->output.writer);
	recording->sink.dso_table = recording->output.dso_table;
	return err;
}

/* Comes after the capture has started: if that fails, no file was touched. */
static int start_output(struct recording *recording)
{
	const struct recorder_options *options = recording->options;
	struct synthesize_options synthesize = {
		.all = options->capture.all || options->capture.wakers,
		.wakers = options->capture.wakers,
		.data_maps = raw_stack_bytes(recording),
		.cgroups = options->capture.cgroups,
		.deadline_ms = RECORDING_DEADLINE_MS,
		.sink = &recording->sink,
	};
	int err;

	err = open_output(recording);
	if (err)
		return err;
	/*
	 * COMMAND is a copy of us until its exec, which takes no mapping from a process in perf's
	 * eyes: with two C libraries it would unwind by the wrong one.
	 */
	if (synthesize.data_maps && recording->run.workload)
		synthesize.unmapped = workload__pid(recording->run.workload);
	err = synthesize__write(&synthesize, recording->run.capture);
	return err ? err : output__begin(&recording->output, RECORDING_SWITCH_MS);
}

int recording__start(struct recording *recording, const struct recorder_options *options)
{
	const struct run_options run_options = {
		.capture = &options->capture,
		.command = options->command,
		.stdout_to_stderr = !strcmp(options->output, "-"),
		.delay_ns = options->delay_ns,
		.quiet = options->quiet,
		.name = "recording",
	};
	int err;

	*recording = (struct recording){ .options = options };
	err = session__init(&recording->run, &run_options);
	if (!err)
		err = start_capture(recording);
	if (!err)
		err = start_output(recording);
	if (!err)
		err = session__release(&recording->run);
	if (err)
		return err;
	rate_control__start(&recording->rate_control, recording->run.capture);
	recording->window_end = recording->run.started + options->window_ns;
	return recording->run.begin ? 0 : rate_control__begin(&recording->rate_control);
}

void recording__free(struct recording *recording)
{
	sink__free(&recording->sink);
	output__free(&recording->output);
	/* Last: until here a signal is not to end us, with the file half closed. */
	session__free(&recording->run);
	machine__delete(recording->machine);
}
