/* SPDX-License-Identifier: GPL-2.0-only */
/* The order of records that the recorder promises to readers. */
#include "common/harness.h"
#include "common/machine_events.h"

#include <unistd.h>

#include "output/perfdata/layout.h"
#include "output/perfdata/writer.h"
#include "record/sink.h"

FIXTURE(rounds)
{
	char dir[64];
	char path[80];
	struct machine *machine;
	struct sink sink;
	struct capture_sink capture;
};

FIXTURE_SETUP(rounds)
{
	static const char *const argv[] = { "denet-record" };
	struct writer_options options = { .argc = 1, .argv = argv, .version = "0" };
	int err;

	snprintf(self->dir, sizeof(self->dir), "/tmp/denet-rounds-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->path, sizeof(self->path), "%s/perf.data", self->dir);
	options.path = self->path;
	memset(&self->sink, 0, sizeof(self->sink));
	self->machine = machine__new();
	ASSERT_NE(NULL, self->machine);
	ASSERT_EQ(0, sink__init(&self->sink, self->machine, &self->capture, CALLCHAIN_FP));
	sink__set_writer(&self->sink, writer__new(&options, &err));
	ASSERT_NE(NULL, self->sink.writer);
	ASSERT_EQ(0, maps_code(self->machine, 42, 0x1000, 0x1000, "/bin/a", 0));
}

FIXTURE_TEARDOWN(rounds)
{
	writer__close(self->sink.writer);
	sink__free(&self->sink);
	machine__delete(self->machine);
	unlink(self->path);
	rmdir(self->dir);
}

/* The types of the records from the first sample on: S, R for a round, or ? */
static void read_records(const char *path, char *text, size_t size)
{
	struct layout_header header = { 0 };
	struct perf_event_header record;
	FILE *file = fopen(path, "re");
	size_t nr = 0;

	if (file && fread(&header, sizeof(header), 1, file) == 1)
		fseek(file, (long)header.data.offset, SEEK_SET);
	while (file && nr + 1 < size && fread(&record, sizeof(record), 1, file) == 1) {
		if (record.type == PERF_RECORD_SAMPLE || record.type == LAYOUT_FINISHED_ROUND)
			text[nr++] = record.type == PERF_RECORD_SAMPLE ? 'S' : 'R';
		else if (record.type != LAYOUT_EVENT_UPDATE)
			break;
		fseek(file, record.size - (long)sizeof(record), SEEK_CUR);
	}
	text[nr] = '\0';
	if (file)
		fclose(file);
}

TEST_F(rounds, no_round_ends_while_a_sample_is_out_that_is_older_than_the_last_one)
{
	static const uint64_t good[] = { 0x1100 }, garbage[] = { 0x1100, 0x7 };
	struct sample early = { .time = 150, .pid = 42, .user = { garbage, 2, false } };
	struct sample late = { .time = 200, .pid = 42, .user = { good, 1, false } };
	char records[16];

	ASSERT_EQ(0, self->capture.sample(&self->sink, &late));
	ASSERT_EQ(0, self->capture.round(&self->sink));
	/* This one waits for the side band. */
	ASSERT_EQ(0, self->capture.sample(&self->sink, &early));
	ASSERT_EQ(0, self->capture.round(&self->sink));
	late.time = 300;
	ASSERT_EQ(0, self->capture.sample(&self->sink, &late));
	ASSERT_EQ(0, self->capture.round(&self->sink));
	ASSERT_EQ(0, self->capture.settled(&self->sink, 250));
	ASSERT_EQ(0, self->capture.round(&self->sink));
	/* Samples younger than all that were queued at the last round need not wait. */
	early.time = 310;
	ASSERT_EQ(0, self->capture.sample(&self->sink, &early));
	ASSERT_EQ(0, self->capture.round(&self->sink));
	ASSERT_EQ(0, writer__flush(self->sink.writer));
	read_records(self->path, records, sizeof(records));
	EXPECT_STREQ("SRSSRR", records);
	EXPECT_EQ(1, self->sink.callchain.stats.cut);
}

TEST_HARNESS_MAIN
