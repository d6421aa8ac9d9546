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
#include "record/build_ids.h"
#include "record/cgroups.h"
#include "record/existing.h"
#include "record/hits.h"
#include "record/overhead.h"
#include "record/past.h"
#include "record/rotation.h"
#include "record/sampling.h"
#include "record/signals.h"
#include "record/sink.h"
#include "record/status.h"
#include "record/summary.h"
#include "record/workload.h"
#include "symbol/cache.h"

/* How long other processes may delay us at the start and at the end. */
#define RECORDER_DEADLINE_MS 2000
/* How long it may take to copy what was hit to perf's cache. */
#define RECORDER_CACHE_MS 30000
/* How long what waits to be unwound in the end may take, all in all. */
#define RECORDER_UNWIND_MS 60000
/* The same between two files or windows: meanwhile nobody reads the rings. */
#define RECORDER_SWITCH_MS 300

/* Why a recording ended. */
enum recorder_end {
	RECORDER_GOES_ON = 0,
	RECORDER_WORKLOAD_ENDED,
	RECORDER_TARGETS_ENDED,
	RECORDER_SIGNAL,
	RECORDER_FULL, /* --max-size */
};

/* The parts of one recording; each of them has its own file. */
struct recorder {
	const struct recorder_options *options;
	struct signals *signals;
	struct workload *workload;
	struct capture *capture;
	struct writer *writer;
	struct hits *hits;
	struct cache cache; /* what is to be copied there in the end */
	struct past *past; /* NULL: there is one file only */
	struct rotation rotation;
	struct overhead overhead;
	struct sampling sampling;
	struct sink sink;
	uint64_t earlier_bytes; /* of files that are closed */
	struct status *status;
	uint64_t started;
	uint64_t begin; /* when the delay is over; 0: it is, or there is none */
	uint64_t window_end;
	uint64_t next_status;
	uint64_t rounds; /* how often it woke up */
};

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool has_targets(const struct recorder_options *options)
{
	return options->capture.nr_pids || options->capture.nr_tids;
}

/* COMMAND is recorded unless something else was asked for; else it is but a clock. */
static bool records_workload(const struct recorder_options *options)
{
	return options->command && !options->capture.all && !has_targets(options);
}

static int start_workload(struct recorder *recorder)
{
	struct workload_options options = {
		.argv = recorder->options->command,
		.signals = recorder->signals,
		.stdout_to_stderr = !strcmp(recorder->options->output, "-"),
	};

	return workload__prepare(&options, &recorder->workload);
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

static int start_capture(struct recorder *recorder)
{
	struct capture_options options = recorder->options->capture;
	struct capture_sink sink;
	pid_t pid;
	int err;

	if (records_workload(recorder->options)) {
		pid = workload__pid(recorder->workload);
		options.pids = &pid;
		options.nr_pids = 1;
	}
	options.data_maps = recorder->options->raw_stacks;
	options.delayed = recorder->options->delay_ns != 0;
	sampling__init(&recorder->sampling, options.period_ns, options.threshold_ns,
		       recorder->options->max_rate, clock__now_ns());
	options.seed = make_seed();
	options.period_ns = sampling__level(&recorder->sampling).period_ns;
	recorder->sink.level = sampling__level(&recorder->sampling);
	recorder->sink.reasons = options.reasons;
	recorder->sink.idle_apart = options.all && !options.no_still_blocked;
	recorder->sink.split = options.split_runqueue;
	err = sink__init(&recorder->sink, &sink, chains_mode(recorder->options));
	if (err)
		return err;
	recorder->capture = capture__new(&options, &sink, &err);
	if (!recorder->capture)
		return err;
	err = capture__start(recorder->capture);
	if (options.copy_chosen) {
		recorder->sink.chains.choose = choose;
		recorder->sink.chains.choose_ctx = recorder->capture;
	}
	/* After that a process of ours is no target. */
	if (!err && capture__copies(recorder->capture))
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

	return options->raw_stacks && capture__copies(recorder->capture) ?
		       options->capture.copy_bytes :
		       0;
}

static int open_file(struct recorder *recorder)
{
	const struct recorder_options *options = recorder->options;
	struct writer_options writer_options = {
		.path = options->output,
		.events = other_events(recorder),
		.perhaps = 1ULL << WRITER_SAMPLING,
		.cgroups = options->capture.cgroups,
		.stack_bytes = raw_stack_bytes(recorder),
		.argc = options->argc,
		.argv = options->argv,
		.version = DENET_VERSION,
	};
	int err;

	recorder->writer = recorder->sink.writer = writer__new(&writer_options, &err);
	return err;
}

/* What the file has now is what every file of the recording begins with. */
static int begin_file(struct recorder *recorder)
{
	rotation__begin(&recorder->rotation, clock__now_ns(), writer__bytes(recorder->writer));
	return writer__flush(recorder->writer);
}

/* Comes after the capture has started: if that fails, no file was touched. */
static int start_file(struct recorder *recorder)
{
	const struct recorder_options *options = recorder->options;
	struct existing_options existing = {
		.all = options->capture.all || options->capture.wakers,
		.wakers = options->capture.wakers,
		.data_maps = raw_stack_bytes(recorder),
		.cgroups = options->capture.cgroups,
		.deadline_ms = RECORDER_DEADLINE_MS,
	};
	int err;

	err = open_file(recorder);
	if (err)
		return err;
	if (!options->no_build_ids) {
		recorder->hits = hits__new();
		if (!recorder->hits)
			return -ENOMEM;
	}
	if (options->rotation.enabled) {
		recorder->past = past__new();
		err = recorder->past ? rotation__init(&recorder->rotation, &options->rotation,
						      options->output)
				     : -ENOMEM;
		if (err)
			return err;
	}
	/*
	 * COMMAND is a copy of us until its exec, which takes no mapping from a process in perf's
	 * eyes: with two C libraries it would unwind by the wrong one.
	 */
	if (existing.data_maps && recorder->workload)
		existing.unmapped = workload__pid(recorder->workload);
	existing.writer = recorder->writer;
	existing.hits = recorder->sink.hits = recorder->hits;
	existing.chains = &recorder->sink.chains;
	existing.leaders = &recorder->sink.leaders;
	existing.past = recorder->sink.past = recorder->past;
	err = existing__write(&existing, recorder->capture);
	if (!err && recorder->hits)
		err = build_ids__read_early(recorder->hits, RECORDER_SWITCH_MS);
	return err ? err : begin_file(recorder);
}

static int recorder__start(struct recorder *recorder)
{
	int err;

	recorder->signals = signals__new(&err);
	if (!recorder->signals)
		return err;
	err = start_workload(recorder);
	if (!err)
		err = start_capture(recorder);
	if (!err)
		err = start_file(recorder);
	if (!err && recorder->workload)
		err = workload__release(recorder->workload);
	if (err)
		return err;
	overhead__init(&recorder->overhead, recorder->capture, recorder->options->max_overhead_ppm);
	recorder->started = clock__now_ns();
	if (recorder->options->delay_ns)
		recorder->begin = recorder->started + recorder->options->delay_ns;
	recorder->window_end = recorder->started + recorder->options->window_ns;
	recorder->next_status = recorder->started + NSEC_PER_SEC;
	recorder->status = status__new(recorder->options->quiet);
	return 0;
}

/* The end of a window is waking up enough, unless windows are long. */
static bool looks_between_windows(const struct recorder *recorder)
{
	return recorder->options->window_ns > NSEC_PER_SEC;
}

/* Milliseconds until something is due, rounded up so that it is due by then. */
static int next_timeout(const struct recorder *recorder)
{
	uint64_t now = clock__now_ns(), due = recorder->window_end;

	if (recorder->begin)
		due = min_u64(due, recorder->begin);
	if (recorder->status)
		due = min_u64(due, recorder->next_status);
	if (looks_between_windows(recorder))
		due = min_u64(due, min_u64(overhead__due(&recorder->overhead),
					   sampling__due(&recorder->sampling,
							 &recorder->sink.counts)));
	if (recorder->past)
		due = min_u64(due, rotation__due(&recorder->rotation));
	if (due <= now)
		return 0;
	return (int)min_u64((due - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC, 60000);
}

static int end_window(struct recorder *recorder)
{
	int err;

	err = capture__drain(recorder->capture);
	if (!err)
		err = writer__flush(recorder->writer);
	if (!err && recorder->hits)
		err = build_ids__read_early(recorder->hits, RECORDER_SWITCH_MS);
	recorder->window_end = clock__now_ns() + recorder->options->window_ns;
	return err;
}

/* The file of now becomes complete and gets its name; deadline_ms is for its build-ids. */
static int close_file(struct recorder *recorder, int deadline_ms)
{
	int err = 0, closed;

	if (recorder->hits)
		err = build_ids__write(recorder->writer, recorder->hits, deadline_ms,
				       recorder->options->fill_cache ? &recorder->cache : NULL);
	recorder->earlier_bytes += writer__bytes(recorder->writer);
	closed = writer__close(recorder->writer);
	recorder->writer = NULL;
	if (!err)
		err = closed;
	return err || !recorder->past ? err : rotation__end(&recorder->rotation);
}

/* Goes on in another file. What the window has so far belongs to the one before. */
static int switch_file(struct recorder *recorder)
{
	int err;

	err = end_window(recorder);
	if (!err)
		err = sink__finish_chains(&recorder->sink, RECORDER_SWITCH_MS, NULL);
	if (!err)
		err = close_file(recorder, RECORDER_SWITCH_MS);
	if (!err)
		err = open_file(recorder);
	if (err)
		return err;
	if (recorder->hits)
		hits__begin_file(recorder->hits);
	err = past__write(recorder->past, recorder->writer);
	if (!err && recorder->options->capture.cgroups)
		err = cgroups__write(recorder->writer);
	return err ? err : begin_file(recorder);
}

static int switch_if_due(struct recorder *recorder, uint64_t now)
{
	bool asked = signals__take_switch(recorder->signals);

	if (!recorder->past)
		return 0;
	if (recorder->options->rotation.size || recorder->options->rotation.time_ns)
		asked = rotation__is_full(&recorder->rotation, now,
					  writer__bytes(recorder->writer));
	return asked ? switch_file(recorder) : 0;
}

/* The recorder's own word in the file: how coarse the samples are from now on, and why. */
static int tell_sampling(struct recorder *recorder, const struct writer_sampling *fields)
{
	uint32_t pid = (uint32_t)getpid();
	struct writer_trace trace = {
		.time = clock__now_ns(),
		.pid = pid,
		.tid = pid,
		.fields = fields,
		.size = sizeof(*fields),
	};
	int err;

	err = writer__comm(recorder->writer, pid, pid, "denet-record");
	return err ? err : writer__trace(recorder->writer, WRITER_SAMPLING, &trace);
}

/* Puts into force what was found, and has the file know. reason: the fields that say why. */
static int change_sampling(struct recorder *recorder, struct sampling_level old,
			   struct writer_sampling *reason)
{
	struct sampling_level new = sampling__level(&recorder->sampling);
	char period[32], threshold[32];

	capture__set_sampling(recorder->capture, new.period_ns, new.threshold_ns);
	recorder->sink.level = new;
	pr_verbose("sampling: one for each %s of blocks below %s",
		   units__format_time(new.period_ns, period, sizeof(period)),
		   units__format_time(new.threshold_ns, threshold, sizeof(threshold)));
	reason->old_period_ns = old.period_ns;
	reason->new_period_ns = new.period_ns;
	reason->old_threshold_ns = old.threshold_ns;
	reason->new_threshold_ns = new.threshold_ns;
	return tell_sampling(recorder, reason);
}

static int watch_overhead(struct recorder *recorder, uint64_t now, bool window_ended)
{
	struct sampling_level old = sampling__level(&recorder->sampling);
	struct writer_sampling reason = { .limit_ppm = recorder->options->max_overhead_ppm };
	struct overhead_report report;
	int ret;

	if (now < overhead__due(&recorder->overhead) ||
	    !(window_ended || looks_between_windows(recorder)))
		return 0;
	ret = overhead__look(&recorder->overhead, now, old.period_ns, &report);
	if (ret <= 0)
		return ret;
	sampling__raise(&recorder->sampling, report.period_ns);
	reason.bpf_ppm = report.bpf_ppm;
	reason.own_ppm = report.own_ppm;
	return change_sampling(recorder, old, &reason);
}

/* --off-cpu-max-rate. */
static int watch_rate(struct recorder *recorder, uint64_t now)
{
	struct sampling_level old = sampling__level(&recorder->sampling);
	struct writer_sampling reason = { .max_rate = recorder->sampling.max_rate };
	const struct sampling_counts *counts = &recorder->sink.counts;

	if (now < sampling__due(&recorder->sampling, counts) ||
	    !sampling__look(&recorder->sampling, now, counts))
		return 0;
	return change_sampling(recorder, old, &reason);
}

static void show_status(struct recorder *recorder, uint64_t now)
{
	struct capture_stats stats = { 0 };
	struct status_figures figures = {
		.elapsed_ns = now - recorder->started,
		.samples = recorder->sink.samples,
		.bytes = recorder->earlier_bytes + writer__bytes(recorder->writer),
	};

	/* Without the accounts the line still tells how it goes. */
	if (!capture__stats(recorder->capture, &stats))
		figures.lost = summary__lost(&stats);
	status__show(recorder->status, &figures);
	recorder->next_status = now + NSEC_PER_SEC;
}

static enum recorder_end look_for_end(struct recorder *recorder)
{
	int signal = signals__read(recorder->signals);

	if (signal) {
		pr_verbose("%s: the recording ends", strsignal(signal));
		return RECORDER_SIGNAL;
	}
	if (recorder->workload && workload__ended(recorder->workload))
		return RECORDER_WORKLOAD_ENDED;
	if (recorder->options->max_size &&
	    writer__bytes(recorder->writer) >= recorder->options->max_size) {
		pr_info("the size limit is reached (%" PRIu64 " KB): the recording ends",
			recorder->options->max_size / 1024);
		return RECORDER_FULL;
	}
	if (has_targets(recorder->options) && !capture__targets_alive(recorder->capture))
		return RECORDER_TARGETS_ENDED;
	return RECORDER_GOES_ON;
}

/* Blocks are recorded once the delay is over. */
static int end_delay(struct recorder *recorder, uint64_t now)
{
	if (!recorder->begin || now < recorder->begin)
		return 0;
	recorder->begin = 0;
	return capture__begin(recorder->capture);
}

/* The work of one round, in the order in which one part may need the other. */
static int do_what_is_due(struct recorder *recorder, uint64_t now)
{
	bool window_ended;
	int err;

	err = end_delay(recorder, now);
	if (err)
		return err;
	window_ended = now >= recorder->window_end || capture__wants_drain(recorder->capture);
	if (window_ended)
		err = end_window(recorder);
	if (!err)
		err = watch_overhead(recorder, now, window_ended);
	if (!err)
		err = watch_rate(recorder, now);
	return err ? err : switch_if_due(recorder, now);
}

/* Runs until something ends the recording; *end says what. */
static int recorder__loop(struct recorder *recorder, enum recorder_end *end)
{
	uint64_t now;
	int err;

	for (*end = RECORDER_GOES_ON; !*end;) {
		err = capture__poll(recorder->capture, next_timeout(recorder),
				    signals__fd(recorder->signals));
		if (err < 0 && err != -EINTR)
			return err;
		now = clock__now_ns();
		recorder->rounds++;
		*end = look_for_end(recorder);
		err = *end ? 0 : do_what_is_due(recorder, now);
		if (err)
			return err;
		if (recorder->status && now >= recorder->next_status)
			show_status(recorder, now);
	}
	return 0;
}

/* Everything that was captured is in the file after this, but for the build-ids. */
static int stop_capture(struct recorder *recorder)
{
	int err, flushed;

	/* First, so that a second signal or a kill costs only what is still in the kernel. */
	err = writer__flush(recorder->writer);
	if (!err)
		err = capture__stop(recorder->capture, RECORDER_DEADLINE_MS);
	if (!err)
		err = sink__finish_chains(&recorder->sink, RECORDER_UNWIND_MS, recorder->status);
	if (!err)
		err = sink__finish(&recorder->sink);
	flushed = writer__flush(recorder->writer);
	return err ? err : flushed;
}

/* Whether samples stand for others, and from when on. */
static void summarize_sampling(const struct recorder *recorder, struct summary *summary)
{
	struct sampling_level level = sampling__level(&recorder->sampling);

	summary->period_ns = level.period_ns;
	summary->threshold_ns = level.threshold_ns;
	summary->sampling_changes = recorder->sampling.changes;
	summary->too_dear = recorder->overhead.raised;
}

static void summarize(struct recorder *recorder, struct summary *summary)
{
	*summary = (struct summary){
		.way = capture__way(recorder->capture),
		.ns = recorder->sink.ns,
		.runqueue_ns = recorder->sink.runqueue_ns,
		.split = recorder->sink.split,
		.wakers = recorder->options->capture.wakers,
		.wakeups = recorder->sink.wakeups,
		.samples = recorder->sink.samples,
		.still_blocked = recorder->sink.still_blocked,
		.idle = recorder->sink.idle,
		.bytes = recorder->earlier_bytes,
		.copies = capture__copies(recorder->capture),
		.chains = recorder->sink.chains.stats,
		.rotated = recorder->past,
		.path = recorder->options->output,
	};
	summarize_sampling(recorder, summary);
	if (capture__stats(recorder->capture, &summary->stats))
		pr_warn("the accounts of the recording cannot be read");
}

static int recorder__finish(struct recorder *recorder)
{
	struct summary summary;
	pid_t workload = 0;
	int err, closed;

	if (recorder->workload && !workload__ended(recorder->workload))
		workload = workload__pid(recorder->workload);
	signals__finish(recorder->signals, workload);
	if (recorder->begin)
		pr_warn("the recording ended before the delay of -D was over: nothing was "
			"recorded");
	err = stop_capture(recorder);
	/* Not before: threads that are stuck are recorded as they are. */
	if (recorder->workload)
		workload__terminate(recorder->workload);
	if (err) {
		hits__delete(recorder->hits);
		recorder->hits = recorder->sink.hits = NULL;
	}
	closed = close_file(recorder, RECORDER_DEADLINE_MS);
	summarize(recorder, &summary);
	status__delete(recorder->status);
	recorder->status = NULL;
	err = err ? err : closed;
	if (!err) {
		pr_verbose("woke up %" PRIu64 " times", recorder->rounds);
		summary__print(&summary);
	}
	/* Last, since it takes its time: the file is complete. */
	if (!err && recorder->cache.nr)
		build_ids__fill_cache(&recorder->cache, RECORDER_CACHE_MS);
	return err;
}

/* The status of a COMMAND that was but a clock counts only where it came to its end. */
static int final_status(struct recorder *recorder, enum recorder_end end)
{
	bool counts = end == RECORDER_WORKLOAD_ENDED || records_workload(recorder->options);
	char *const *command = recorder->options->command;

	return workload__final_status(recorder->workload, command ? command[0] : "", counts);
}

static void recorder__cleanup(struct recorder *recorder)
{
	status__delete(recorder->status);
	capture__delete(recorder->capture);
	sink__free(&recorder->sink);
	writer__close(recorder->writer);
	if (recorder->workload)
		workload__terminate(recorder->workload);
	workload__delete(recorder->workload);
	hits__delete(recorder->hits);
	cache__free(&recorder->cache);
	past__delete(recorder->past);
	rotation__free(&recorder->rotation);
	signals__delete(recorder->signals);
}

int recorder__run(const struct recorder_options *options, int *status)
{
	struct recorder recorder = { .options = options };
	enum recorder_end end;
	int err;

	err = recorder__start(&recorder);
	if (err)
		goto out;
	err = recorder__loop(&recorder, &end);
	if (err)
		goto out;
	if (end == RECORDER_WORKLOAD_ENDED)
		err = workload__exec_error(recorder.workload);
	if (err) {
		/* Nothing was recorded: an older file gets its name back. */
		writer__discard(recorder.writer);
		recorder.writer = NULL;
		goto out;
	}
	err = recorder__finish(&recorder);
	if (!err)
		*status = final_status(&recorder, end);
out:
	recorder__cleanup(&recorder);
	return err;
}
