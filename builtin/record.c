/* SPDX-License-Identifier: GPL-2.0-only */
/* denet-record: options in, a recording out. The work is done in util/record/. */
#include "record.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"
#include "builtin.h"
#include "hist/hist_cmd.h"
#include "report/report.h"

#define RECORD_MAX_OVERHEAD_PPM 30000
/* The value without the option; no percentage is that large. */
#define RECORD_DEFAULT_OVERHEAD UINT32_MAX
/* Sampling period with --call-graph dwarf, unless an option sets another. */
#define RECORD_COPY_PERIOD (10 * NSEC_PER_MSEC)
#define RECORD_COPY_RATE 1000

static void record__init(struct record *record, int argc, char **argv)
{
	struct recorder_options *recorder = &record->recorder;

	capture_options__init(&recorder->session.capture);
	recorder->output = "perf.data";
	recorder->window_ns = NSEC_PER_SEC;
	recorder->max_overhead_ppm = RECORD_DEFAULT_OVERHEAD;
	recorder->argc = argc;
	recorder->argv = (const char *const *)argv;
	record->filter.capture = recorder->session.capture.filter;
}

/* Copies are too large to take one of each short block: these are sampled. */
static void settle_copies(struct recorder_options *recorder)
{
	struct capture_options *capture = &recorder->session.capture;

	if (!capture->stacks.copies.bytes || capture->stacks.copies.chosen ||
	    capture->stacks.copies.tables ||
	    !capture->threshold_ns || capture->period_ns || recorder->max_rate)
		return;
	capture->period_ns = RECORD_COPY_PERIOD;
	recorder->max_rate = RECORD_COPY_RATE;
}

/* Readers show all events of a file: the event of rates is left out without a rate or a budget. */
static void settle_rates(struct recorder_options *recorder)
{
	bool given = recorder->max_overhead_ppm != RECORD_DEFAULT_OVERHEAD;

	recorder->tell_rates = !recorder->one_event && (recorder->max_rate || given);
	if (!given)
		recorder->max_overhead_ppm = RECORD_MAX_OVERHEAD_PPM;
}

/* Resolves names and completes the options. 0 or a negative errno (logged). */
static int record__resolve(struct record *record)
{
	struct session_options *session = &record->recorder.session;
	int err;

	session->capture.ring_pages = record->common.ring_pages;
	session->noun = "recording";
	session->done = "recorded";
	session->quiet = record->common.quiet;
	session->stdout_to_stderr = record->hist ? record->json :
						   !strcmp(record->recorder.output, "-");
	on_cpu_options__resolve(&record->on_cpu, &session->capture);
	record->recorder.tracepoints = record->on_cpu.tracepoints;
	settle_rates(&record->recorder);
	settle_copies(&record->recorder);
	err = target_options__resolve(&record->target, session);
	if (!err)
		err = filter_options__resolve(&record->filter, &session->capture);
	if (record->on_cpu.wall && !record->filter.states)
		session->capture.filter.states = capture__all_states();
	return err;
}

/* --flamegraph: as denet-report does it. */
static int record__draw(const struct record *record)
{
	const struct report_options report = {
		.input = record->recorder.output,
		.outputs.flamegraph = record->flamegraph,
	};
	int err = report__run(&report);

	if (!err)
		pr_info("the flame graph is in %s", record->flamegraph);
	return err;
}

/* From the checked options to the exit status. */
static int record__run(const struct record *record, int *status)
{
	const struct hist_cmd_options hist = {
		.session = record->recorder.session,
		.json = record->json,
	};
	int err = record->hist ? hist_cmd__run(&hist, status) :
				 recorder__run(&record->recorder, status);

	if (!err && record->flamegraph)
		err = record__draw(record);
	/* Causes are logged where they are known; this covers any that was not. */
	if (err && !log__nr_errors())
		pr_err("the recording failed: %s", strerror(-err));
	return err;
}

int cmd_record(int argc, char **argv)
{
	struct record record = { 0 };
	int status = EXIT_STATUS_ERROR, err;

	record__init(&record, argc, argv);
	log__init("denet-record", LOG_INFO);
	err = record__parse(&record, argc, argv);
	log__init("denet-record", common_options__log_level(&record.common));
	if (!err)
		err = record__resolve(&record);
	if (!err)
		err = record__run(&record, &status);
	target_options__free(&record.target);
	filter_options__free(&record.filter);
	on_cpu_options__free(&record.on_cpu);
	return err ? EXIT_STATUS_ERROR : status;
}
