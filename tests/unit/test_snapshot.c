/* SPDX-License-Identifier: GPL-2.0-only */
/* The events that a later file of a rotation begins with. */
#include "machine/snapshot.h"

#include <stdio.h>
#include <string.h>

#include "common/harness.h"
#include "common/machine_events.h"

#define EVENTS_MAX 64

struct told {
	struct task_event event;
	char name[64];
};

FIXTURE(snapshot)
{
	struct machine *machine;
	struct told told[EVENTS_MAX];
	size_t nr;
};

FIXTURE_SETUP(snapshot)
{
	self->machine = machine__new();
	ASSERT_NE(NULL, self->machine);
}

FIXTURE_TEARDOWN(snapshot)
{
	machine__delete(self->machine);
}

typedef FIXTURE_DATA(snapshot) data;

static int take(void *ctx, const struct task_event *event)
{
	data *self = ctx;
	struct told *told = &self->told[self->nr];
	const char *name = "";

	if (self->nr == EVENTS_MAX)
		return -1;
	if (event->kind == TASK_EVENT_COMM)
		name = event->comm;
	else if (event->kind != TASK_EVENT_FORK)
		name = event->map.path;
	told->event = *event;
	snprintf(told->name, sizeof(told->name), "%s", name);
	self->nr++;
	return 0;
}

static int tell(data *self)
{
	self->nr = 0;
	return snapshot__tell(self->machine, take, self);
}

static size_t count(const data *self, enum task_event_kind kind, pid_t pid, const char *name)
{
	size_t nr = 0;

	for (size_t i = 0; i < self->nr; i++)
		nr += self->told[i].event.kind == kind && self->told[i].event.pid == pid &&
		      !self->told[i].event.time && (!name || !strcmp(self->told[i].name, name));
	return nr;
}

TEST_F(snapshot, names_threads_and_maps_come_back_the_kernel_first)
{
	const struct task_event kernel = { .kind = TASK_EVENT_KERNEL_MMAP,
					   .map = { .start = 0xffff0000, .len = 4096,
						    .path = "[kernel.kallsyms]_text" } };

	ASSERT_EQ(0, machine__handle(self->machine, &kernel));
	ASSERT_EQ(0, forks(self->machine, 10, 1, 0));
	ASSERT_EQ(0, is_called(self->machine, 10, 10, "app", 0));
	ASSERT_EQ(0, born(self->machine, 10, 11, 10, 0));
	ASSERT_EQ(0, is_called(self->machine, 10, 11, "worker", 50));
	ASSERT_EQ(0, maps_code(self->machine, 10, 4096, 4096, "/bin/app", 0));
	ASSERT_EQ(0, tell(self));
	EXPECT_EQ(TASK_EVENT_KERNEL_MMAP, self->told[0].event.kind);
	EXPECT_STREQ("[kernel.kallsyms]_text", self->told[0].name);
	EXPECT_EQ(1, count(self, TASK_EVENT_COMM, 10, "app"));
	EXPECT_EQ(1, count(self, TASK_EVENT_COMM, 10, "worker"));
	/* Of the thread; hotspot would copy the parent's maps to a process. */
	EXPECT_EQ(1, count(self, TASK_EVENT_FORK, 10, NULL));
	EXPECT_EQ(1, count(self, TASK_EVENT_MMAP, 10, "/bin/app"));
	EXPECT_EQ(0x1000, self->told[self->nr - 1].event.map.pgoff);
	EXPECT_EQ(5, self->told[self->nr - 1].event.map.prot);
	/* perf copies a parent's maps at a fork, so all forks come before all maps. */
	EXPECT_EQ(TASK_EVENT_MMAP, self->told[self->nr - 1].event.kind);
}

TEST_F(snapshot, one_process_is_told_as_it_was_at_a_time_and_what_it_became_later)
{
	ASSERT_EQ(0, forks(self->machine, 10, 1, 0));
	ASSERT_EQ(0, is_called(self->machine, 10, 10, "shell", 0));
	ASSERT_EQ(0, maps_code(self->machine, 10, 0x1000, 0x1000, "/bin/shell", 0));
	ASSERT_EQ(0, born(self->machine, 10, 11, 10, 20));
	ASSERT_EQ(0, forks(self->machine, 20, 1, 0));
	ASSERT_EQ(0, is_called(self->machine, 20, 20, "other", 0));
	ASSERT_EQ(0, execs(self->machine, 10, "tee", 100));
	ASSERT_EQ(0, maps_code(self->machine, 10, 0x5000, 0x1000, "/bin/tee", 101));
	ASSERT_EQ(0, snapshot__tell_process(machine__process(self->machine, 10), 50, take, self));
	/* count() is of events of time 0, of then. */
	EXPECT_EQ(1, count(self, TASK_EVENT_FORK, 10, NULL));
	EXPECT_EQ(1, count(self, TASK_EVENT_MMAP, 10, NULL));
	EXPECT_EQ(1, count(self, TASK_EVENT_MMAP, 10, "/bin/shell"));
	EXPECT_EQ(0, count(self, TASK_EVENT_COMM, 20, NULL));
	for (size_t i = 0, later = 0; i < self->nr; i++) {
		later += self->told[i].event.time == 100 && !strcmp(self->told[i].name, "tee");
		later += self->told[i].event.time == 101 && !strcmp(self->told[i].name, "/bin/tee");
		if (i + 1 == self->nr)
			EXPECT_EQ(2, later);
	}
}

TEST_F(snapshot, a_child_has_its_parents_maps_until_it_execs)
{
	ASSERT_EQ(0, maps_code(self->machine, 10, 4096, 4096, "/bin/app", 0));
	ASSERT_EQ(0, forks(self->machine, 20, 10, 10));
	ASSERT_EQ(0, forks(self->machine, 30, 10, 10));
	/* A child's own mappings are not its parent's. */
	ASSERT_EQ(0, maps_code(self->machine, 20, 8192, 4096, "/lib/plugin", 20));
	ASSERT_EQ(0, execs(self->machine, 30, "other", 20));
	ASSERT_EQ(0, maps_code(self->machine, 30, 4096, 4096, "/bin/other", 21));
	ASSERT_EQ(0, tell(self));
	EXPECT_EQ(1, count(self, TASK_EVENT_MMAP, 10, NULL));
	EXPECT_EQ(1, count(self, TASK_EVENT_MMAP, 20, "/bin/app"));
	EXPECT_EQ(1, count(self, TASK_EVENT_MMAP, 20, "/lib/plugin"));
	EXPECT_EQ(1, count(self, TASK_EVENT_MMAP, 30, NULL));
	EXPECT_EQ(1, count(self, TASK_EVENT_MMAP, 30, "/bin/other"));
}

TEST_F(snapshot, what_is_covered_is_not_told_but_for_what_is_left_of_it)
{
	ASSERT_EQ(0, maps_code(self->machine, 10, 0x100000, 0x2000, "/a", 10));
	ASSERT_EQ(0, maps_code(self->machine, 10, 0x100000, 0x1000, "/b", 20));
	ASSERT_EQ(0, tell(self));
	ASSERT_EQ(2, self->nr);
	EXPECT_STREQ("/b", self->told[0].name);
	EXPECT_EQ(0x1000, self->told[0].event.map.len);
	EXPECT_STREQ("/a", self->told[1].name);
	EXPECT_EQ(0x101000, self->told[1].event.map.start);
	EXPECT_EQ(0x1000, self->told[1].event.map.len);
	EXPECT_EQ(0x2000, self->told[1].event.map.pgoff);
}

TEST_F(snapshot, the_end_of_a_task_may_be_in_a_later_file_until_it_is_forgotten)
{
	ASSERT_EQ(0, is_called(self->machine, 10, 10, "gone", 0));
	ASSERT_EQ(0, is_called(self->machine, 20, 20, "again", 0));
	ASSERT_EQ(0, ends(self->machine, 10, 10, 100));
	ASSERT_EQ(0, ends(self->machine, 20, 20, 100));
	ASSERT_EQ(0, tell(self));
	EXPECT_EQ(1, count(self, TASK_EVENT_COMM, 10, "gone"));
	/* Its TID is used again: that one stays. */
	ASSERT_EQ(0, forks(self->machine, 20, 1, 110));
	ASSERT_EQ(0, is_called(self->machine, 20, 20, "new", 110));
	machine__forget(self->machine, 150);
	ASSERT_EQ(0, tell(self));
	EXPECT_EQ(0, count(self, TASK_EVENT_COMM, 10, NULL));
	EXPECT_EQ(1, count(self, TASK_EVENT_COMM, 20, NULL));
	EXPECT_EQ(1, count(self, TASK_EVENT_COMM, 20, "new"));
}

TEST_F(snapshot, the_recorder_is_told_only_if_it_was_named)
{
	ASSERT_EQ(0, forks(self->machine, 10, 1, 0));
	machine__process(self->machine, 10)->left_out = true;
	ASSERT_EQ(0, forks(self->machine, 11, 10, 20));
	ASSERT_EQ(0, tell(self));
	EXPECT_EQ(0, self->nr);
	ASSERT_EQ(0, is_called(self->machine, 10, 10, "denet-record", 0));
	ASSERT_EQ(0, forks(self->machine, 12, 10, 30));
	ASSERT_EQ(0, tell(self));
	EXPECT_EQ(1, count(self, TASK_EVENT_COMM, 10, NULL));
	EXPECT_EQ(0, count(self, TASK_EVENT_FORK, 11, NULL));
	EXPECT_EQ(0, count(self, TASK_EVENT_FORK, 12, NULL));
}

TEST_HARNESS_MAIN
