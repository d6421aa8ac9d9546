/* SPDX-License-Identifier: GPL-2.0-only */
/* What a later file begins with: written to a file and looked for in its bytes. */
#include "machine/snapshot.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/harness.h"
#include "output/perfdata/layout.h"

#define RECORDS_MAX 64

/* A record of the file: its type, whom it is about, and its name. */
struct found {
	uint32_t type;
	uint32_t pid, tid;
	uint64_t start;
	char name[64];
};

FIXTURE(snapshot)
{
	struct snapshot *snapshot;
	char path[64];
	struct found found[RECORDS_MAX];
	size_t nr;
};

FIXTURE_SETUP(snapshot)
{
	snprintf(self->path, sizeof(self->path), "/tmp/denet-past-%d", getpid());
	self->snapshot = snapshot__new();
	self->nr = 0;
	ASSERT_NE(NULL, self->snapshot);
}

FIXTURE_TEARDOWN(snapshot)
{
	snapshot__delete(self->snapshot);
	unlink(self->path);
}

static void take(FIXTURE_DATA(snapshot) * self, const char *data, uint32_t type)
{
	struct found *found = &self->found[self->nr];
	struct layout_mmap2 map;
	struct layout_comm comm;
	struct layout_task task;

	if (self->nr == RECORDS_MAX)
		return;
	*found = (struct found){ .type = type };
	if (type == PERF_RECORD_MMAP2) {
		memcpy(&map, data, sizeof(map));
		found->pid = map.pid;
		found->start = map.start;
		snprintf(found->name, sizeof(found->name), "%s", data + sizeof(map));
	} else if (type == PERF_RECORD_COMM) {
		memcpy(&comm, data, sizeof(comm));
		found->pid = comm.pid;
		found->tid = comm.tid;
		snprintf(found->name, sizeof(found->name), "%s", data + sizeof(comm));
	} else if (type == PERF_RECORD_FORK) {
		memcpy(&task, data, sizeof(task));
		found->pid = task.pid;
		found->tid = task.tid;
	} else if (type != PERF_RECORD_MMAP) {
		return;
	}
	self->nr++;
}

/* Writes a file that begins with the past and finds its records. */
static int write_and_read(FIXTURE_DATA(snapshot) * self)
{
	const struct writer_options options = { .path = self->path, .version = "0" };
	struct perf_event_header header;
	static char bytes[65536];
	struct layout_header front;
	struct writer *writer;
	FILE *file;
	size_t at;
	int err;

	unlink(self->path);
	writer = writer__new(&options, &err);
	if (!writer)
		return err;
	err = snapshot__write(self->snapshot, writer);
	if (writer__close(writer) || err)
		return -1;
	file = fopen(self->path, "re");
	if (!file || fread(bytes, 1, sizeof(bytes), file) < sizeof(front))
		return -1;
	fclose(file);
	memcpy(&front, bytes, sizeof(front));
	self->nr = 0;
	for (at = front.data.offset; at < front.data.offset + front.data.size; at += header.size) {
		memcpy(&header, bytes + at, sizeof(header));
		take(self, bytes + at, header.type);
	}
	return 0;
}

static size_t count(const FIXTURE_DATA(snapshot) * self, uint32_t type, uint32_t pid,
		    const char *name)
{
	size_t nr = 0;

	for (size_t i = 0; i < self->nr; i++)
		nr += self->found[i].type == type && self->found[i].pid == pid &&
		      (!name || !strcmp(self->found[i].name, name));
	return nr;
}

static int map(struct snapshot *snapshot, uint32_t pid, uint64_t start, uint64_t len,
	       const char *path)
{
	const struct writer_mmap mmap = {
		.pid = pid, .tid = pid, .start = start, .len = len, .path = path, .executable = true
	};

	return snapshot__map(snapshot, &mmap);
}

TEST_F(snapshot, names_threads_and_maps_come_back_the_kernel_first)
{
	ASSERT_EQ(0, snapshot__kernel_map(self->snapshot, 0xffff0000, 4096, 0,
					  "[kernel.kallsyms]_text"));
	ASSERT_EQ(0, snapshot__fork(self->snapshot, 10, 10, 1, 1));
	ASSERT_EQ(0, snapshot__comm(self->snapshot, 10, 10, "app"));
	ASSERT_EQ(0, snapshot__fork(self->snapshot, 10, 11, 10, 10));
	ASSERT_EQ(0, snapshot__comm(self->snapshot, 10, 11, "worker"));
	ASSERT_EQ(0, map(self->snapshot, 10, 4096, 4096, "/bin/app"));
	ASSERT_EQ(0, write_and_read(self));
	EXPECT_EQ(PERF_RECORD_MMAP, self->found[0].type);
	EXPECT_EQ(1, count(self, PERF_RECORD_COMM, 10, "app"));
	EXPECT_EQ(1, count(self, PERF_RECORD_COMM, 10, "worker"));
	/* Of the thread; hotspot would copy the parent's maps to a process. */
	EXPECT_EQ(1, count(self, PERF_RECORD_FORK, 10, NULL));
	EXPECT_EQ(1, count(self, PERF_RECORD_MMAP2, 10, "/bin/app"));
	/* perf copies a parent's maps at a fork, so all forks come before all maps. */
	EXPECT_EQ(PERF_RECORD_MMAP2, self->found[self->nr - 1].type);
}

TEST_F(snapshot, a_child_has_its_parents_maps_until_it_execs)
{
	ASSERT_EQ(0, map(self->snapshot, 10, 4096, 4096, "/bin/app"));
	ASSERT_EQ(0, snapshot__fork(self->snapshot, 20, 20, 10, 10));
	ASSERT_EQ(0, snapshot__fork(self->snapshot, 30, 30, 10, 10));
	/* What a child maps is its own alone. */
	ASSERT_EQ(0, map(self->snapshot, 20, 8192, 4096, "/lib/plugin"));
	snapshot__exec(self->snapshot, 30);
	ASSERT_EQ(0, map(self->snapshot, 30, 4096, 4096, "/bin/other"));
	ASSERT_EQ(0, write_and_read(self));
	EXPECT_EQ(1, count(self, PERF_RECORD_MMAP2, 10, NULL));
	EXPECT_EQ(1, count(self, PERF_RECORD_MMAP2, 20, "/bin/app"));
	EXPECT_EQ(1, count(self, PERF_RECORD_MMAP2, 20, "/lib/plugin"));
	EXPECT_EQ(1, count(self, PERF_RECORD_MMAP2, 30, NULL));
	EXPECT_EQ(1, count(self, PERF_RECORD_MMAP2, 30, "/bin/other"));
}

TEST_F(snapshot, a_thread_of_a_process_does_not_double_its_maps)
{
	ASSERT_EQ(0, map(self->snapshot, 10, 4096, 4096, "/bin/app"));
	ASSERT_EQ(0, snapshot__fork(self->snapshot, 10, 11, 10, 10));
	ASSERT_EQ(0, write_and_read(self));
	EXPECT_EQ(1, count(self, PERF_RECORD_MMAP2, 10, NULL));
}

TEST_F(snapshot, maps_at_the_same_place_replace_each_other)
{
	for (int i = 0; i < 1000; i++)
		ASSERT_EQ(0, map(self->snapshot, 10, 4096, 4096, "//anon"));
	ASSERT_EQ(0, map(self->snapshot, 10, 0x100000, 8192, "/a"));
	ASSERT_EQ(0, map(self->snapshot, 10, 0x100000, 4096, "/b"));
	ASSERT_EQ(0, write_and_read(self));
	EXPECT_EQ(1, count(self, PERF_RECORD_MMAP2, 10, "//anon"));
	/* Half covered: both stay, in their order. */
	EXPECT_EQ(1, count(self, PERF_RECORD_MMAP2, 10, "/a"));
	EXPECT_STREQ("/b", self->found[self->nr - 1].name);
}

TEST_F(snapshot, who_has_ended_goes_with_the_second_window)
{
	ASSERT_EQ(0, snapshot__comm(self->snapshot, 10, 10, "gone"));
	ASSERT_EQ(0, snapshot__comm(self->snapshot, 20, 20, "again"));
	snapshot__exit(self->snapshot, 10);
	snapshot__exit(self->snapshot, 20);
	snapshot__round(self->snapshot);
	ASSERT_EQ(0, write_and_read(self));
	EXPECT_EQ(1, count(self, PERF_RECORD_COMM, 10, "gone"));
	/* Its TID is used again: that one stays. */
	ASSERT_EQ(0, snapshot__fork(self->snapshot, 20, 20, 1, 1));
	ASSERT_EQ(0, snapshot__comm(self->snapshot, 20, 20, "new"));
	snapshot__round(self->snapshot);
	snapshot__round(self->snapshot);
	ASSERT_EQ(0, write_and_read(self));
	EXPECT_EQ(0, count(self, PERF_RECORD_COMM, 10, NULL));
	EXPECT_EQ(1, count(self, PERF_RECORD_COMM, 20, "new"));
}

TEST_F(snapshot, memory_for_maps_is_bounded)
{
	static char path[4000];

	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	for (uint64_t i = 0; i < 2 * SNAPSHOT_MAX_BYTES / sizeof(path); i++)
		ASSERT_EQ(0, map(self->snapshot, 10, i * 4096, 4096, path));
	/* A process that ends gives its share back. */
	snapshot__exit(self->snapshot, 10);
	snapshot__round(self->snapshot);
	snapshot__round(self->snapshot);
	ASSERT_EQ(0, map(self->snapshot, 20, 4096, 4096, "/bin/app"));
	ASSERT_EQ(0, write_and_read(self));
	EXPECT_EQ(1, count(self, PERF_RECORD_MMAP2, 20, "/bin/app"));
}

TEST_HARNESS_MAIN
