/* SPDX-License-Identifier: GPL-2.0-only */
#include "machine/task_event.h"

#include <errno.h>

#include "common/bytes.h"
#include "common/harness.h"
#include "output/perfdata/encode.h"

/* Records as the kernel makes them: ours have the same form, with another id. */
FIXTURE(task_event)
{
	struct buffer in;
	struct task_event event;
};

FIXTURE_SETUP(task_event)
{
	self->in = (struct buffer){ 0 };
}

FIXTURE_TEARDOWN(task_event)
{
	buffer__free(&self->in);
}

#define KERNEL_ID 0x4711

static const struct task_event made[] = {
	{ .kind = TASK_EVENT_COMM, .pid = 1, .tid = 2, .comm = "comm" },
	{ .kind = TASK_EVENT_FORK, .pid = 1, .tid = 3, .ppid = 2, .ptid = 4 },
	{ .kind = TASK_EVENT_MMAP,
	  .pid = 1,
	  .tid = 2,
	  .map = { .start = 0x1000,
		   .len = 0x2000,
		   .pgoff = 0x3000,
		   .maj = 8,
		   .min = 9,
		   .ino = 10,
		   .generation = 11,
		   .prot = 5,
		   .flags = 2,
		   .path = "/bin/a" } },
	{ .kind = TASK_EVENT_KERNEL_MMAP,
	  .pid = -1,
	  .map = { .start = 1, .len = 2, .pgoff = 3, .path = "[kernel.kallsyms]_text" } },
	{ .kind = TASK_EVENT_CGROUP, .cgroup = { .id = 1, .path = "/a" } },
};

static int make(struct buffer *in, int kind)
{
	in->len = 0;
	return encode__task_event(in, KERNEL_ID, &made[kind]);
}

#define NR_KINDS 5

static void set_u16(struct buffer *buffer, size_t offset, uint16_t value)
{
	memcpy(buffer->data + offset, &value, sizeof(value));
}

static void set_u32(struct buffer *buffer, size_t offset, uint32_t value)
{
	memcpy(buffer->data + offset, &value, sizeof(value));
}

static int decode(FIXTURE_DATA(task_event) *self)
{
	return task_event__decode(self->in.data, self->in.len, &self->event);
}

TEST_F(task_event, every_kind_is_decoded_with_all_that_it_tells)
{
	const struct task_event *event = &self->event;

	ASSERT_EQ(0, make(&self->in, 0));
	ASSERT_EQ(0, decode(self));
	EXPECT_EQ(TASK_EVENT_COMM, event->kind);
	EXPECT_EQ(1, event->pid);
	EXPECT_EQ(2, event->tid);
	EXPECT_STREQ("comm", event->comm);
	EXPECT_EQ(self->in.data, event->record);
	EXPECT_EQ(self->in.len, event->size);
	ASSERT_EQ(0, make(&self->in, 1));
	ASSERT_EQ(0, decode(self));
	EXPECT_EQ(TASK_EVENT_FORK, event->kind);
	EXPECT_EQ(1, event->pid);
	EXPECT_EQ(2, event->ppid);
	EXPECT_EQ(3, event->tid);
	EXPECT_EQ(4, event->ptid);
	ASSERT_EQ(0, make(&self->in, 2));
	ASSERT_EQ(0, decode(self));
	EXPECT_EQ(TASK_EVENT_MMAP, event->kind);
	EXPECT_EQ(0x1000, event->map.start);
	EXPECT_EQ(0x2000, event->map.len);
	EXPECT_EQ(0x3000, event->map.pgoff);
	EXPECT_EQ(8, event->map.maj);
	EXPECT_EQ(9, event->map.min);
	EXPECT_EQ(10, event->map.ino);
	EXPECT_EQ(11, event->map.generation);
	EXPECT_EQ(5, event->map.prot);
	EXPECT_EQ(2, event->map.flags);
	EXPECT_FALSE(event->map.data);
	EXPECT_STREQ("/bin/a", event->map.path);
	ASSERT_EQ(0, make(&self->in, 4));
	ASSERT_EQ(0, decode(self));
	EXPECT_EQ(TASK_EVENT_CGROUP, event->kind);
	EXPECT_EQ(1, event->cgroup.id);
	EXPECT_STREQ("/a", event->cgroup.path);
}

TEST_F(task_event, a_record_of_the_kernel_keeps_its_bytes_but_for_the_id)
{
	struct buffer out = { 0 };

	for (int kind = 0; kind < NR_KINDS; kind++) {
		ASSERT_EQ(0, make(&self->in, kind));
		ASSERT_EQ(0, decode(self));
		out.len = 0;
		ASSERT_EQ(0, encode__task_event(&out, 1, &self->event));
		ASSERT_EQ(self->in.len, out.len);
		EXPECT_EQ(0, memcmp(self->in.data, out.data, out.len - 8));
		EXPECT_EQ(1, bytes__u64(out.data, out.len - 8));
	}
	buffer__free(&out);
}

TEST_F(task_event, the_time_and_the_marks_of_the_kernel_are_heard)
{
	const uint64_t time = 0x123456789;

	ASSERT_EQ(0, make(&self->in, 0));
	set_u16(&self->in, 4, PERF_RECORD_MISC_COMM_EXEC);
	memcpy(self->in.data + self->in.len - 24, &time, sizeof(time));
	ASSERT_EQ(0, decode(self));
	EXPECT_EQ(TASK_EVENT_EXEC, self->event.kind);
	EXPECT_EQ(time, self->event.time);
	ASSERT_EQ(0, make(&self->in, 2));
	set_u16(&self->in, 4, PERF_RECORD_MISC_MMAP_DATA);
	ASSERT_EQ(0, decode(self));
	EXPECT_TRUE(self->event.map.data);
}

TEST_F(task_event, exit_is_taken_as_fork_is)
{
	ASSERT_EQ(0, make(&self->in, 1));
	set_u32(&self->in, 0, PERF_RECORD_EXIT);
	EXPECT_EQ(0, decode(self));
}

/* Each size but the true one is copied to memory of that size, so that a sanitizer sees
 * a byte too far. */
TEST_F(task_event, record_cut_anywhere_is_refused)
{
	for (int kind = 0; kind < NR_KINDS; kind++) {
		ASSERT_EQ(0, make(&self->in, kind));
		for (size_t size = 0; size < self->in.len; size++) {
			char *part = malloc(size ? size : 1);

			ASSERT_NE(NULL, part);
			memcpy(part, self->in.data, size);
			EXPECT_EQ(-EINVAL, task_event__decode(part, size, &self->event));
			if (size >= 8) {
				/* Now the size field agrees, and what is missing does not. */
				uint16_t claimed = (uint16_t)size;

				memcpy(part + 6, &claimed, sizeof(claimed));
				if (size < self->in.len - 8)
					EXPECT_EQ(-EINVAL, task_event__decode(part, size & ~7UL,
									      &self->event));
			}
			free(part);
		}
	}
}

TEST_F(task_event, size_field_that_lies_is_refused)
{
	ASSERT_EQ(0, make(&self->in, 2));
	set_u16(&self->in, 6, (uint16_t)(self->in.len + 8));
	EXPECT_EQ(-EINVAL, decode(self));
	set_u16(&self->in, 6, (uint16_t)(self->in.len - 8));
	EXPECT_EQ(-EINVAL, decode(self));
	set_u16(&self->in, 6, 0);
	EXPECT_EQ(-EINVAL, decode(self));
	set_u16(&self->in, 6, (uint16_t)self->in.len);
	EXPECT_EQ(0, decode(self));
}

TEST_F(task_event, name_without_nul_is_refused)
{
	ASSERT_EQ(0, make(&self->in, 0));
	memset(self->in.data + 16, 'x', self->in.len - 16 - 32);
	EXPECT_EQ(-EINVAL, decode(self));
}

TEST_F(task_event, name_longer_than_a_path_is_refused)
{
	size_t size = sizeof(struct layout_mmap2) + PATH_MAX + sizeof(struct layout_sample_id);
	char record[sizeof(struct layout_mmap2) + PATH_MAX + sizeof(struct layout_sample_id) +
		    8] = { 0 };
	struct perf_event_header header = { .type = PERF_RECORD_MMAP2, .size = (uint16_t)size };

	memcpy(record, &header, sizeof(header));
	EXPECT_EQ(0, task_event__decode(record, size, &self->event));
	header.size += 8;
	memcpy(record, &header, sizeof(header));
	EXPECT_EQ(-EINVAL, task_event__decode(record, size + 8, &self->event));
}

TEST_F(task_event, build_id_longer_than_its_room_is_refused)
{
	ASSERT_EQ(0, make(&self->in, 2));
	set_u16(&self->in, 4, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	self->in.data[40] = 20;
	EXPECT_EQ(0, decode(self));
	self->in.data[40] = 21;
	EXPECT_EQ(-EINVAL, decode(self));
}

TEST_F(task_event, kinds_that_old_readers_do_not_know_are_refused)
{
	ASSERT_EQ(0, make(&self->in, 2));
	for (uint32_t type = 0; type < 100; type++) {
		bool known = type == PERF_RECORD_MMAP2 || type == PERF_RECORD_MMAP ||
			     type == PERF_RECORD_CGROUP;

		set_u32(&self->in, 0, type);
		/* The body is an mmap2's: kinds with a shorter front find their name in it. */
		if (!known && type != PERF_RECORD_COMM)
			EXPECT_EQ(-EINVAL, decode(self));
	}
}

TEST_HARNESS_MAIN
