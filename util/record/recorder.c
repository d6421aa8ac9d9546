/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/recorder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/minmax.h"
#include "machine/machine.h"
#include "output/perfdata/writer.h"
#include "record/recording.h"
#include "record/sampling_event.h"
#include "session/signals.h"
#include "session/status.h"
#include "record/summary.h"

/* How long it may take to copy what was hit to perf's cache. */
#define RECORDER_CACHE_MS 30000
/* How long what waits to be unwound in the end may take, all in all. */
#define RECORDER_UNWIND_MS 60000
/* About what a sum takes in the file; a window is not ended for a handful. */
#define RECORDER_SUM_BYTES 256
#define RECORDER_LEAST_SUMS 16

/* When something is due besides what the run itself waits for; ns, CLOCK_MONOTONIC. */
static uint64_t next_due(const struct recording *recording)
{
	uint64_t due = min_u64(recording->window_end, rate_control__due(&recording->rate_control));

	return min_u64(due, output__due(&recording->output));
}

static int end_window(struct recording *recording)
{
	int err;

	err = capture__drain(recording->run.capture);
	if (!err)
		err = output__end_window(&recording->output, RECORDING_SWITCH_MS);
	recording->window_end = clock__now_ns() + recording->options->window_ns;
	return err;
}

/* Goes on in another file. What the window has so far belongs to the one before. */
static int switch_file(struct recording *recording)
{
	int err;

	err = end_window(recording);
	if (!err)
		err = sink__finish_callchains(&recording->sink, RECORDING_SWITCH_MS, NULL);
	if (!err)
		err = output__switch(&recording->output, RECORDING_SWITCH_MS);
	sink__set_writer(&recording->sink, recording->output.writer);
	return err;
}

static int switch_if_due(struct recording *recording, uint64_t now)
{
	bool asked = signals__take_switch(recording->run.signals);

	return output__wants_switch(&recording->output, now, asked) ? switch_file(recording) : 0;
}

static void show_status(struct recording *recording, uint64_t now)
{
	struct capture_stats stats = { 0 };
	struct status_figures figures = {
		.elapsed_ns = now - recording->run.started,
		.samples = recording->sink.events.samples,
		.bytes = output__bytes(&recording->output),
	};

	/* Without the accounts the line still tells how it goes. */
	if (!capture__stats(recording->run.capture, &stats))
		figures.lost = summary__lost(&stats);
	status__show(recording->run.status, &figures);
}

/* --max-size. */
static bool is_full(const struct recording *recording, uint64_t more)
{
	return recording->options->max_size &&
	       writer__bytes(recording->output.writer) + more >= recording->options->max_size;
}

/* The sums of the window may fill the file: as many more would come until it ends by itself. */
static bool is_full_with_sums(const struct recording *recording)
{
	uint64_t sums = capture__pending_sums(recording->run.capture);

	return sums >= RECORDER_LEAST_SUMS && is_full(recording, sums * RECORDER_SUM_BYTES);
}

/* Looked for after the work of a round, which may have filled the file. */
static enum session_end look_at_size(const struct recording *recording)
{
	if (!is_full(recording, 0))
		return SESSION_GOES_ON;
	pr_info("the size limit is reached (%" PRIu64 " KB): the recording ends",
		recording->options->max_size / 1024);
	return SESSION_FULL;
}

/* Blocks are recorded once the delay is over. */
static int end_delay(struct recording *recording, uint64_t now)
{
	uint64_t begin = recording->run.begin;
	int err = session__end_delay(&recording->run, now);

	if (!err && begin && !recording->run.begin)
		err = rate_control__begin(&recording->rate_control);
	return err;
}

/* The work of one round, in the order in which one part may need the other. */
static int do_what_is_due(struct recording *recording, uint64_t now)
{
	bool window_ended;
	int err;

	err = end_delay(recording, now);
	if (err)
		return err;
	window_ended = now >= recording->window_end ||
		       capture__wants_drain(recording->run.capture) ||
		       machine__wants_forget(recording->machine) ||
		       is_full_with_sums(recording);
	if (window_ended)
		err = end_window(recording);
	if (!err)
		err = rate_control__look(&recording->rate_control, now, window_ended);
	return err ? err : switch_if_due(recording, now);
}

/* Runs until something ends the recording; *end says what. */
static int recorder__loop(struct recording *recording, enum session_end *end)
{
	uint64_t now;
	int err;

	for (*end = SESSION_GOES_ON; !*end;) {
		err = session__poll(&recording->run, next_due(recording));
		if (err)
			return err;
		now = clock__now_ns();
		recording->rounds++;
		*end = session__look_for_end(&recording->run);
		err = *end ? 0 : do_what_is_due(recording, now);
		if (err)
			return err;
		if (!*end)
			*end = look_at_size(recording);
		if (session__wants_status(&recording->run, now))
			show_status(recording, now);
	}
	return 0;
}

/* Everything that was captured is in the file after this, but for the build-ids. */
static int stop_capture(struct recording *recording)
{
	int err, flushed;

	/* First, so that a second signal or a kill costs only what is still in the kernel. */
	err = writer__flush(recording->output.writer);
	if (!err)
		err = capture__stop(recording->run.capture, RECORDING_DEADLINE_MS);
	if (!err)
		err = sink__finish_callchains(&recording->sink, RECORDER_UNWIND_MS,
					  recording->run.status);
	if (!err)
		err = sink__finish(&recording->sink);
	flushed = writer__flush(recording->output.writer);
	return err ? err : flushed;
}

/* Whether samples stand for others, and from when on. */
static void summarize_sampling(const struct recording *recording, struct summary *summary)
{
	const struct rate_control *control = &recording->rate_control;
	struct sampling_level level = rate_control__level(control);

	summary->period_ns = level.period_ns;
	summary->threshold_ns = level.threshold_ns;
	summary->sampling_changes = control->sampling.changes;
	summary->sampled_for_cost = recording->sampled_for_cost;
}

/* With the names of threads that still live: a sample has none. */
static void summarize_idle(const struct recording *recording, struct summary *summary)
{
	char path[32], comm[16];
	FILE *file;

	for (size_t i = 0; i < SAMPLE_EVENTS_LONGEST; i++) {
		struct sample_events_wait *wait = &summary->longest_idle[i];

		*wait = recording->sink.events.longest[i];
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/comm", wait->tid);
		file = wait->ns ? fopen(path, "re") : NULL;
		if (!file)
			continue;
		if (fgets(comm, sizeof(comm), file)) {
			comm[strcspn(comm, "\n")] = '\0';
			log__escape(wait->comm, sizeof(wait->comm), comm);
		}
		fclose(file);
	}
}

static void summarize(struct recording *recording, struct summary *summary)
{
	*summary = (struct summary){
		.hook = capture__attach_hook(recording->run.capture),
		.ns = recording->sink.events.ns,
		.runqueue_ns = recording->sink.events.runqueue_ns,
		.split = recording->sink.events.split,
		.wakers = recording->options->capture.wakers,
		.wakeups = recording->sink.events.wakeups,
		.samples = recording->sink.events.samples,
		.still_blocked = recording->sink.events.still_blocked,
		.idle = recording->sink.events.idle,
		.bytes = output__bytes(&recording->output),
		.copies = capture__copies(recording->run.capture),
		.callchain = recording->sink.callchain.stats,
		.rotated = recording->options->rotation.enabled,
		.path = recording->options->output,
	};
	summary->waiting =
		capture__waiting_threads(recording->run.capture, &summary->nr_waiting);
	summary->records_preempted =
		recording->options->capture.states & capture__state_bit('R');
	summarize_idle(recording, summary);
	summarize_sampling(recording, summary);
	if (capture__stats(recording->run.capture, &summary->stats))
		pr_warn("the accounts of the recording cannot be read");
}

/* Of which share of the time readers of the file know but samples. */
static int tell_sampled_share(struct recording *recording)
{
	struct sampling_level level = rate_control__level(&recording->rate_control);
	uint64_t now = clock__now_ns();

	recording->sampled_for_cost = rate_control__sampled_share(&recording->rate_control, now);
	if (recording->sampled_for_cost <= 0)
		return 0;
	return sampling_event__write_share(recording->sink.writer, &level,
					   recording->sampled_for_cost);
}

static int recorder__finish(struct recording *recording)
{
	struct summary summary;
	int err, closed;

	session__finish(&recording->run);
	if (recording->run.begin)
		pr_warn("the recording ended before the delay of -D was over: nothing was "
			"recorded");
	err = stop_capture(recording);
	if (!err)
		err = tell_sampled_share(recording);
	/* Not before: threads that are stuck are recorded as they are. */
	session__terminate(&recording->run);
	if (err) {
		output__forget_dsos(&recording->output);
		recording->sink.dso_table = NULL;
	}
	closed = output__close(&recording->output, RECORDING_DEADLINE_MS);
	summarize(recording, &summary);
	session__delete_status(&recording->run);
	err = err ? err : closed;
	if (!err) {
		pr_verbose("woke up %" PRIu64 " times", recording->rounds);
		summary__print(&summary);
	}
	/* Last, since it takes its time: the file is complete. */
	if (!err)
		output__fill_cache(&recording->output, RECORDER_CACHE_MS);
	return err;
}

int recorder__run(const struct recorder_options *options, int *status)
{
	struct recording recording;
	enum session_end end;
	int err;

	err = recording__start(&recording, options);
	if (err)
		goto out;
	err = recorder__loop(&recording, &end);
	if (err)
		goto out;
	err = session__exec_error(&recording.run, end);
	if (err) {
		output__discard(&recording.output);
		goto out;
	}
	err = recorder__finish(&recording);
	if (!err)
		*status = session__final_status(&recording.run, end);
out:
	recording__free(&recording);
	return err;
}
