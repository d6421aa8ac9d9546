/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "perfdata/writer.h"
#include "record/existing.h"
#include "record/output.h"
#include "record/run.h"
#include "record/signals.h"
#include "record/sink.h"
#include "record/status.h"
#include "record/summary.h"
#include "record/throttle.h"
#include "record/workload.h"

/* How long other processes may delay us at the start and at the end. */
#define RECORDER_DEADLINE_MS 2000
/* How long it may take to copy what was hit to perf's cache. */
#define RECORDER_CACHE_MS 30000
/* How long what waits to be unwound in the end may take, all in all. */
#define RECORDER_UNWIND_MS 60000
/* The same between two files or windows: meanwhile nobody reads the rings. */
#define RECORDER_SWITCH_MS 300

/* The parts of one recording; each of them has its own file. */
struct recorder {
	const struct recorder_options *options;
	struct run run;
	struct output output;
	struct throttle throttle;
	struct sink sink;
	uint64_t window_end;
	uint64_t rounds; /* how often it woke up */
};

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Two recordings of the same load draw different blocks. */
static uint64_t make_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = clock__now_ns() ^ (uint64_t)getpid() << 32;
	return seed;
}

static enum chains_mode chains_mode(const struct recorder_options *options)
{
	if (!options->capture.copy_bytes)
		return CHAINS_FP;
	return options->raw_stacks ? CHAINS_RAW : CHAINS_UNWIND;
}

/* Who cannot be chosen, since there are too many, keeps its frame pointers. */
static void choose(void *ctx, pid_t pid, bool chosen)
{
	int err = capture__choose(ctx, pid, chosen);

	if (err && chosen)
		pr_verbose("pid %d cannot be chosen: %s", (int)pid, strerror(-err));
}

static void init_throttle(struct recorder *recorder)
{
	const struct recorder_options *options = recorder->options;
	const struct throttle_options throttle_options = {
		.period_ns = options->capture.period_ns,
		.threshold_ns = options->capture.threshold_ns,
		.max_overhead_ppm = options->max_overhead_ppm,
		.max_rate = options->max_rate,
		.between_windows = options->window_ns > NSEC_PER_SEC,
	};

	throttle__init(&recorder->throttle, &throttle_options, &recorder->sink);
}

static int start_capture(struct recorder *recorder)
{
	struct capture_options options = recorder->options->capture;
	struct capture_sink sink;
	int err;

	options.data_maps = recorder->options->raw_stacks;
	init_throttle(recorder);
	options.seed = make_seed();
	options.period_ns = sampling__level(&recorder->throttle.sampling).period_ns;
	recorder->sink.reasons = options.reasons;
	recorder->sink.idle_apart = options.all && !options.no_still_blocked;
	recorder->sink.split = options.split_runqueue;
	err = sink__init(&recorder->sink, &sink, chains_mode(recorder->options));
	if (err)
		return err;
	err = run__capture(&recorder->run, &options, &sink);
	if (options.copy_chosen) {
		recorder->sink.chains.choose = choose;
		recorder->sink.chains.choose_ctx = recorder->run.capture;
	}
	/* After that a process of ours is no target. */
	if (!err && capture__copies(recorder->run.capture))
		err = chains__start(&recorder->sink.chains, options.max_frames);
	return err;
}

/* The events of the file besides offcpu-time. */
static uint64_t other_events(const struct recorder *recorder)
{
	uint64_t events = 0;

	if (recorder->sink.idle_apart)
		events |= 1ULL << WRITER_OFFCPU_IDLE;
	if (recorder->options->capture.split_runqueue)
		events |= 1ULL << WRITER_RUNQUEUE_TIME;
	if (recorder->options->capture.wakers)
		events |= 1ULL << WRITER_WAKEUP_TIME;
	if (recorder->sink.reasons)
		events |= 1ULL << WRITER_OFFCPU_WAIT;
	return events;
}

static uint32_t raw_stack_bytes(const struct recorder *recorder)
{
	const struct recorder_options *options = recorder->options;

	return options->raw_stacks && capture__copies(recorder->run.capture) ?
		       options->capture.copy_bytes :
		       0;
}

static int open_output(struct recorder *recorder)
{
	const struct recorder_options *options = recorder->options;
	const struct output_options output_options = {
		.writer = {
			.path = options->output,
			.events = other_events(recorder),
			.perhaps = 1ULL << WRITER_SAMPLING,
			.cgroups = options->capture.cgroups,
			.stack_bytes = raw_stack_bytes(recorder),
			.argc = options->argc,
			.argv = options->argv,
			.version = DENET_VERSION,
		},
		.rotation = options->rotation,
		.build_ids = !options->no_build_ids,
		.fill_cache = options->fill_cache,
	};
	int err = output__init(&recorder->output, &output_options);

	recorder->sink.writer = recorder->output.writer;
	recorder->sink.hits = recorder->output.hits;
	recorder->sink.past = recorder->output.past;
	return err;
}

/* Comes after the capture has started: if that fails, no file was touched. */
static int start_output(struct recorder *recorder)
{
	const struct recorder_options *options = recorder->options;
	struct existing_options existing = {
		.all = options->capture.all || options->capture.wakers,
		.wakers = options->capture.wakers,
		.data_maps = raw_stack_bytes(recorder),
		.cgroups = options->capture.cgroups,
		.deadline_ms = RECORDER_DEADLINE_MS,
		.chains = &recorder->sink.chains,
	};
	int err;

	err = open_output(recorder);
	if (err)
		return err;
	/*
	 * COMMAND is a copy of us until its exec, which takes no mapping from a process in perf's
	 * eyes: with two C libraries it would unwind by the wrong one.
	 */
	if (existing.data_maps && recorder->run.workload)
		existing.unmapped = workload__pid(recorder->run.workload);
	existing.writer = recorder->output.writer;
	existing.hits = recorder->output.hits;
	existing.past = recorder->output.past;
	err = existing__write(&existing, recorder->run.capture);
	return err ? err : output__begin(&recorder->output, RECORDER_SWITCH_MS);
}

static int recorder__start(struct recorder *recorder)
{
	const struct recorder_options *options = recorder->options;
	const struct run_options run_options = {
		.capture = &options->capture,
		.command = options->command,
		.stdout_to_stderr = !strcmp(options->output, "-"),
		.delay_ns = options->delay_ns,
		.quiet = options->quiet,
		.name = "recording",
	};
	int err;

	err = run__init(&recorder->run, &run_options);
	if (!err)
		err = start_capture(recorder);
	if (!err)
		err = start_output(recorder);
	if (!err)
		err = run__release(&recorder->run);
	if (err)
		return err;
	throttle__start(&recorder->throttle, recorder->run.capture);
	recorder->window_end = recorder->run.started + options->window_ns;
	return 0;
}

/* When something is due besides what the run itself waits for; ns, CLOCK_MONOTONIC. */
static uint64_t next_due(const struct recorder *recorder)
{
	uint64_t due = min_u64(recorder->window_end, throttle__due(&recorder->throttle));

	return min_u64(due, output__due(&recorder->output));
}

static int end_window(struct recorder *recorder)
{
	int err;

	err = capture__drain(recorder->run.capture);
	if (!err)
		err = output__end_window(&recorder->output, RECORDER_SWITCH_MS);
	recorder->window_end = clock__now_ns() + recorder->options->window_ns;
	return err;
}

/* Goes on in another file. What the window has so far belongs to the one before. */
static int switch_file(struct recorder *recorder)
{
	int err;

	err = end_window(recorder);
	if (!err)
		err = sink__finish_chains(&recorder->sink, RECORDER_SWITCH_MS, NULL);
	if (!err)
		err = output__switch(&recorder->output, RECORDER_SWITCH_MS);
	recorder->sink.writer = recorder->output.writer;
	return err;
}

static int switch_if_due(struct recorder *recorder, uint64_t now)
{
	bool asked = signals__take_switch(recorder->run.signals);

	return output__wants_switch(&recorder->output, now, asked) ? switch_file(recorder) : 0;
}

static void show_status(struct recorder *recorder, uint64_t now)
{
	struct capture_stats stats = { 0 };
	struct status_figures figures = {
		.elapsed_ns = now - recorder->run.started,
		.samples = recorder->sink.samples,
		.bytes = output__bytes(&recorder->output),
	};

	/* Without the accounts the line still tells how it goes. */
	if (!capture__stats(recorder->run.capture, &stats))
		figures.lost = summary__lost(&stats);
	status__show(recorder->run.status, &figures);
}

/* --max-size. */
static bool is_full(const struct recorder *recorder)
{
	if (!recorder->options->max_size ||
	    writer__bytes(recorder->output.writer) < recorder->options->max_size)
		return false;
	pr_info("the size limit is reached (%" PRIu64 " KB): the recording ends",
		recorder->options->max_size / 1024);
	return true;
}

static enum run_end look_for_end(struct recorder *recorder)
{
	enum run_end end = run__look_for_end(&recorder->run);

	/* Who set a limit is told of it, even where the last target has ended as well. */
	if ((end == RUN_GOES_ON || end == RUN_TARGETS_ENDED) && is_full(recorder))
		return RUN_FULL;
	return end;
}

/* The work of one round, in the order in which one part may need the other. */
static int do_what_is_due(struct recorder *recorder, uint64_t now)
{
	bool window_ended;
	int err;

	err = run__end_delay(&recorder->run, now);
	if (err)
		return err;
	window_ended = now >= recorder->window_end || capture__wants_drain(recorder->run.capture);
	if (window_ended)
		err = end_window(recorder);
	if (!err)
		err = throttle__look(&recorder->throttle, now, window_ended);
	return err ? err : switch_if_due(recorder, now);
}

/* Runs until something ends the recording; *end says what. */
static int recorder__loop(struct recorder *recorder, enum run_end *end)
{
	uint64_t now;
	int err;

	for (*end = RUN_GOES_ON; !*end;) {
		err = run__poll(&recorder->run, next_due(recorder));
		if (err)
			return err;
		now = clock__now_ns();
		recorder->rounds++;
		*end = look_for_end(recorder);
		err = *end ? 0 : do_what_is_due(recorder, now);
		if (err)
			return err;
		if (run__wants_status(&recorder->run, now))
			show_status(recorder, now);
	}
	return 0;
}

/* Everything that was captured is in the file after this, but for the build-ids. */
static int stop_capture(struct recorder *recorder)
{
	int err, flushed;

	/* First, so that a second signal or a kill costs only what is still in the kernel. */
	err = writer__flush(recorder->output.writer);
	if (!err)
		err = capture__stop(recorder->run.capture, RECORDER_DEADLINE_MS);
	if (!err)
		err = sink__finish_chains(&recorder->sink, RECORDER_UNWIND_MS, recorder->run.status);
	if (!err)
		err = sink__finish(&recorder->sink);
	flushed = writer__flush(recorder->output.writer);
	return err ? err : flushed;
}

/* Whether samples stand for others, and from when on. */
static void summarize_sampling(const struct recorder *recorder, struct summary *summary)
{
	const struct throttle *throttle = &recorder->throttle;
	struct sampling_level level = sampling__level(&throttle->sampling);

	summary->period_ns = level.period_ns;
	summary->threshold_ns = level.threshold_ns;
	summary->sampling_changes = throttle->sampling.changes;
	summary->too_dear = throttle->overhead.raised;
}

static void summarize(struct recorder *recorder, struct summary *summary)
{
	*summary = (struct summary){
		.way = capture__way(recorder->run.capture),
		.ns = recorder->sink.ns,
		.runqueue_ns = recorder->sink.runqueue_ns,
		.split = recorder->sink.split,
		.wakers = recorder->options->capture.wakers,
		.wakeups = recorder->sink.wakeups,
		.samples = recorder->sink.samples,
		.still_blocked = recorder->sink.still_blocked,
		.idle = recorder->sink.idle,
		.bytes = output__bytes(&recorder->output),
		.copies = capture__copies(recorder->run.capture),
		.chains = recorder->sink.chains.stats,
		.rotated = recorder->output.past,
		.path = recorder->options->output,
	};
	summarize_sampling(recorder, summary);
	if (capture__stats(recorder->run.capture, &summary->stats))
		pr_warn("the accounts of the recording cannot be read");
}

static int recorder__finish(struct recorder *recorder)
{
	struct summary summary;
	int err, closed;

	run__finish(&recorder->run);
	if (recorder->run.begin)
		pr_warn("the recording ended before the delay of -D was over: nothing was "
			"recorded");
	err = stop_capture(recorder);
	/* Not before: threads that are stuck are recorded as they are. */
	run__terminate(&recorder->run);
	if (err) {
		output__forget_hits(&recorder->output);
		recorder->sink.hits = NULL;
	}
	closed = output__close(&recorder->output, RECORDER_DEADLINE_MS);
	summarize(recorder, &summary);
	run__delete_status(&recorder->run);
	err = err ? err : closed;
	if (!err) {
		pr_verbose("woke up %" PRIu64 " times", recorder->rounds);
		summary__print(&summary);
	}
	/* Last, since it takes its time: the file is complete. */
	if (!err)
		output__fill_cache(&recorder->output, RECORDER_CACHE_MS);
	return err;
}

static void recorder__cleanup(struct recorder *recorder)
{
	sink__free(&recorder->sink);
	output__free(&recorder->output);
	/* Last: until here a signal is not to end us, with the file half closed. */
	run__free(&recorder->run);
}

int recorder__run(const struct recorder_options *options, int *status)
{
	struct recorder recorder = { .options = options };
	enum run_end end;
	int err;

	err = recorder__start(&recorder);
	if (err)
		goto out;
	err = recorder__loop(&recorder, &end);
	if (err)
		goto out;
	err = run__exec_error(&recorder.run, end);
	if (err) {
		output__discard(&recorder.output);
		goto out;
	}
	err = recorder__finish(&recorder);
	if (!err)
		*status = run__final_status(&recorder.run, end);
out:
	recorder__cleanup(&recorder);
	return err;
}
