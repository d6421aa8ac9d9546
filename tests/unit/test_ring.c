/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <linux/perf_event.h>

#include "capture/ring.h"
#include "common/harness.h"

static const uint64_t ids[RING_EVENTS] = { [RING_SIDEBAND] = 17, [RING_BPF_OUTPUT] = 19 };

/* A record of any event: the id stands first in a sample, last in all others. */
struct record {
	struct perf_event_header header;
	uint64_t first;
	uint64_t between;
	uint64_t last;
};

static struct record make_record(uint32_t type, uint64_t id)
{
	struct record record = { .header = { .type = type, .size = sizeof(record) } };

	if (type == PERF_RECORD_SAMPLE)
		record.first = id;
	else
		record.last = id;
	return record;
}

static int event_of(uint32_t type, uint64_t id)
{
	struct record record = make_record(type, id);

	return ring_record__event(&record, sizeof(record), ids);
}

TEST(a_record_is_of_the_event_whose_id_it_carries)
{
	EXPECT_EQ(RING_BPF_OUTPUT, event_of(PERF_RECORD_SAMPLE, 19));
	EXPECT_EQ(RING_SIDEBAND, event_of(PERF_RECORD_SAMPLE, 17));
	EXPECT_EQ(RING_SIDEBAND, event_of(PERF_RECORD_MMAP2, 17));
	EXPECT_EQ(RING_SIDEBAND, event_of(PERF_RECORD_EXIT, 17));
	EXPECT_EQ(RING_BPF_OUTPUT, event_of(PERF_RECORD_LOST, 19));
}

TEST(a_record_of_another_event_is_of_none_of_ours)
{
	EXPECT_EQ(RING_EVENTS, event_of(PERF_RECORD_SAMPLE, 18));
	EXPECT_EQ(RING_EVENTS, event_of(PERF_RECORD_COMM, 0));
}

TEST(a_record_too_short_for_an_id_is_refused)
{
	struct record record = make_record(PERF_RECORD_SAMPLE, 19);
	size_t least = sizeof(record.header) + sizeof(record.first);

	EXPECT_EQ(RING_BPF_OUTPUT, ring_record__event(&record, least, ids));
	for (size_t size = 0; size < least; size++)
		EXPECT_EQ(-EINVAL, ring_record__event(&record, size, ids));
}

struct raw_sample {
	struct perf_event_header header;
	uint64_t id;
	uint32_t raw_size;
	char raw[12];
};

static struct ring_record raw_record(const struct raw_sample *sample, size_t size)
{
	return (struct ring_record){ &sample->header, size, RING_BPF_OUTPUT, 0 };
}

TEST(raw_data_are_handed_out_up_to_the_end_of_the_record_and_no_further)
{
	struct raw_sample sample = {
		.header = { .type = PERF_RECORD_SAMPLE, .size = sizeof(sample) },
		.id = 19,
		.raw_size = sizeof(sample.raw),
	};
	struct ring_record record = raw_record(&sample, sizeof(sample));
	size_t size = 0;

	EXPECT_EQ((const void *)sample.raw, ring_record__raw(&record, &size));
	EXPECT_EQ(sizeof(sample.raw), size);
	for (size_t cut = 0; cut < sizeof(sample); cut++) {
		record = raw_record(&sample, cut);
		EXPECT_EQ(NULL, ring_record__raw(&record, &size));
	}
	record = raw_record(&sample, sizeof(sample));
	sample.raw_size++;
	EXPECT_EQ(NULL, ring_record__raw(&record, &size));
	sample.raw_size = UINT32_MAX;
	EXPECT_EQ(NULL, ring_record__raw(&record, &size));
	sample.raw_size = 0;
	EXPECT_NE(NULL, ring_record__raw(&record, &size));
	EXPECT_EQ(0, size);
	sample.header.type = PERF_RECORD_LOST;
	EXPECT_EQ(NULL, ring_record__raw(&record, &size));
}

TEST_HARNESS_MAIN
