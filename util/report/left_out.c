/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/left_out.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"
#include "report/shown_time.h"

static void print_hidden(const struct share *idle, bool exact, FILE *out)
{
	char time[SHOWN_TIME_MAX];

	fprintf(out, "hidden: %zu idle thread%s, %s in waits for work; --idle shows them\n",
		idle->tids.used, idle->tids.used == 1 ? "" : "s",
		shown_time__format(exact, idle->ns, time));
}

/* Whether the recording was made with one of these options. */
static bool has_option(const struct input_info *info, const char *const *options, size_t nr)
{
	const char *end = info->cmdline.data + info->cmdline.len;

	for (const char *at = info->cmdline.data; at < end; at += strlen(at) + 1) {
		for (size_t i = 0; i < nr; i++) {
			size_t len = strlen(options[i]);

			if (!strncmp(at, options[i], len) && (!at[len] || at[len] == '='))
				return true;
			/* Options behind it are the command's own. */
			if (!strcmp(at, "--"))
				return false;
		}
	}
	return false;
}

/* Whether the recording was asked to sample blocks. */
static bool draws_blocks(const struct input_info *info)
{
	static const char *const options[] = { "--off-cpu-period", "--off-cpu-max-rate" };

	return has_option(info, options, sizeof(options) / sizeof(options[0]));
}

/* A thread that got no CPU after its wake-up seems to be blocked for longer. */
static void print_unsplit(const struct recording *recording, const struct shares *shares, FILE *out)
{
	static const char *const options[] = { "--split-runqueue", "--wall" };

	if (shares->blocked.ns && !profile__sum(recording->profile, PROFILE_QUEUED).samples &&
	    !has_option(input__info(recording->input), options,
			sizeof(options) / sizeof(options[0])))
		fputs("blocked time includes waits for a CPU after a wake-up: denet-record "
		      "--split-runqueue\n", out);
}

/* The recorder tells behind its version that it drew samples; in a pipe only its options tell. */
static void print_sampled(const struct recording *recording, const struct shares *shares, FILE *out)
{
	const struct input_info *info = input__info(recording->input);
	const char *note = strstr(info->version, " (");
	char time[32], count[32], text[sizeof(info->version)];

	if (note) {
		log__escape(text, sizeof(text), note + 2);
		text[strcspn(text, ")")] = '\0';
		fprintf(out, "sampled: %s; their counts and sums are estimates\n", text);
	} else if (draws_blocks(info)) {
		fputs("sampled: short blocks; their counts and sums are estimates\n", out);
	}
	if (!shares->running.ns)
		return;
	fprintf(out, "sampled: running time has its stacks from %s looks at CPUs",
		units__format_count(shares->looks, count, sizeof(count)));
	if (recording->unmet_ns)
		fprintf(out, "; %s of it was met by none",
			units__format_time(recording->unmet_ns, time, sizeof(time)));
	fputc('\n', out);
}

static void print_losses(const struct input_totals *totals, FILE *out)
{
	if (totals->lost)
		fprintf(out, "lost: %" PRIu64 " records of the recording\n", totals->lost);
	if (totals->stacks)
		fprintf(out,
			"%" PRIu64 " samples have copies of stacks, which only perf "
			"unwinds (--raw-stacks)\n",
			totals->stacks);
	if (totals->broken)
		fprintf(out, "broken: %" PRIu64 " records\n", totals->broken);
	if (totals->unfinished)
		fputs("the writer of the file did not finish: what it had not written yet is "
		      "missing, and so are reasons\n", out);
	if (totals->cut)
		fputs("the file ends within a record: its writer did not finish\n", out);
}

void left_out__print(const struct recording *recording, const struct shares *shares,
		     const struct report_options *options, FILE *out)
{
	struct profile_sum filtered = profile__left_out(recording->profile);
	char time[SHOWN_TIME_MAX];

	if (shares->idle.tids.used && !options->idle)
		print_hidden(&shares->idle, options->form.exact, out);
	if (filtered.samples)
		fprintf(out, "filtered: %" PRIu64 " samples, %s\n", filtered.samples,
			shown_time__format(options->form.exact, filtered.ns, time));
	print_unsplit(recording, shares, out);
	print_sampled(recording, shares, out);
	print_losses(input__totals(recording->input), out);
}
