/* SPDX-License-Identifier: GPL-2.0-only */
/* Lengths of blocks, as text and as JSON. */
#include "hist/duration_hist.h"

#include <inttypes.h>
#include <string.h>

#include "base/out_stream.h"
#include "base/units.h"

#define BAR_WIDTH 14
/* More empty lines in a row than these are replaced by dots. */
#define WIDE_GAP 2

/* Sample rates for which a threshold is suggested: affordable anywhere, and negligible. */
static const unsigned int named_rates[] = { 1000, 100 };

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* A bound as one types it, "250us"; with a space in between as one reads it. */
static char *format_bound(uint64_t ns, const char *space, char *buf, size_t size)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	size_t unit = 0;

	for (; ns >= 1000 && unit < 3; unit++)
		ns /= 1000;
	if (ns)
		snprintf(buf, size, "%" PRIu64 "%s%s", ns, space, units[unit]);
	else
		snprintf(buf, size, "0");
	return buf;
}

static char *format_span(size_t bucket, char *buf, size_t size)
{
	char from[32], to[32];

	format_bound(hist__bound(bucket), " ", from, sizeof(from));
	format_bound(hist__bound(bucket + 1), " ", to, sizeof(to));
	if (!bucket)
		snprintf(buf, size, "below %s", to);
	else if (bucket == CAPTURE_HIST_BUCKETS - 1)
		snprintf(buf, size, "%s and more", from);
	else
		snprintf(buf, size, "%s - %s", from, to);
	return buf;
}

/* "1,234.5". Returns buf. */
static char *format_rate(double rate, char *buf, size_t size)
{
	uint64_t tenths = (uint64_t)(rate * 10 + 0.5);
	char whole[32];

	snprintf(buf, size, "%s.%u", units__format_count(tenths / 10, whole, sizeof(whole)),
		 (unsigned int)(tenths % 10));
	return buf;
}

/* In tenths of a percent; only 0 is printed as 0, and only the whole as 100. */
static char *format_share(uint64_t part, uint64_t whole, char *buf, size_t size)
{
	double percent = units__percent(part, whole);

	if (part && percent < 0.05)
		snprintf(buf, size, "< 0.1 %%");
	else if (part < whole && percent >= 99.95)
		snprintf(buf, size, "> 99.9 %%");
	else
		snprintf(buf, size, "%.1f %%", percent);
	return buf;
}

/* A value too small for a mark gets a colon. Returns buf. */
static char *format_bar(uint64_t value, uint64_t most, char buf[BAR_WIDTH + 1])
{
	size_t marks = most ? (size_t)((double)value / (double)most * BAR_WIDTH + 0.5) : 0;

	memset(buf, '#', marks);
	if (value && !marks)
		buf[marks++] = ':';
	buf[marks] = '\0';
	return buf;
}

static struct capture_tally sum_buckets(const struct capture_tally *buckets)
{
	struct capture_tally sum = { 0 };

	for (size_t i = 0; i < CAPTURE_HIST_BUCKETS; i++) {
		sum.count += buckets[i].count;
		sum.ns += buckets[i].ns;
	}
	return sum;
}

static void print_bucket(size_t bucket, const struct capture_tally *tally,
			 const struct capture_tally *most, FILE *out)
{
	char span[80], count[32], time[32], counts[BAR_WIDTH + 1], times[BAR_WIDTH + 1];

	format_bar(tally->ns, most->ns, times);
	fprintf(out, "%16s %13s  %-*s %12s%s%s\n", format_span(bucket, span, sizeof(span)),
		units__format_count(tally->count, count, sizeof(count)), BAR_WIDTH,
		format_bar(tally->count, most->count, counts),
		units__format_time(tally->ns, time, sizeof(time)), *times ? "  " : "", times);
}

static struct capture_tally most_of(const struct capture_tally *buckets)
{
	struct capture_tally most = { 0 };

	for (size_t i = 0; i < CAPTURE_HIST_BUCKETS; i++) {
		if (buckets[i].count > most.count)
			most.count = buckets[i].count;
		if (buckets[i].ns > most.ns)
			most.ns = buckets[i].ns;
	}
	return most;
}

/* How many empty buckets there are from this one on, before one that is not; 0 at the end. */
static size_t gap_at(const struct capture_tally *buckets, size_t bucket)
{
	size_t gap = 0;

	while (bucket + gap < CAPTURE_HIST_BUCKETS && !buckets[bucket + gap].count)
		gap++;
	return bucket + gap < CAPTURE_HIST_BUCKETS ? gap : 0;
}

/* Prints the shortest to the longest length seen. A wide gap gets one line. */
static void print_buckets(const struct capture_tally *buckets, FILE *out)
{
	struct capture_tally most = most_of(buckets);
	bool begun = false;
	size_t gap;

	fprintf(out, "%16s %13s  %-*s %12s\n", "length", "blocks", BAR_WIDTH, "", "time");
	for (size_t i = 0; i < CAPTURE_HIST_BUCKETS; i++) {
		gap = gap_at(buckets, i);
		if (!gap && !buckets[i].count)
			break;
		if (gap && (gap > WIDE_GAP || !begun)) {
			if (begun)
				fprintf(out, "%16s\n", "...");
			i += gap;
		}
		begun = true;
		print_bucket(i, &buckets[i], &most, out);
	}
}

static const char *state_words(char state)
{
	static const struct {
		char state;
		const char *words;
	} table[] = {
		{ 'R', "state R, ready to run" },    { 'S', "state S, asleep" },
		{ 'D', "state D, uninterruptible" }, { 'T', "state T, stopped" },
		{ 't', "state t, traced" },          { 'I', "state I, idle kernel threads" },
		{ 'P', "state P, parked" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].state == state)
			return table[i].words;
	}
	return "other states";
}

static void print_states(const struct duration_hist *hist, FILE *out)
{
	const struct capture_hist_row *rows = hist->ended.rows;
	char count[32], time[32];
	struct capture_tally sum;

	for (size_t i = 0; i < CAPTURE_HIST_STATES; i++) {
		sum = sum_buckets(rows[i].buckets);
		if (!sum.count)
			continue;
		fprintf(out, "\n%s: %s block%s, %s\n", state_words(rows[i].state),
			units__format_count(sum.count, count, sizeof(count)), plural(sum.count),
			units__format_time(sum.ns, time, sizeof(time)));
		print_buckets(rows[i].buckets, out);
	}
}

static void print_blocked(const struct duration_hist *hist, FILE *out)
{
	struct capture_tally sum = sum_buckets(hist->still_blocked);
	char count[32], time[32];

	if (!sum.count)
		return;
	fprintf(out, "\nstill blocked at the end: %s thread%s, %s",
		units__format_count(sum.count, count, sizeof(count)), plural(sum.count),
		units__format_time(sum.ns, time, sizeof(time)));
	if (hist->never_ran.count)
		fprintf(out, "; of these, %s never ran",
			units__format_count(hist->never_ran.count, count, sizeof(count)));
	fputc('\n', out);
	print_buckets(hist->still_blocked, out);
}

static void print_threshold(const struct threshold *row, uint64_t default_ns, FILE *out)
{
	uint64_t blocks = row->direct.count + row->summed.count;
	uint64_t ns = row->direct.ns + row->summed.ns;
	char bound[32], label[48], rate[40], bytes[40], count_share[16], ns_share[16];

	snprintf(label, sizeof(label), "%s%s", row->ns == default_ns ? "(default) " : "",
		 format_bound(row->ns, "", bound, sizeof(bound)));
	fprintf(out, "%16s %15s %10s %16s %16s\n", label,
		format_rate(row->samples_per_second, rate, sizeof(rate)),
		format_rate(row->bytes_per_minute / (1024 * 1024), bytes, sizeof(bytes)),
		format_share(row->summed.count, blocks, count_share, sizeof(count_share)),
		format_share(row->summed.ns, ns, ns_share, sizeof(ns_share)));
}

static void print_thresholds(const struct threshold *rows, size_t nr, FILE *out)
{
	struct capture_options defaults;

	capture_options__init(&defaults);
	fprintf(out,
		"\n%16s %26s %33s\n"
		"%16s %15s %10s %16s %16s\n",
		"", "samples of their own", "shorter, added up", "--off-cpu-thresh", "per second",
		"MB/minute", "of the blocks", "of the time");
	for (size_t i = 0; i < nr; i++)
		print_threshold(&rows[i], defaults.threshold_ns, out);
}

static void print_advice(const struct threshold *rows, size_t nr, FILE *out)
{
	const struct threshold *row, *before = NULL;
	char bound[32], rate[40], limit[32];

	fprintf(out,
		"\nA sample is taken to have %d bytes, with a callchain of %d frames. What is\n"
		"added up costs at most one sample for each thread, state and callchain in each\n"
		"window (1 s); how many these are, only a recording tells.\n\n",
		DURATION_HIST_SAMPLE_BYTES, DURATION_HIST_SAMPLE_FRAMES);
	for (size_t i = 0; i < sizeof(named_rates) / sizeof(named_rates[0]); i++) {
		row = duration_hist__suggest(rows, nr, named_rates[i]);
		if (!row || row == before)
			continue;
		before = row;
		fprintf(out, "below %5s samples/s: --off-cpu-thresh %s (%s samples/s)\n",
			units__format_count(named_rates[i], limit, sizeof(limit)),
			format_bound(row->ns, "", bound, sizeof(bound)),
			format_rate(row->samples_per_second, rate, sizeof(rate)));
	}
}

int duration_hist__print(const struct duration_hist *hist, bool quiet, FILE *out)
{
	struct threshold rows[DURATION_HIST_THRESHOLDS];
	size_t nr = duration_hist__thresholds(hist, rows);
	char count[32], off[32], watched[32];

	fprintf(out, "%s block%s ended within %s: %s off the CPU\n",
		units__format_count(rows[0].direct.count, count, sizeof(count)),
		plural(rows[0].direct.count),
		units__format_time(hist->duration_ns, watched, sizeof(watched)),
		units__format_time(rows[0].direct.ns, off, sizeof(off)));
	print_states(hist, out);
	print_blocked(hist, out);
	if (!rows[0].direct.count)
		return out_stream__flush(out);
	print_thresholds(rows, nr, out);
	if (!quiet)
		print_advice(rows, nr, out);
	return out_stream__flush(out);
}

static void print_json_sum(const struct capture_tally *buckets, FILE *out)
{
	struct capture_tally sum = sum_buckets(buckets);

	fprintf(out, "\"blocks\": %" PRIu64 ", \"ns\": %" PRIu64 ", ", sum.count, sum.ns);
}

static void print_json_buckets(const struct capture_tally *buckets, FILE *out)
{
	const char *comma = "";

	fputs("\"buckets\": [", out);
	for (size_t i = 0; i < CAPTURE_HIST_BUCKETS; i++) {
		if (!buckets[i].count)
			continue;
		fprintf(out, "%s\n    {\"from_ns\": %" PRIu64 ", ", comma, hist__bound(i));
		/* The last bucket has no end. */
		if (i + 1 < CAPTURE_HIST_BUCKETS)
			fprintf(out, "\"to_ns\": %" PRIu64 ", ", hist__bound(i + 1));
		fprintf(out, "\"blocks\": %" PRIu64 ", \"ns\": %" PRIu64 "}", buckets[i].count,
			buckets[i].ns);
		comma = ",";
	}
	fputs("]}", out);
}

static void print_json_thresholds(const struct duration_hist *hist, FILE *out)
{
	struct threshold rows[DURATION_HIST_THRESHOLDS];
	size_t nr = duration_hist__thresholds(hist, rows);

	fprintf(out, " \"sample_bytes\": %d,\n \"thresholds\": [", DURATION_HIST_SAMPLE_BYTES);
	for (size_t i = 0; i < nr; i++)
		fprintf(out,
			"%s\n  {\"threshold_ns\": %" PRIu64 ", \"direct_blocks\": %" PRIu64
			", \"direct_ns\": %" PRIu64 ", \"summed_blocks\": %" PRIu64
			", \"summed_ns\": %" PRIu64 ",\n   \"direct_per_second\": %.3f, "
			"\"direct_bytes_per_minute\": %.0f}",
			i ? "," : "", rows[i].ns, rows[i].direct.count, rows[i].direct.ns,
			rows[i].summed.count, rows[i].summed.ns, rows[i].samples_per_second,
			rows[i].bytes_per_minute);
	fputs("]}\n", out);
}

int duration_hist__print_json(const struct duration_hist *hist, FILE *out)
{
	const struct capture_hist_row *rows = hist->ended.rows;
	const char *comma = "";

	fprintf(out, "{\"duration_ns\": %" PRIu64 ", \"lost\": %" PRIu64 ",\n \"states\": [",
		hist->duration_ns, hist->lost);
	for (size_t i = 0; i < CAPTURE_HIST_STATES; i++) {
		if (!sum_buckets(rows[i].buckets).count)
			continue;
		fprintf(out, "%s\n  {\"state\": \"%c\", ", comma, rows[i].state);
		print_json_sum(rows[i].buckets, out);
		print_json_buckets(rows[i].buckets, out);
		comma = ",";
	}
	fputs("],\n \"still_blocked\": {", out);
	print_json_sum(hist->still_blocked, out);
	fprintf(out, "\"never_ran\": %" PRIu64 ", ", hist->never_ran.count);
	print_json_buckets(hist->still_blocked, out);
	fputs(",\n", out);
	print_json_thresholds(hist, out);
	return out_stream__flush(out);
}
