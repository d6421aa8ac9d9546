/* SPDX-License-Identifier: GPL-2.0-only */
/* The formats of our own events, read back by libtraceevent and by this machine's perf. */
#include "host/tracepoint.h"
#include "output/perfdata/tracing.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>
#include <unistd.h>

#include "common/harness.h"
#include "common/perfdata_events.h"
#include "output/perfdata/attrs.h"
#include "output/perfdata/layout.h"
#include "output/perfdata/writer.h"

static const struct writer_sampling change = {
	.old_period_ns = 10000,
	.new_period_ns = 20000,
	.old_threshold_ns = 300000,
	.new_threshold_ns = 400000,
	.max_rate = 999,
	.bpf_ppm = 45678,
	.own_ppm = 1234,
	.limit_ppm = 30000,
	.text = "as somebody said",
};

/* The bytes of a sample: the common fields and those of the change. */
struct raw {
	struct tracing_common common;
	struct writer_sampling change;
};

static const struct tracing_event *sampling_event(void)
{
	size_t nr;

	return &tracing__events(&nr)[0];
}

TEST(every_format_is_what_libtraceevent_takes_and_adds_up_to_its_size)
{
	size_t nr;
	const struct tracing_event *events = tracing__events(&nr);

	ASSERT_LT(0, nr);
	for (size_t i = 0; i < nr; i++) {
		struct tep_handle *tep = tep_alloc();
		struct tep_event *event = NULL;
		struct tep_format_field *last;
		struct buffer text = { 0 };

		ASSERT_EQ(0, tracing_event__format(&events[i], &text));
		ASSERT_EQ(0, tep_parse_event(tep, text.data, text.len, TRACING_SYSTEM));
		event = tep_find_event_by_name(tep, TRACING_SYSTEM, events[i].name);
		ASSERT_NE(NULL, event);
		EXPECT_STREQ(events[i].name, event->name);
		EXPECT_EQ(events[i].config, event->id);
		EXPECT_EQ(4, event->format.nr_common);
		for (last = event->format.fields; last->next; last = last->next)
			;
		EXPECT_EQ(tracing_event__size(&events[i]), (size_t)(last->offset + last->size));
		EXPECT_EQ(&events[i], tracing__event(events[i].config));
		buffer__free(&text);
		tep_free(tep);
	}
	EXPECT_EQ(NULL, tracing__event(1));
}

/*
 * perf script pads the names of events to the longest one, and readers that count one blank behind
 * the period then take no period: they count samples instead of time.
 */
TEST(the_names_of_all_events_have_one_length)
{
	const struct event_kind *kinds[ATTRS_MAX];
	size_t nr = attrs__select(UINT64_MAX, kinds);

	ASSERT_LT(4, nr);
	EXPECT_STREQ("offcpu-time", kinds[0]->name);
	for (size_t i = 0; i < nr; i++)
		EXPECT_EQ(strlen(kinds[0]->name), strlen(kinds[i]->name));
}

TEST(every_tracepoint_has_the_name_of_its_format)
{
	const struct event_kind *kinds[ATTRS_MAX];
	size_t nr = attrs__select_others(attrs__late_bits(), kinds);
	char name[64];

	ASSERT_LT(0, nr);
	for (size_t i = 0; i < nr; i++) {
		ASSERT_NE(NULL, tracing__event(kinds[i]->config));
		snprintf(name, sizeof(name), TRACING_SYSTEM ":%s",
			 tracing__event(kinds[i]->config)->name);
		EXPECT_STREQ(name, kinds[i]->name);
	}
}

TEST(a_sampling_sample_reads_in_words)
{
	const struct tracing_event *sampling = sampling_event();
	struct raw raw = { { .type = sampling->config, .pid = 42 }, change };
	struct tep_record record = { .data = &raw, .size = sizeof(raw) };
	struct tep_handle *tep = tep_alloc();
	struct tep_event *event = NULL;
	struct buffer text = { 0 };
	struct trace_seq seq;

	ASSERT_EQ(tracing_event__size(sampling), sizeof(raw));
	ASSERT_EQ(0, tracing_event__format(sampling, &text));
	ASSERT_EQ(0, tep_parse_event(tep, text.data, text.len, TRACING_SYSTEM));
	event = tep_find_event(tep, sampling->config);
	ASSERT_NE(NULL, event);
	trace_seq_init(&seq);
	tep_print_event(tep, &seq, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&seq);
	EXPECT_STREQ(
		"period 10000 -> 20000 ns, threshold 300000 -> 400000 ns (as somebody said)",
		seq.buffer);
	trace_seq_destroy(&seq);
	buffer__free(&text);
	tep_free(tep);
}

/* A field's number, as a reader that knows nothing of us finds it. */
static unsigned long long field_of(struct tep_event *event, const char *name, void *data)
{
	unsigned long long value = 0;

	tep_read_number_field(tep_find_any_field(event, name), data, &value);
	return value;
}

TEST(the_fields_are_where_the_format_says)
{
	const struct tracing_event *sampling = sampling_event();
	struct raw raw = { { .type = sampling->config, .pid = 42 }, change };
	struct tep_handle *tep = tep_alloc();
	struct tep_event *event = NULL;
	struct buffer text = { 0 };

	ASSERT_EQ(0, tracing_event__format(sampling, &text));
	ASSERT_EQ(0, tep_parse_event(tep, text.data, text.len, TRACING_SYSTEM));
	event = tep_find_event(tep, sampling->config);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(sampling->config, field_of(event, "common_type", &raw));
	EXPECT_EQ(42, field_of(event, "common_pid", &raw));
	EXPECT_EQ(change.old_period_ns, field_of(event, "old_period_ns", &raw));
	EXPECT_EQ(change.new_period_ns, field_of(event, "new_period_ns", &raw));
	EXPECT_EQ(change.old_threshold_ns, field_of(event, "old_threshold_ns", &raw));
	EXPECT_EQ(change.new_threshold_ns, field_of(event, "new_threshold_ns", &raw));
	EXPECT_EQ(change.max_rate, field_of(event, "max_rate", &raw));
	EXPECT_EQ(change.bpf_ppm, field_of(event, "bpf_ppm", &raw));
	EXPECT_EQ(change.own_ppm, field_of(event, "own_ppm", &raw));
	EXPECT_EQ(change.limit_ppm, field_of(event, "limit_ppm", &raw));
	buffer__free(&text);
	tep_free(tep);
}

FIXTURE(file)
{
	char dir[64];
	char path[96];
	char command[512];
};

FIXTURE_SETUP(file)
{
	snprintf(self->dir, sizeof(self->dir), "/tmp/denet-tracing-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->path, sizeof(self->path), "%s/perf.data", self->dir);
}

FIXTURE_TEARDOWN(file)
{
	snprintf(self->command, sizeof(self->command), "rm -rf '%s'", self->dir);
	EXPECT_EQ(0, system(self->command));
}

/* Three samples of 1000 ns each and one overhead event between them. */
static int write_file(const char *path, bool overhead, bool cgroups)
{
	static const char *const argv[] = { "denet-record" };
	const struct writer_options options = {
		.path = path, .cgroups = cgroups, .argc = 1, .argv = argv, .version = "0"
	};
	const struct writer_trace trace = { .time = 1500,
					    .pid = 42,
					    .tid = 42,
					    .cpu = 0,
					    .fields = &change,
					    .size = sizeof(change) };
	static const uint64_t ip = 0x401234;
	struct sample sample = { .period = 1000,
				 .count = 1,
				 .pid = 7,
				 .tid = 7,
				 .cgroup = 5,
				 .user = { .ips = &ip, .nr = 1 } };
	int err;
	struct writer *writer = writer__new(&options, &err);

	if (!writer)
		return err;
	err = writer__task_event(writer, &text_mapping);
	err |= write_name(writer, 7, 7, "app");
	for (uint64_t i = 1; i <= 3; i++) {
		sample.time = i * 1000;
		err |= writer__sample(writer, WRITER_OFFCPU_TIME, &sample);
		if (i == 1 && overhead)
			err |= writer__trace(writer, WRITER_SAMPLING, &trace);
	}
	return err | writer__close(writer);
}

TEST_F(file, a_trace_of_another_size_or_event_is_refused)
{
	const struct writer_options options = { .path = self->path, .version = "0" };
	struct writer_trace trace = { .fields = &change, .size = sizeof(change) - 1 };
	int err;
	struct writer *writer = writer__new(&options, &err);

	ASSERT_NE(NULL, writer);
	EXPECT_EQ(-EINVAL, writer__trace(writer, WRITER_SAMPLING, &trace));
	trace.size = sizeof(change);
	EXPECT_EQ(-EINVAL, writer__trace(writer, WRITER_OFFCPU_TIME, &trace));
	EXPECT_EQ(0, writer__trace(writer, WRITER_SAMPLING, &trace));
	EXPECT_EQ(0, writer__close(writer));
}

/* True if the shell command, in which $F is the file, succeeds. */
static bool succeeds(FIXTURE_DATA(file) * self, const char *command)
{
	snprintf(self->command, sizeof(self->command), "F=%s; { %s; } </dev/null", self->path,
		 command);
	return system(self->command) == 0;
}

#define NEED_PERF()                                              \
	do {                                                     \
		if (system("perf version >/dev/null 2>&1"))      \
			SKIP(return, "no perf on this machine"); \
	} while (0)

#define SCRIPT "perf script -i $F -F comm,period,event,trace 2>&1"

TEST_F(file, perf_prints_the_event_in_words_and_counts_none_of_it_as_time)
{
	NEED_PERF();
	for (int cgroups = 0; cgroups < 2; cgroups++) {
		ASSERT_EQ(0, write_file(self->path, true, cgroups));
		EXPECT_TRUE(succeeds(self, SCRIPT
				     "| grep -q 'denet:rates: period 10000 -> 20000 ns'"));
		EXPECT_TRUE(succeeds(self, "[ $(" SCRIPT "| grep -c '1000 *offcpu-time:') = 3 ]"));
		EXPECT_TRUE(succeeds(self, "[ $(" SCRIPT "| grep -c denet:) = 1 ]"));
		EXPECT_TRUE(succeeds(self, "! " SCRIPT "| grep -iE 'warn|error|fail'"));
	}
}

/* Reads what the header of the file says; the file is small. */
static size_t load(const char *path, char *bytes, size_t size, struct layout_header *header)
{
	FILE *stream = fopen(path, "re");
	size_t nr = stream ? fread(bytes, 1, size, stream) : 0;

	if (stream)
		fclose(stream);
	memcpy(header, bytes, sizeof(*header));
	return nr;
}

/* Perfetto's reader, for one, takes what is behind the last feature for damage. */
TEST_F(file, the_table_of_all_attrs_stands_between_the_index_and_the_features)
{
	struct layout_section tracing, last;
	struct layout_header header;
	static char bytes[65536];
	size_t size, index, nr;

	ASSERT_EQ(0, write_file(self->path, true, false));
	size = load(self->path, bytes, sizeof(bytes), &header);
	nr = (size_t)__builtin_popcountll(header.features[0]);
	index = header.data.offset + header.data.size;
	memcpy(&tracing, bytes + index, sizeof(tracing));
	memcpy(&last, bytes + index + (nr - 1) * sizeof(last), sizeof(last));
	EXPECT_EQ(2 * sizeof(struct layout_attr), header.attrs.size);
	EXPECT_EQ(index + nr * sizeof(last) + 2 * sizeof(uint64_t), header.attrs.offset);
	EXPECT_EQ(header.attrs.offset + header.attrs.size, tracing.offset);
	EXPECT_EQ(size, last.offset + last.size);
}

TEST_F(file, sample_time_covers_samples_of_all_events)
{
	const struct writer_options options = { .path = self->path, .version = "0" };
	struct writer_trace trace = { .time = 500, .fields = &change, .size = sizeof(change) };
	struct sample sample = { .time = 1000, .period = 10, .count = 1, .pid = 7, .tid = 7 };
	uint64_t times[2] = { 0 };
	struct layout_header header;
	static char bytes[65536];
	int err;
	struct writer *writer = writer__new(&options, &err);

	ASSERT_NE(NULL, writer);
	ASSERT_EQ(0, writer__sample(writer, WRITER_OFFCPU_TIME, &sample));
	ASSERT_EQ(0, writer__trace(writer, WRITER_SAMPLING, &trace));
	trace.time = 1500;
	ASSERT_EQ(0, writer__trace(writer, WRITER_SAMPLING, &trace));
	ASSERT_EQ(0, writer__close(writer));
	load(self->path, bytes, sizeof(bytes), &header);
	for (size_t bit = 0, at = header.data.offset + header.data.size; bit < 64; bit++) {
		struct layout_section section;

		if (!(header.features[0] >> bit & 1))
			continue;
		memcpy(&section, bytes + at, sizeof(section));
		if (bit == LAYOUT_FEATURE_SAMPLE_TIME)
			memcpy(times, bytes + section.offset, sizeof(times));
		at += sizeof(section);
	}
	EXPECT_EQ(500, times[0]);
	EXPECT_EQ(1500, times[1]);
}

TEST_F(file, the_first_event_of_perf_report_stays_offcpu_time)
{
	NEED_PERF();
	ASSERT_EQ(0, write_file(self->path, true, false));
	EXPECT_TRUE(succeeds(self, "perf report --stdio -i $F 2>/dev/null | grep '# Samples' |"
				   "head -1 | grep -q \"3  *of event 'offcpu-time'\""));
	EXPECT_TRUE(succeeds(self, "perf evlist -i $F | head -1 | grep -q '^offcpu-time$'"));
}

TEST_F(file, a_file_without_the_event_does_not_know_it)
{
	NEED_PERF();
	ASSERT_EQ(0, write_file(self->path, false, false));
	EXPECT_TRUE(succeeds(self, "[ \"$(perf evlist -i $F)\" = offcpu-time ]"));
}

TEST_F(file, a_pipe_carries_the_event_as_well)
{
	NEED_PERF();
	ASSERT_EQ(0, mkfifo(self->path, 0600));
	pid_t child = fork();

	ASSERT_LE(0, child);
	if (!child)
		_exit(write_file(self->path, true, false) ? 1 : 0);
	EXPECT_TRUE(succeeds(self, "cat $F >$F.copy"));
	EXPECT_TRUE(succeeds(self, "perf script -i - -F comm,period,event,trace <$F.copy 2>&1 |"
				   "grep -q 'denet:rates: period 10000 -> 20000 ns'"));
	EXPECT_TRUE(succeeds(self, "[ $(perf script -i - -F period,event <$F.copy 2>/dev/null |"
				   "grep -c '1000 *offcpu-time:') = 3 ]"));
}

/* The first feature behind the data of a file as it is now: the one with the lowest bit. */
static bool has_format(const char *bytes, const struct layout_header *header, const char *text)
{
	struct layout_section tracing;

	if (!(header->features[0] & 1ULL << LAYOUT_FEATURE_TRACING_DATA))
		return false;
	memcpy(&tracing, bytes + header->data.offset + header->data.size, sizeof(tracing));
	return memmem(bytes + tracing.offset, tracing.size, text, strlen(text)) != NULL;
}

/* After each flush a file whose writer is killed has the formats of its tracepoints. */
TEST_F(file, each_flush_leaves_a_file_with_the_formats_of_tracepoints)
{
	static char name[] = "sched:sched_test", system[] = "sched";
	static char format[] = "name: sched_test\nID: 77\nformat:\n"
			       "\tfield:unsigned short common_type;\toffset:0;\tsize:2;"
			       "\tsigned:0;\n\n"
			       "\tfield:int prio;\toffset:8;\tsize:4;\tsigned:1;\n\n"
			       "print fmt: \"%d\", REC->prio\n";
	struct tracepoint tracepoint = { name, system, 77, format };
	const struct tracepoint_list list = { &tracepoint, 1 };
	const struct writer_options options = { .path = self->path, .version = "0",
						.tracepoints = &list };
	struct sample sample = { .time = 1000, .period = 10, .count = 1, .pid = 7, .tid = 7 };
	const uint32_t data[3] = { 77, 7, 120 };
	struct layout_header header;
	static char bytes[65536];
	size_t size, flushed = 0;
	int err;
	struct writer *writer = writer__new(&options, &err);

	ASSERT_NE(NULL, writer);
	for (int i = 0; i < 3; i++) {
		size = load(self->path, bytes, sizeof(bytes), &header);
		EXPECT_TRUE(has_format(bytes, &header, format));
		EXPECT_EQ(2 * sizeof(struct layout_attr), header.attrs.size);
		EXPECT_LT(header.attrs.offset + header.attrs.size, size);
		EXPECT_LT(flushed, header.data.size);
		flushed = header.data.size;
		ASSERT_EQ(0, writer__hit(writer, 77, &sample, data, sizeof(data)));
		ASSERT_EQ(0, writer__flush(writer));
	}
	ASSERT_EQ(0, writer__close(writer));
	size = load(self->path, bytes, sizeof(bytes), &header);
	EXPECT_TRUE(has_format(bytes, &header, format));
	EXPECT_LT(flushed, header.data.size + 1);
}

TEST_HARNESS_MAIN
