/* SPDX-License-Identifier: GPL-2.0-only */
#include "input/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "common/harness.h"
#include "output/perfdata/attrs.h"
#include "output/perfdata/encode.h"
#include "output/perfdata/records.h"

#define MANY 8000

/* An event as the writer makes it. */
static struct input_event event_of(enum writer_event id, bool cgroups, uint32_t stack_bytes)
{
	const struct event_kind *selected[ATTRS_MAX];
	unsigned char attr[LAYOUT_ATTR_SIZE];
	struct input_event event = { 0 };
	size_t nr = attrs__select(1ULL << id, selected);

	for (size_t i = 0; i < nr; i++) {
		if (selected[i]->id != id)
			continue;
		attrs__fill(selected[i], cgroups, stack_bytes, attr);
		if (input_record__event(attr, id, &event))
			abort();
	}
	return event;
}

static const uint64_t ips[MANY] = { [0] = 0xffffffff81000010, [1] = 0x401000, [MANY - 1] = 7 };

static struct sample sample_of(uint32_t nr_kernel, uint32_t nr_user)
{
	return (struct sample){
		.time = 5000, .period = 123456789012, .count = 77, .cgroup = 99, .pid = 10,
		.tid = 11, .cpu = 3, .state = 'R', .preempted = true,
		.kernel = { .ips = ips, .nr = nr_kernel },
		.user = { .ips = ips + 1, .nr = nr_user },
	};
}

TEST(a_sample_comes_back_as_it_was_written)
{
	static const uint32_t sides[][2] = {
		{ 0, 0 }, { 1, 0 }, { 0, 1 }, { 2, 3 }, { 1, MANY - 1 },
	};

	for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]) * 2; i++) {
		const bool cgroup = i % 2;
		const struct input_event event = event_of(WRITER_OFFCPU_TIME, cgroup, 0);
		const struct sample sample = sample_of(sides[i / 2][0], sides[i / 2][1]);
		struct buffer record = { 0 };
		struct input_sample got;
		uint64_t id;

		ASSERT_EQ(0, encode__sample(&record, 1, cgroup, &sample));
		ASSERT_EQ(0, input_record__sample_id(record.data, record.len, &id));
		EXPECT_EQ(1, id);
		ASSERT_EQ(0, input_record__sample(record.data, record.len, &event, &got));
		EXPECT_EQ(sample.time, got.time);
		EXPECT_EQ(sample.period, got.period);
		EXPECT_EQ(sample.pid, got.pid);
		EXPECT_EQ(sample.tid, got.tid);
		EXPECT_EQ(sample.cpu, got.cpu);
		EXPECT_EQ(77, got.count);
		EXPECT_EQ('R', got.state);
		EXPECT_TRUE(got.preempted);
		EXPECT_EQ(cgroup ? sample.cgroup : 0, got.cgroup);
		ASSERT_EQ(sample.kernel.nr, got.kernel.nr);
		ASSERT_EQ(sample.user.nr, got.user.nr);
		for (uint32_t n = 0; n < got.kernel.nr; n++)
			EXPECT_EQ(sample.kernel.ips[n], got.kernel.ips[n]);
		for (uint32_t n = 0; n < got.user.nr; n++)
			EXPECT_EQ(sample.user.ips[n], got.user.ips[n]);
		buffer__free(&record);
	}
}

TEST(the_kind_of_time_is_no_frame)
{
	const struct input_event event = event_of(WRITER_OFFCPU_TIME, true, 0);

	for (uint32_t sides = 0; sides < 4; sides++) {
		for (int kind = 0; kind < TIME_KINDS; kind++) {
			const struct sample sample = sample_of(sides & 1, sides >> 1);
			struct buffer record = { 0 };
			struct input_sample got;

			ASSERT_EQ(0, encode__rooted_sample(&record, 1, true,
							   time_kind__address(kind), &sample));
			ASSERT_EQ(0, input_record__sample(record.data, record.len, &event, &got));
			EXPECT_EQ(kind, (int)got.time_kind);
			EXPECT_EQ(sides & 1, got.kernel.nr);
			EXPECT_EQ(sides >> 1, got.user.nr);
			buffer__free(&record);
		}
	}
	EXPECT_EQ(TIME_KINDS, time_kind__at(time_kind__address(0) - 1));
	EXPECT_EQ(TIME_KINDS, time_kind__at(time_kind__address(TIME_KINDS)));
	EXPECT_EQ(TIME_KINDS, time_kind__at(0));
}

TEST(what_was_not_sampled_has_no_frames)
{
	const uint64_t ip = time_kind__address(TIME_NOT_SAMPLED);
	const struct input_event event = event_of(WRITER_ONCPU_TIME, false, 0);
	struct sample sample = { .kernel = { .ips = &ip, .nr = 1 } };
	struct buffer record = { 0 };
	struct input_sample got;

	ASSERT_EQ(0, encode__sample(&record, WRITER_ONCPU_TIME, false, &sample));
	ASSERT_EQ(0, input_record__sample(record.data, record.len, &event, &got));
	EXPECT_TRUE(got.not_sampled);
	EXPECT_EQ(0, got.kernel.nr);
	EXPECT_EQ(TIME_KINDS, got.time_kind);
	record.len = 0;
	ASSERT_EQ(0, encode__rooted_sample(&record, WRITER_ONCPU_TIME, false,
					   time_kind__address(TIME_KIND_RUNNING), &sample));
	ASSERT_EQ(0, input_record__sample(record.data, record.len, &event, &got));
	EXPECT_TRUE(got.not_sampled);
	EXPECT_EQ(0, got.kernel.nr);
	EXPECT_EQ(TIME_KIND_RUNNING, got.time_kind);
	buffer__free(&record);
}

/* Each byte less, and eight more, and each count changed: no field may lie outside. */
TEST(a_sample_that_is_cut_or_lies_is_refused)
{
	const struct input_event event = event_of(WRITER_OFFCPU_TIME, true, 0);
	const struct sample sample = sample_of(2, 3);
	struct buffer record = { 0 };
	struct layout_sample *head;
	struct input_sample got;

	ASSERT_EQ(0, encode__sample(&record, 1, true, &sample));
	head = (void *)record.data;
	for (size_t size = 0; size < record.len; size++) {
		head->header.size = (uint16_t)size;
		EXPECT_EQ(-EINVAL, input_record__sample(record.data, size, &event, &got));
	}
	head->header.size = (uint16_t)record.len;
	ASSERT_EQ(0, input_record__sample(record.data, record.len, &event, &got));
	for (uint64_t nr = 0; nr < 12; nr++) {
		head->nr = nr;
		EXPECT_EQ(nr == 7 ? 0 : -EINVAL,
			  input_record__sample(record.data, record.len, &event, &got));
	}
	head->nr = UINT64_MAX / 8 + 1;
	EXPECT_EQ(-EINVAL, input_record__sample(record.data, record.len, &event, &got));
	buffer__free(&record);
}

TEST(a_chain_without_a_marker_or_with_an_unknown_one_is_refused)
{
	const struct input_event event = event_of(WRITER_OFFCPU_TIME, false, 0);
	const struct sample sample = sample_of(1, 1);
	struct buffer record = { 0 };
	struct input_sample got;
	uint64_t *chain;

	ASSERT_EQ(0, encode__sample(&record, 1, false, &sample));
	chain = (void *)(record.data + sizeof(struct layout_sample));
	ASSERT_EQ(0, input_record__sample(record.data, record.len, &event, &got));
	chain[2] = PERF_CONTEXT_KERNEL;
	ASSERT_EQ(-EINVAL, input_record__sample(record.data, record.len, &event, &got));
	chain[2] = PERF_CONTEXT_GUEST;
	ASSERT_EQ(-EINVAL, input_record__sample(record.data, record.len, &event, &got));
	chain[2] = PERF_CONTEXT_USER;
	chain[0] = 0x1000;
	ASSERT_EQ(-EINVAL, input_record__sample(record.data, record.len, &event, &got));
	buffer__free(&record);
}

TEST(registers_and_a_stack_stand_for_user_frames)
{
	const struct input_event event = event_of(WRITER_OFFCPU_TIME, true, 4096);
	uint64_t regs[USER_COPY_REGS] = { 0 };
	const char stack[512] = "";
	const struct user_copy copy = { .regs = regs, .bytes = stack, .nr = sizeof(stack) };
	struct sample sample = sample_of(2, 3);
	struct buffer record = { 0 };
	struct input_sample got;

	sample.copy = &copy;
	ASSERT_EQ(0, encode__stack_sample(&record, 1, true, &sample));
	ASSERT_EQ(0, input_record__sample(record.data, record.len, &event, &got));
	EXPECT_TRUE(got.has_stack);
	EXPECT_EQ(2, got.kernel.nr);
	EXPECT_EQ(0, got.user.nr);
	EXPECT_EQ(99, got.cgroup);
	record.len = 0;
	sample.copy = NULL;
	ASSERT_EQ(0, encode__stack_sample(&record, 1, true, &sample));
	ASSERT_EQ(0, input_record__sample(record.data, record.len, &event, &got));
	EXPECT_FALSE(got.has_stack);
	EXPECT_EQ(3, got.user.nr);
	buffer__free(&record);
}

TEST(raw_data_comes_back)
{
	const struct input_event event = event_of(WRITER_OFFCPU_WAIT, true, 0);
	const struct sample sample = sample_of(0, 0);
	struct buffer record = { 0 };
	struct input_sample got;

	for (size_t size = 0; size < 40; size++) {
		record.len = 0;
		ASSERT_EQ(0, encode__raw_sample(&record, WRITER_OFFCPU_WAIT, true, &sample,
						"0123456789012345678901234567890123456789", size));
		ASSERT_EQ(0, input_record__sample(record.data, record.len, &event, &got));
		ASSERT_LE(size, got.raw_size);
		ASSERT_GT(size + 8, got.raw_size);
		EXPECT_EQ(0, memcmp(got.raw, "0123456789012345678901234567890123456789", size));
		EXPECT_EQ(99, got.cgroup);
	}
	buffer__free(&record);
}

TEST(headers_of_others_are_told_apart)
{
	struct layout_header header = { .magic = LAYOUT_MAGIC, .size = sizeof(header),
					.attr_size = sizeof(struct layout_attr) }, got;
	const struct layout_pipe_header pipe_header = { LAYOUT_MAGIC, sizeof(pipe_header) };

	EXPECT_EQ(0, input_record__header(&header, sizeof(header), &got));
	EXPECT_EQ(-ENODATA, input_record__header(&header, sizeof(header) - 1, &got));
	EXPECT_EQ(-ENODATA, input_record__header(&header, 0, &got));
	header.attr_size = 144;
	EXPECT_EQ(-EPROTO, input_record__header(&header, sizeof(header), &got));
	header.magic = __builtin_bswap64(LAYOUT_MAGIC);
	EXPECT_EQ(-ENOTSUP, input_record__header(&header, sizeof(header), &got));
	header.magic = 0x464c457f;
	EXPECT_EQ(-EINVAL, input_record__header(&header, sizeof(header), &got));
	EXPECT_TRUE(input_record__is_pipe(&pipe_header, sizeof(pipe_header)));
	EXPECT_FALSE(input_record__is_pipe(&pipe_header, sizeof(pipe_header) - 1));
	EXPECT_FALSE(input_record__is_pipe(&header, sizeof(header)));
}

TEST(an_event_of_others_is_refused)
{
	struct perf_event_attr attr = { .size = LAYOUT_ATTR_SIZE, .sample_id_all = 1 };
	struct input_event event;

	attr.sample_type = event_of(WRITER_OFFCPU_TIME, false, 0).sample_type;
	EXPECT_EQ(0, input_record__event(&attr, 1, &event));
	attr.sample_type |= PERF_SAMPLE_ADDR;
	EXPECT_EQ(-EINVAL, input_record__event(&attr, 1, &event));
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	EXPECT_EQ(-EINVAL, input_record__event(&attr, 1, &event));
}

TEST(build_ids_and_names_come_back_and_end_in_their_record)
{
	const unsigned char id[20] = { 1, 2, 3 }, *got;
	struct buffer record = { 0 };
	const char *text;
	uint64_t event;
	size_t len;

	ASSERT_EQ(0, encode__build_id(&record, false, "/usr/bin/app", id, sizeof(id)));
	ASSERT_EQ(0, input_record__build_id(record.data, record.len, &got, &len, &text));
	EXPECT_EQ(20, len);
	EXPECT_EQ(0, memcmp(id, got, len));
	EXPECT_STREQ("/usr/bin/app", text);
	EXPECT_EQ(-EINVAL, input_record__build_id(record.data, sizeof(struct layout_build_id) + 12,
						  &got, &len, &text));
	record.len = 0;
	ASSERT_EQ(0, encode__event_name(&record, 1, "offcpu-time"));
	ASSERT_EQ(0, input_record__event_name(record.data, record.len, &event, &text));
	EXPECT_EQ(1, event);
	EXPECT_STREQ("offcpu-time", text);
	EXPECT_EQ(-EINVAL, input_record__event_name(record.data, sizeof(struct layout_event_update),
						    &event, &text));
	buffer__free(&record);
}

TEST_HARNESS_MAIN
