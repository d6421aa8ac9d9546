/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "input/input.h"
#include "machine/machine.h"
#include "output/flamegraph/flamegraph.h"
#include "output/folded/folded.h"
#include "output/json/json.h"
#include "output/pprof/pprof.h"
#include "output/speedscope/speedscope.h"
#include "report/locks.h"
#include "report/screen.h"
#include "report/wait_words.h"

/* Clocks that are set, and what passes between two looks at two clocks. */
#define CLOCK_SLACK_NS (5 * NSEC_PER_SEC)

struct report {
	const struct report_options *options;
	struct input *input;
	struct machine *machine;
	struct symbols *symbols;
	struct profile *profile;
	struct locks locks;
	bool has_reasons;
};

/* A wait on a lock, of a sample that the filter has let through. */
static int add_lock(struct report *report, const struct sample *sample)
{
	const struct thread *thread =
		machine__thread_at(report->machine, (pid_t)sample->pid, sample->time);
	const char *comm = thread ? thread__comm_at(thread, sample->time) : NULL;

	return locks__add(&report->locks, sample, comm ? comm : "?");
}

static int take_sample(void *ctx, const struct sample *sample)
{
	struct report *report = ctx;
	char words[WAIT_WORDS_MAX];
	const char *wait = NULL;
	uint64_t left_out;
	int err;

	if (sample->reason)
		wait = wait_words__of_reason(sample->reason, words);
	report->has_reasons |= sample->reason != NULL;
	left_out = profile__left_out(report->profile).samples;
	err = profile__add(report->profile, report->machine, sample, wait);
	if (!err && profile__left_out(report->profile).samples == left_out)
		err = add_lock(report, sample);
	return err;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

/*
 * Whether the file is of another machine, or of this one before its last boot: by the name of the
 * host, and by when CLOCK_MONOTONIC began, which only seems later where the machine was suspended.
 * A file whose writer was killed tells nothing.
 */
static bool is_elsewhere(const struct input_info *info)
{
	uint64_t began, then, suspended;
	char host[65] = "";

	gethostname(host, sizeof(host) - 1);
	if (*info->hostname && strcmp(info->hostname, host))
		return true;
	if (!info->realtime_ns)
		return false;
	began = clock_ns(CLOCK_REALTIME) - clock__now_ns();
	then = info->realtime_ns - info->clock_ns;
	suspended = clock_ns(CLOCK_BOOTTIME) - clock__now_ns();
	return began + CLOCK_SLACK_NS < then || began > then + suspended + CLOCK_SLACK_NS;
}

static int take_build_id(void *ctx, const char *path, const unsigned char *id, size_t len)
{
	return symbols__build_id(ctx, path, id, len);
}

static int read_all(struct report *report)
{
	const struct input_info *info = input__info(report->input);
	int err = input__read(report->input, report->machine, take_sample, report);

	if (!err)
		err = input_info__each_build_id(info, take_build_id, report->symbols);
	if (!err)
		err = symbols__resolve(report->symbols, report->machine, is_elsewhere(info));
	return err;
}

typedef int (*write_fn)(const struct profile *profile, FILE *out);

/* Writes an output to a file; path NULL: it is not wanted. 0 or a negative errno, logged. */
static int write_file(const struct report *report, const char *path, write_fn write)
{
	FILE *out = stdout;
	int err;

	if (!path)
		return 0;
	if (strcmp(path, "-"))
		out = fopen(path, "we");
	err = out ? write(report->profile, out) : -errno;
	if (out && fflush(out) && !err)
		err = -errno;
	if (out && out != stdout && fclose(out) && !err)
		err = -errno;
	if (err)
		pr_err("cannot write %s: %s", path, strerror(-err));
	return err;
}

static int print_screen(const struct report *report)
{
	const struct screen_file file = {
		.path = report->options->input,
		.info = input__info(report->input),
		.totals = input__totals(report->input),
		.has_reasons = report->has_reasons,
		.locks = &report->locks,
	};
	int err = screen__print(report->profile, &file, report->options, stdout);

	return !err && fflush(stdout) ? -errno : err;
}

static int print(const struct report *report)
{
	const struct report_options *options = report->options;
	const struct {
		const char *path;
		write_fn write;
	} outputs[] = {
		{ options->folded ? "-" : NULL, folded__write },
		{ options->json ? "-" : NULL, json__write },
		{ options->flamegraph, flamegraph__write },
		{ options->pprof, pprof__write },
		{ options->speedscope, speedscope__write },
	};
	bool any = false;
	int err = 0;

	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]) && !err; i++) {
		any |= outputs[i].path != NULL;
		err = write_file(report, outputs[i].path, outputs[i].write);
	}
	return any || err ? err : print_screen(report);
}

int report__run(const struct report_options *options)
{
	struct report report = { .options = options };
	unsigned long errors = log__nr_errors();
	int err;

	report.input = input__open(options->input, &err);
	if (!report.input)
		return err;
	report.machine = machine__new();
	report.symbols = symbols__new(&options->symbols);
	if (report.symbols)
		report.profile = profile__new(report.symbols, &options->filter);
	err = report.machine && report.profile ? read_all(&report) : -ENOMEM;
	locks__sort(&report.locks);
	if (!err)
		err = print(&report);
	if (err && log__nr_errors() == errors)
		pr_err("cannot report %s: %s", options->input, strerror(-err));
	locks__free(&report.locks);
	profile__delete(report.profile);
	symbols__delete(report.symbols);
	machine__delete(report.machine);
	input__close(report.input);
	return err;
}
