/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/recorder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/minmax.h"
#include "machine/machine.h"
#include "output/perfdata/writer.h"
#include "record/internal.h"
#include "record/sampling_event.h"
#include "record/summary.h"
#include "session/accounts.h"
#include "session/signals.h"
#include "session/status.h"

/* Time limit for copying files to perf's cache. */
#define RECORDER_CACHE_MS 30000
/* Time limit for samples that wait to be unwound at the end, in all. */
#define RECORDER_UNWIND_MS 60000
/* Approximate size of a sum in the file; a window is not ended for a handful of them. */
#define RECORDER_SUM_BYTES 256
#define RECORDER_LEAST_SUMS 16

/* The next time at which the recorder has work besides the session's; ns, CLOCK_MONOTONIC. */
static uint64_t next_due(const struct recorder *recorder)
{
	uint64_t due = min_u64(recorder->window_end, rate_control__due(&recorder->rate_control));

	return min_u64(due, output__due(&recorder->output));
}

static int end_window(struct recorder *recorder)
{
	int err;

	err = capture__drain(recorder->session.capture);
	if (!err)
		err = output__end_window(&recorder->output, RECORDER_SWITCH_MS);
	recorder->window_end = clock__now_ns() + recorder->options->window_ns;
	return err;
}

/* Notes in the file the share of the time in which short blocks were sampled. */
static void note_sampled_share(struct recorder *recorder)
{
	const struct rate_control *control = &recorder->rate_control;
	char note[96] = "";

	recorder->sampled_for_cost = rate_control__sampled_share(control, clock__now_ns());
	if (recorder->sampled_for_cost > 0)
		snprintf(note, sizeof(note), "--max-overhead sampled %.1f %% of the time",
			 100 * recorder->sampled_for_cost);
	else if (rate_control__level(control).period_ns || control->sampling.changes)
		snprintf(note, sizeof(note), "short blocks were sampled");
	writer__note(recorder->output.writer, note);
}

/* Goes on in another file. The window ends, so that its blocks are in the old one. */
static int switch_file(struct recorder *recorder)
{
	int err;

	err = end_window(recorder);
	if (!err)
		err = sink__finish_callchains(&recorder->sink, RECORDER_SWITCH_MS, NULL);
	note_sampled_share(recorder);
	if (!err)
		err = output__switch(&recorder->output, RECORDER_SWITCH_MS);
	sink__set_writer(&recorder->sink, recorder->output.writer);
	return err;
}

static int switch_if_due(struct recorder *recorder, uint64_t now)
{
	bool asked = signals__take_switch(recorder->session.run.signals);

	return output__wants_switch(&recorder->output, now, asked) ? switch_file(recorder) : 0;
}

static void show_status(struct recorder *recorder, uint64_t now)
{
	struct capture_stats stats = { 0 };
	struct status_figures figures = {
		.elapsed_ns = now - recorder->session.started,
		.samples = recorder->sink.events.samples,
		.bytes = output__bytes(&recorder->output),
	};

	/* The line is shown even if the statistics cannot be read. */
	if (!capture__stats(recorder->session.capture, &stats))
		figures.lost = accounts__lost(&stats);
	status__show(recorder->session.status, &figures);
}

/* True if --max-size is reached. */
static bool is_full(const struct recorder *recorder, uint64_t more)
{
	return recorder->options->max_size &&
	       writer__bytes(recorder->output.writer) + more >= recorder->options->max_size;
}

/* True if the sums of the window may fill the file: more would come until its regular end. */
static bool is_full_with_sums(const struct recorder *recorder)
{
	uint64_t sums = capture__pending_sums(recorder->session.capture);

	return sums >= RECORDER_LEAST_SUMS && is_full(recorder, sums * RECORDER_SUM_BYTES);
}

/* Called after the work of a round, which may have filled the file. */
static enum session_end look_at_size(const struct recorder *recorder)
{
	if (!is_full(recorder, 0))
		return SESSION_GOES_ON;
	pr_info("the size limit is reached (%" PRIu64 " KB): the recording ends",
		recorder->options->max_size / 1024);
	return SESSION_FULL;
}

/* Blocks are recorded once the delay is over. */
static int end_delay(struct recorder *recorder, uint64_t now)
{
	uint64_t begin = recorder->session.run.begin;
	int err = session__end_delay(&recorder->session, now);

	if (!err && begin && !recorder->session.run.begin)
		err = rate_control__begin(&recorder->rate_control);
	return err;
}

/* The work of one round, ordered by dependence. */
static int do_what_is_due(struct recorder *recorder, uint64_t now)
{
	bool window_ended;
	int err;

	err = end_delay(recorder, now);
	if (err)
		return err;
	window_ended = now >= recorder->window_end ||
		       capture__wants_drain(recorder->session.capture) ||
		       machine__wants_forget(recorder->machine) ||
		       is_full_with_sums(recorder);
	if (window_ended)
		err = end_window(recorder);
	if (!err)
		err = rate_control__look(&recorder->rate_control, now, window_ended);
	return err ? err : switch_if_due(recorder, now);
}

/* Runs until the recording ends; *end is the reason. */
static int recorder__loop(struct recorder *recorder, enum session_end *end)
{
	uint64_t now;
	int err;

	for (*end = SESSION_GOES_ON; !*end;) {
		err = session__poll(&recorder->session, next_due(recorder));
		if (err)
			return err;
		now = clock__now_ns();
		recorder->rounds++;
		*end = session__look_for_end(&recorder->session);
		err = *end ? 0 : do_what_is_due(recorder, now);
		if (err)
			return err;
		if (!*end)
			*end = look_at_size(recorder);
		if (session__wants_status(&recorder->session, now))
			show_status(recorder, now);
	}
	return 0;
}

/* Completes the file but for the build-ids. */
static int stop_capture(struct recorder *recorder)
{
	int err, flushed;

	/* Flushed first: a second signal or a kill then loses only data still in the kernel. */
	err = writer__flush(recorder->output.writer);
	if (!err)
		err = capture__stop(recorder->session.capture, RECORDER_DEADLINE_MS);
	if (!err)
		err = sink__finish_callchains(&recorder->sink, RECORDER_UNWIND_MS,
					  recorder->session.status);
	if (!err)
		err = sink__finish(&recorder->sink);
	flushed = writer__flush(recorder->output.writer);
	return err ? err : flushed;
}

/* Tells whether samples stand for other blocks, and since when. */
static void summarize_sampling(const struct recorder *recorder, struct summary *summary)
{
	const struct rate_control *control = &recorder->rate_control;
	struct sampling_level level = rate_control__level(control);

	summary->period_ns = level.period_ns;
	summary->threshold_ns = level.threshold_ns;
	summary->sampling_changes = control->sampling.changes;
	summary->sampled_for_cost = recorder->sampled_for_cost;
}

/* A file recorded under sudo belongs to root, and only root may read it. */
static void summarize_next_step(const struct recorder *recorder, struct summary *summary)
{
	const char *sudo = getenv("SUDO_UID");

	summary->next = (struct next_step){
		.path = output__path(&recorder->output),
		.empty = !recorder->sink.events.samples && !recorder->sink.events.idle.count,
		.cgroups = recorder->options->session.capture.cgroups,
		.sudo = !geteuid() && sudo && strcmp(sudo, "0"),
	};
}

static void summarize(struct recorder *recorder, struct summary *summary)
{
	*summary = (struct summary){
		.hook = capture__attach_hook(recorder->session.capture),
		.ns = recorder->sink.events.ns,
		.runqueue_ns = recorder->sink.events.runqueue_ns,
		.split = recorder->sink.events.split,
		.wakers = recorder->options->session.capture.wakers,
		.wakeups = recorder->sink.events.wakeups,
		.samples = recorder->sink.events.samples,
		.still_blocked = recorder->sink.events.still_blocked,
		.never_ran = recorder->sink.events.never_ran,
		.idle = recorder->sink.events.idle,
		.bytes = output__bytes(&recorder->output),
		.tracepoints = recorder->tracepoints.nr,
		.one_event = recorder->sink.events.one_event,
		.reasons = recorder->sink.events.reasons,
		.for_any_ns = recorder->sink.events.for_any_ns,
		.copies = capture__copies(recorder->session.capture),
		.by_tables = capture__walks_by_tables(recorder->session.capture),
		.fp_asked_for = !recorder->options->session.capture.stacks.copies.bytes,
		.callchain = recorder->sink.callchain.stats,
		.rotated = recorder->options->rotation.enabled,
		.path = recorder->options->output,
	};
	if (!summary->copies || summary->by_tables)
		summary->chains = &recorder->sink.chain_stats;
	summarize_next_step(recorder, summary);
	summary->waiting =
		capture__waiting_threads(recorder->session.capture, &summary->nr_waiting);
	summary->records_preempted =
		recorder->options->session.capture.filter.states & capture__state_bit('R');
	memcpy(summary->longest_idle, recorder->sink.events.longest, sizeof(summary->longest_idle));
	summary->waits = wait_stats__end(&recorder->sink.wait_stats);
	summarize_sampling(recorder, summary);
	if (capture__stats(recorder->session.capture, &summary->stats))
		pr_loss("the accounts of the recording cannot be read");
}

/* The same as an event, if a rate was requested. */
static int tell_sampled_share(struct recorder *recorder)
{
	struct sampling_level level = rate_control__level(&recorder->rate_control);

	note_sampled_share(recorder);
	if (recorder->sampled_for_cost <= 0 || !recorder->options->tell_rates)
		return 0;
	return sampling_event__write_share(recorder->sink.writer, &level,
					   recorder->sampled_for_cost);
}

static int recorder__finish(struct recorder *recorder, enum session_end end)
{
	struct summary summary;
	int err, closed;

	findings__hold(&recorder->findings);
	run__finish(&recorder->session.run);
	if (end == SESSION_SIGNAL)
		writer__hurry(recorder->output.writer);
	err = rate_control__end(&recorder->rate_control, clock__now_ns());
	if (!err)
		err = stop_capture(recorder);
	if (!err)
		err = tell_sampled_share(recorder);
	/* Not earlier: stuck threads are recorded as they are. */
	run__terminate(&recorder->session.run);
	if (err) {
		output__forget_dsos(&recorder->output);
		recorder->sink.dso_table = NULL;
	}
	closed = output__close(&recorder->output, RECORDER_DEADLINE_MS);
	session__delete_status(&recorder->session);
	err = err ? err : closed;
	if (err)
		return err;
	/* Slow, but the file is complete. */
	output__fill_cache(&recorder->output, RECORDER_CACHE_MS);
	summarize(recorder, &summary);
	pr_verbose("woke up %" PRIu64 " times", recorder->rounds);
	summary__print(&summary, &recorder->findings);
	return 0;
}

int recorder__run(const struct recorder_options *options, int *status)
{
	struct recorder recorder;
	enum session_end end;
	int err;

	err = recorder__start(&recorder, options);
	if (err)
		goto out;
	err = recorder__loop(&recorder, &end);
	if (err)
		goto out;
	err = run__exec_error(&recorder.session.run, end);
	if (err) {
		output__discard(&recorder.output);
		goto out;
	}
	err = recorder__finish(&recorder, end);
	if (!err)
		*status = run__final_status(&recorder.session.run, end);
out:
	recorder__free(&recorder);
	return err;
}
