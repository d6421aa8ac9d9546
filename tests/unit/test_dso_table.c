/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/harness.h"

#include "machine/machine.h"
#include "symbol/dso_table.h"

/* The paths that are hit, each followed by a blank, in the order of the callbacks. */
struct told {
	char text[512];
	size_t nr;
	pid_t last_pid;
	struct known_dso *last_dso;
};

static int tell(void *ctx, const struct hit *hit)
{
	struct told *told = ctx;
	size_t len = strlen(told->text);

	snprintf(told->text + len, sizeof(told->text) - len, "%s ", hit->path);
	told->nr++;
	told->last_pid = hit->pid;
	told->last_dso = hit->dso;
	return 0;
}

static struct told ask(struct dso_table *dso_table)
{
	struct told told = { .nr = 0 };

	dso_table__each(dso_table, tell, &told);
	return told;
}

FIXTURE(dso_table)
{
	struct machine *machine;
	struct dso_table *dso_table;
	uint64_t time; /* of the latest event */
	uint64_t last_round;
	uint64_t address;
};

FIXTURE_SETUP(dso_table)
{
	self->machine = machine__new();
	ASSERT_NE(NULL, self->machine);
	self->dso_table = dso_table__new(self->machine);
	ASSERT_NE(NULL, self->dso_table);
	self->time = 100;
}

FIXTURE_TEARDOWN(dso_table)
{
	dso_table__delete(self->dso_table);
	machine__delete(self->machine);
}

typedef FIXTURE_DATA(dso_table) data;

/* As the sink does it. 0 or -ENOMEM. */
static int handle(data *self, const struct task_event *event)
{
	int err = machine__handle(self->machine, event);

	return err < 0 ? err : dso_table__follow(self->dso_table, event);
}

static int map_file(data *self, pid_t pid, const char *path, const struct file_id *id)
{
	const struct task_event event = {
		.kind = TASK_EVENT_MMAP,
		.pid = pid,
		.tid = pid,
		.time = ++self->time,
		.map = { .start = self->address += 0x1000,
			 .len = 0x1000,
			 .maj = id->maj,
			 .min = id->min,
			 .ino = id->ino,
			 .path = path },
	};

	return handle(self, &event);
}

static int map(data *self, pid_t pid, const char *path, uint64_t ino)
{
	const struct file_id id = { .ino = ino };

	return map_file(self, pid, path, &id);
}

static int fork_at(data *self, pid_t pid, pid_t parent, uint64_t time)
{
	const struct task_event event = { .kind = TASK_EVENT_FORK, .pid = pid, .tid = pid,
					  .ppid = parent, .ptid = parent, .time = time };

	self->time = time;
	return handle(self, &event);
}

static int fork_process(data *self, pid_t pid, pid_t parent)
{
	return fork_at(self, pid, parent, self->time + 1);
}

static int exec(data *self, pid_t pid)
{
	const struct task_event event = { .kind = TASK_EVENT_EXEC, .pid = pid, .tid = pid,
					  .time = ++self->time, .comm = "program" };

	return handle(self, &event);
}

/* A process of one thread, which may be known by its mappings alone. */
static int end(data *self, pid_t pid)
{
	const struct task_event event = { .kind = TASK_EVENT_EXIT, .pid = pid, .tid = pid,
					  .time = ++self->time };

	return handle(self, &event);
}

/* The end of a window. Samples of the one before it may still come. */
static void end_round(data *self)
{
	machine__forget(self->machine, self->last_round);
	self->last_round = self->time;
	dso_table__round(self->dso_table);
}

static void hit_at(data *self, uint32_t pid, uint64_t time)
{
	uint64_t ip = 0x1000;
	struct sample sample = {
		.pid = pid, .tid = pid, .time = time, .user = { .ips = &ip, .nr = 1 }
	};

	dso_table__sample(self->dso_table, &sample);
}

static void hit(data *self, uint32_t pid)
{
	hit_at(self, pid, self->time);
}

TEST_F(dso_table, only_files_of_a_process_with_samples_are_hit)
{
	struct told told;

	ASSERT_EQ(0, map(self, 10, "/bin/one", 1));
	ASSERT_EQ(0, map(self, 11, "/bin/two", 2));
	hit(self, 11);
	told = ask(self->dso_table);
	EXPECT_STREQ("/bin/two ", told.text);
	EXPECT_EQ(11, told.last_pid);
}

TEST_F(dso_table, what_is_no_file_is_left_out)
{
	ASSERT_EQ(0, map(self, 10, "//anon", 0));
	ASSERT_EQ(0, map(self, 10, "[heap]", 0));
	ASSERT_EQ(0, map(self, 10, "", 0));
	hit(self, 10);
	EXPECT_EQ(0, ask(self->dso_table).nr);
	ASSERT_EQ(0, map(self, 10, "[vdso]", 0));
	EXPECT_STREQ("[vdso] ", ask(self->dso_table).text);
}

static int tell_view(void *ctx, const struct hit *hit)
{
	if (!strcmp(hit->path, "/bin/one"))
		*(struct hit *)ctx = *hit;
	return 0;
}

/* Puts a '+' behind each path that is to be asked for first. */
static int tell_first(void *ctx, const struct hit *hit)
{
	char *text = ctx;

	snprintf(text + strlen(text), 256 - strlen(text), "%s%s ", hit->path,
		 hit->first ? "+" : "");
	return 0;
}

TEST_F(dso_table, programs_the_c_library_and_the_loader_are_asked_for_first)
{
	static const char *const paths[] = { "/bin/one",		"/lib/libother.so.1",
					     "/lib/ld-linux-x86-64.so.2", "/lib/libc.so.6",
					     "/lib/libcrypto.so.3" };
	char text[256] = "";

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		ASSERT_EQ(0, map(self, 10, paths[i], i + 1));
	hit(self, 10);
	dso_table__each(self->dso_table, tell_first, text);
	EXPECT_NE(NULL, strstr(text, "/bin/one+ "));
	EXPECT_NE(NULL, strstr(text, "/lib/libother.so.1 "));
	EXPECT_NE(NULL, strstr(text, "/lib/ld-linux-x86-64.so.2+ "));
	EXPECT_NE(NULL, strstr(text, "/lib/libc.so.6+ "));
	EXPECT_NE(NULL, strstr(text, "/lib/libcrypto.so.3 "));
}

TEST_F(dso_table, children_see_the_files_that_their_parent_sees)
{
	struct hit told = { .view = 0 };

	ASSERT_EQ(0, map(self, 10, "/bin/one", 1));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 10, 77, 0, 0));
	ASSERT_EQ(0, fork_at(self, 11, 10, 500));
	EXPECT_FALSE(dso_table__is_hit(self->dso_table, 11, self->time));
	hit(self, 11);
	EXPECT_TRUE(dso_table__is_hit(self->dso_table, 11, self->time));
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_EQ(77, told.view);
	/* Through the child's root, or if it has ended through that of its parent. */
	EXPECT_EQ(11, told.pid);
	EXPECT_EQ(10, told.root);
	EXPECT_EQ(500, told.alive);
}

TEST_F(dso_table, the_eldest_of_a_container_stands_for_it_and_not_who_made_it)
{
	struct hit told = { .view = 0 };

	/* 10 runs outside; 11 enters, 12 is its child, 13 has a container of its own in there. */
	ASSERT_EQ(0, map(self, 10, "/bin/one", 1));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 10, MACHINE_VIEW_OURS, 0, 0));
	ASSERT_EQ(0, fork_process(self, 11, 10));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 11, 77, 0, 0));
	ASSERT_EQ(0, fork_process(self, 12, 11));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 12, 77, 0, 0));
	ASSERT_EQ(0, fork_process(self, 13, 12));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 13, 78, 0, 0));
	hit(self, 12);
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_EQ(11, told.root);
	dso_table__begin_file(self->dso_table);
	hit(self, 13);
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_EQ(13, told.root);
}

TEST_F(dso_table, what_runs_in_a_container_since_before_the_recording_has_the_eldest_that_is_told)
{
	struct hit told = { .view = 0 };

	ASSERT_EQ(0, map(self, 11, "/bin/one", 1));
	EXPECT_FALSE(dso_table__wants_eldest(self->dso_table, 11, MACHINE_VIEW_OURS, self->time));
	EXPECT_TRUE(dso_table__wants_eldest(self->dso_table, 11, 77, self->time));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 11, 77, self->time, 10));
	EXPECT_FALSE(dso_table__wants_eldest(self->dso_table, 11, 77, self->time));
	EXPECT_TRUE(dso_table__wants_eldest(self->dso_table, 11, 78, self->time));
	hit(self, 11);
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_EQ(11, told.pid);
	EXPECT_EQ(10, told.root);
	/* A child inherits the eldest of its parent. */
	ASSERT_EQ(0, fork_process(self, 12, 11));
	EXPECT_FALSE(dso_table__wants_eldest(self->dso_table, 12, 77, self->time));
}

static struct told ask_early(struct dso_table *dso_table)
{
	struct told told = { .nr = 0 };

	dso_table__each_early(dso_table, tell, &told);
	return told;
}

TEST_F(dso_table, files_of_containers_are_told_early_and_once_those_of_others_are_not)
{
	ASSERT_EQ(0, map(self, 9, "/bin/ours", 1));
	ASSERT_EQ(0, map(self, 10, "/bin/one", 2));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 9, MACHINE_VIEW_OURS, 0, 0));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 10, 77, 0, 0));
	EXPECT_STREQ("/bin/one ", ask_early(self->dso_table).text);
	EXPECT_EQ(0, ask_early(self->dso_table).nr);
	ASSERT_EQ(0, map(self, 10, "/lib/later", 3));
	ASSERT_EQ(0, map(self, 10, "/bin/one", 2));
	EXPECT_STREQ("/lib/later ", ask_early(self->dso_table).text);
}

TEST_F(dso_table, what_was_learnt_early_is_told_with_the_hit)
{
	static const unsigned char id[] = { 0xab, 0xcd };
	struct hit told = { .view = 0 };
	struct told early;

	ASSERT_EQ(0, map(self, 10, "/bin/one", 1));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 10, 77, 0, 0));
	early = ask_early(self->dso_table);
	ASSERT_NE(NULL, early.last_dso);
	known_dso__learn(early.last_dso, id, sizeof(id));
	/* A file whose build-id is known is not passed on again. */
	dso_table__ask_again(self->dso_table, early.last_dso);
	EXPECT_EQ(0, ask_early(self->dso_table).nr);
	ASSERT_EQ(0, end(self, 10));
	hit(self, 10);
	end_round(self);
	end_round(self);
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	ASSERT_EQ(2, told.id_len);
	EXPECT_EQ(0, memcmp(id, told.id, sizeof(id)));
}

TEST_F(dso_table, a_file_that_waits_to_be_told_survives_its_last_process)
{
	struct told early;

	ASSERT_EQ(0, map(self, 10, "/bin/one", 1));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 10, 77, 0, 0));
	ASSERT_EQ(0, end(self, 10));
	for (int i = 0; i < 3; i++)
		end_round(self);
	early = ask_early(self->dso_table);
	EXPECT_STREQ("/bin/one ", early.text);
	dso_table__ask_again(self->dso_table, early.last_dso);
	end_round(self);
	EXPECT_STREQ("/bin/one ", ask_early(self->dso_table).text);
}

TEST_F(dso_table, a_process_sees_our_files_unless_told_otherwise)
{
	struct hit told = { .view = 1 };

	ASSERT_EQ(0, map(self, 10, "/bin/one", 1));
	hit(self, 10);
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_EQ(0, told.view);
}

TEST_F(dso_table, a_sample_that_comes_before_the_records_of_its_process_counts)
{
	ASSERT_EQ(0, map(self, 10, "/bin/one", 1));
	hit(self, 11);
	EXPECT_EQ(0, ask(self->dso_table).nr);
	ASSERT_EQ(0, fork_process(self, 11, 10));
	EXPECT_STREQ("/bin/one ", ask(self->dso_table).text);
	ASSERT_EQ(0, map(self, 11, "/lib/two", 2));
	EXPECT_EQ(2, ask(self->dso_table).nr);
	EXPECT_EQ(11, ask(self->dso_table).last_pid);
}

TEST_F(dso_table, the_same_file_in_many_pieces_and_processes_is_told_once)
{
	for (pid_t pid = 10; pid < 20; pid++) {
		ASSERT_EQ(0, map(self, pid, "/lib/libc.so", 1));
		ASSERT_EQ(0, map(self, pid, "/lib/libc.so", 1));
		hit(self, (uint32_t)pid);
	}
	EXPECT_EQ(1, ask(self->dso_table).nr);
}

TEST_F(dso_table, a_path_with_another_inode_is_another_file)
{
	ASSERT_EQ(0, map(self, 10, "/lib/libc.so", 1));
	ASSERT_EQ(0, map(self, 11, "/lib/libc.so", 2));
	hit(self, 10);
	hit(self, 11);
	EXPECT_EQ(2, ask(self->dso_table).nr);
}

TEST_F(dso_table, a_forked_process_has_the_files_of_its_parent_and_keeps_them)
{
	ASSERT_EQ(0, map(self, 10, "/bin/one", 1));
	ASSERT_EQ(0, fork_process(self, 11, 10));
	ASSERT_EQ(0, map(self, 10, "/lib/later", 2));
	ASSERT_EQ(0, end(self, 10));
	end_round(self);
	end_round(self);
	hit(self, 11);
	EXPECT_STREQ("/bin/one ", ask(self->dso_table).text);
}

TEST_F(dso_table, an_exec_forgets_the_files_before_it)
{
	ASSERT_EQ(0, map(self, 10, "/bin/one", 1));
	ASSERT_EQ(0, exec(self, 10));
	ASSERT_EQ(0, map(self, 10, "/bin/two", 2));
	hit(self, 10);
	EXPECT_STREQ("/bin/two ", ask(self->dso_table).text);
}

TEST_F(dso_table, a_sum_that_comes_after_the_exit_still_hits)
{
	ASSERT_EQ(0, map(self, 10, "/bin/one", 1));
	ASSERT_EQ(0, end(self, 10));
	end_round(self);
	hit(self, 10);
	EXPECT_EQ(1, ask(self->dso_table).nr);
}

TEST_F(dso_table, a_process_that_left_is_forgotten_one_round_later)
{
	ASSERT_EQ(0, map(self, 10, "/bin/one", 1));
	ASSERT_EQ(0, end(self, 10));
	end_round(self);
	end_round(self);
	hit(self, 10);
	EXPECT_EQ(0, ask(self->dso_table).nr);
}

TEST_F(dso_table, a_pid_that_is_used_again_outlives_the_one_before)
{
	ASSERT_EQ(0, map(self, 9, "/bin/parent", 9));
	ASSERT_EQ(0, map(self, 10, "/bin/old", 1));
	ASSERT_EQ(0, end(self, 10));
	ASSERT_EQ(0, fork_process(self, 10, 9));
	end_round(self);
	end_round(self);
	hit(self, 10);
	EXPECT_STREQ("/bin/parent ", ask(self->dso_table).text);
}

TEST_F(dso_table, what_execs_may_have_left_our_files_and_nothing_is_known_of_it_until_it_is_told)
{
	struct hit told = { .view = 77 };

	ASSERT_EQ(0, fork_process(self, 9, 1));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 9, MACHINE_VIEW_OURS, self->time, 0));
	ASSERT_EQ(0, fork_at(self, 10, 9, 500));
	ASSERT_EQ(0, exec(self, 10));
	ASSERT_EQ(0, map(self, 10, "/bin/one", 1));
	hit(self, 10);
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_EQ(MACHINE_VIEW_UNKNOWN, told.view);
	/* A child that goes on with the same program sees what its parent does. */
	dso_table__begin_file(self->dso_table);
	ASSERT_EQ(0, map(self, 9, "/bin/one", 1));
	ASSERT_EQ(0, fork_at(self, 11, 9, 600));
	hit(self, 11);
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_EQ(MACHINE_VIEW_OURS, told.view);
}

TEST_F(dso_table, who_was_born_after_the_one_that_had_the_pid_does_not_stand_in_for_it)
{
	struct hit told = { .view = 77 };

	ASSERT_EQ(0, map(self, 10, "/bin/one", 1));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 10, MACHINE_VIEW_OURS, 500, 0));
	hit(self, 10);
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_EQ(500, told.alive);
	EXPECT_FALSE(told.gone);
	/* Also where the parent is not known. */
	ASSERT_EQ(0, fork_at(self, 10, 9, 501));
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_TRUE(told.gone);
}

TEST_F(dso_table, one_name_and_inode_number_on_two_devices_are_two_files)
{
	const struct file_id one = { .ino = 1, .maj = 8, .min = 1 },
			     other = { .ino = 1, .maj = 8, .min = 2 };

	ASSERT_EQ(0, map_file(self, 10, "/bin/one", &one));
	ASSERT_EQ(0, map_file(self, 11, "/bin/one", &other));
	hit(self, 10);
	EXPECT_STREQ("/bin/one ", ask(self->dso_table).text);
	hit(self, 11);
	EXPECT_STREQ("/bin/one /bin/one ", ask(self->dso_table).text);
}

static int kernel_map(data *self, uint64_t start, const char *name)
{
	const struct task_event event = {
		.kind = TASK_EVENT_KERNEL_MMAP,
		.map = { .start = start, .len = 0x1000, .path = name },
	};

	return handle(self, &event);
}

TEST_F(dso_table, kernel_frames_hit_the_module_they_lie_in)
{
	uint64_t ips[] = { 0x2fff, 0x3000 };
	struct sample sample = { .pid = 1, .kernel = { .ips = ips, .nr = 1 } };

	ASSERT_EQ(0, kernel_map(self, 0x1000, "[kernel.kallsyms]_text"));
	ASSERT_EQ(0, kernel_map(self, 0x2000, "[ext4]"));
	ASSERT_EQ(0, dso_table__sample(self->dso_table, &sample));
	EXPECT_STREQ("[ext4] ", ask(self->dso_table).text);
	/* A module that came later. */
	ASSERT_EQ(0, kernel_map(self, 0x3000, "[next]"));
	sample.kernel.nr = 2;
	ASSERT_EQ(0, dso_table__sample(self->dso_table, &sample));
	EXPECT_STREQ("[ext4] [next] ", ask(self->dso_table).text);
	dso_table__begin_file(self->dso_table);
	EXPECT_EQ(0, ask(self->dso_table).nr);
}

TEST_F(dso_table, a_thousand_forks_share_one_list)
{
	ASSERT_EQ(0, map(self, 1, "/bin/one", 1));
	for (pid_t pid = 2; pid < 1000; pid++)
		ASSERT_EQ(0, fork_process(self, pid, pid - 1));
	hit(self, 999);
	EXPECT_EQ(999, ask(self->dso_table).last_pid);
}

TEST_F(dso_table, files_that_nobody_needs_any_more_are_forgotten_those_that_were_hit_are_not)
{
	size_t before, after;
	char path[32];

	ASSERT_EQ(0, map(self, 1, "/bin/hit", 1));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 1, 77, 0, 0));
	hit(self, 1);
	before = dso_table__count(self->dso_table);
	/* A compiler farm in a container: each process runs a program of its own, and ends. */
	for (pid_t pid = 2; pid < 50000; pid++) {
		snprintf(path, sizeof(path), "/tmp/a.out-%d", pid);
		ASSERT_EQ(0, fork_process(self, pid, 1));
		ASSERT_EQ(0, exec(self, pid));
		ASSERT_EQ(0, map(self, pid, path, (uint64_t)pid));
		ASSERT_EQ(0, end(self, pid));
		if (pid % 100)
			continue;
		EXPECT_LE(100, ask_early(self->dso_table).nr);
		end_round(self);
	}
	after = dso_table__count(self->dso_table);
	EXPECT_GT(10000, after - before) TH_LOG("%zu files", after);
	EXPECT_STREQ("/bin/hit ", ask(self->dso_table).text);
}

TEST_F(dso_table, a_sample_of_the_program_before_an_exec_hits_its_files_and_those_after_it)
{
	uint64_t before;

	ASSERT_EQ(0, map(self, 10, "/bin/one", 1));
	before = self->time;
	ASSERT_EQ(0, exec(self, 10));
	ASSERT_EQ(0, map(self, 10, "/bin/two", 2));
	hit_at(self, 10, before);
	EXPECT_EQ(2, ask(self->dso_table).nr);
	ASSERT_EQ(0, map(self, 10, "/lib/three", 3));
	EXPECT_EQ(3, ask(self->dso_table).nr);
}

TEST_F(dso_table, a_file_that_was_hit_before_its_view_was_known_is_asked_for_once_it_is)
{
	struct hit told = { 0 };

	ASSERT_EQ(0, fork_process(self, 10, 1));
	ASSERT_EQ(0, exec(self, 10));
	ASSERT_EQ(0, map(self, 10, "/bin/one", 1));
	hit(self, 10);
	EXPECT_EQ(0, ask_early(self->dso_table).nr);
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 10, 77, self->time, 0));
	EXPECT_STREQ("/bin/one ", ask_early(self->dso_table).text);
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_EQ(77, told.view);
	/* The next one has it, too, and nobody knows what that sees. */
	ASSERT_EQ(0, fork_process(self, 11, 1));
	ASSERT_EQ(0, exec(self, 11));
	ASSERT_EQ(0, map(self, 11, "/bin/one", 1));
	hit(self, 11);
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_EQ(77, told.view);
}

/* Services may have a mount namespace each, and the same libraries. */
TEST_F(dso_table, a_file_of_a_process_that_has_ended_is_read_through_one_that_lives)
{
	struct hit told = { 0 };

	for (pid_t pid = 10; pid <= 12; pid++) {
		ASSERT_EQ(0, map(self, pid, "/bin/one", 1));
		ASSERT_EQ(0, dso_table__set_view(self->dso_table, pid, 67 + (uint64_t)pid,
						 self->time, 0));
	}
	hit(self, 10);
	hit(self, 11);
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_EQ(10, told.pid);
	ASSERT_EQ(0, end(self, 10));
	hit(self, 12);
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_EQ(12, told.pid);
	EXPECT_EQ(12, told.root);
	EXPECT_EQ(79, told.view);
	/* A process that has ended does not replace another one that has ended. */
	ASSERT_EQ(0, end(self, 12));
	ASSERT_EQ(0, fork_process(self, 13, 11));
	ASSERT_EQ(0, end(self, 13));
	hit(self, 13);
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_EQ(12, told.pid);
}

TEST_F(dso_table, a_sample_in_an_exec_hits_the_files_that_it_leaves)
{
	ASSERT_EQ(0, map(self, 10, "/bin/one", 1));
	ASSERT_EQ(0, exec(self, 10));
	hit(self, 10);
	EXPECT_STREQ("/bin/one ", ask(self->dso_table).text);
	ASSERT_EQ(0, map(self, 10, "/bin/two", 2));
	EXPECT_EQ(2, ask(self->dso_table).nr);
}

TEST_F(dso_table, samples_of_several_programs_of_one_process_come_in_any_order)
{
	uint64_t first, second;

	ASSERT_EQ(0, map(self, 10, "/bin/one", 1));
	first = self->time;
	ASSERT_EQ(0, exec(self, 10));
	ASSERT_EQ(0, map(self, 10, "/bin/two", 2));
	second = self->time;
	ASSERT_EQ(0, exec(self, 10));
	ASSERT_EQ(0, map(self, 10, "/bin/three", 3));
	hit(self, 10);
	EXPECT_STREQ("/bin/three ", ask(self->dso_table).text);
	hit_at(self, 10, second);
	EXPECT_EQ(2, ask(self->dso_table).nr);
	hit_at(self, 10, first);
	EXPECT_EQ(3, ask(self->dso_table).nr);
}

TEST_F(dso_table, what_ran_before_an_exec_into_a_container_is_no_file_of_the_container)
{
	struct hit told = { .view = 77 };
	uint64_t before;

	ASSERT_EQ(0, map(self, 10, "/bin/one", 1));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 10, MACHINE_VIEW_OURS, 0, 0));
	before = self->time;
	ASSERT_EQ(0, exec(self, 10));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 10, 77, self->time, 0));
	ASSERT_EQ(0, map(self, 10, "/bin/two", 2));
	hit_at(self, 10, before);
	EXPECT_STREQ("/bin/two ", ask_early(self->dso_table).text);
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_EQ(MACHINE_VIEW_UNKNOWN, told.view);
	EXPECT_TRUE(told.gone);
	/* A process that runs it now takes the place of one that did. */
	ASSERT_EQ(0, map(self, 11, "/bin/one", 1));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 11, MACHINE_VIEW_OURS, self->time, 0));
	hit(self, 11);
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_EQ(11, told.pid);
	EXPECT_EQ(MACHINE_VIEW_OURS, told.view);
	EXPECT_FALSE(told.gone);
}

TEST_F(dso_table, a_sample_that_comes_before_the_fork_is_not_of_the_former_process)
{
	ASSERT_EQ(0, map(self, 9, "/bin/parent", 9));
	ASSERT_EQ(0, map(self, 10, "/bin/old", 1));
	ASSERT_EQ(0, end(self, 10));
	hit_at(self, 10, self->time + 2);
	EXPECT_EQ(0, ask(self->dso_table).nr);
	ASSERT_EQ(0, fork_process(self, 10, 9));
	EXPECT_STREQ("/bin/parent ", ask(self->dso_table).text);
}

TEST_F(dso_table, a_sample_of_a_process_that_is_never_known_is_forgotten)
{
	hit(self, 10);
	EXPECT_TRUE(dso_table__is_hit(self->dso_table, 10, self->time));
	end_round(self);
	end_round(self);
	EXPECT_FALSE(dso_table__is_hit(self->dso_table, 10, self->time));
}

TEST_F(dso_table, another_file_begins_without_hits_and_with_all_that_is_mapped)
{
	ASSERT_EQ(0, map(self, 10, "/bin/one", 1));
	hit(self, 10);
	dso_table__begin_file(self->dso_table);
	EXPECT_EQ(0, ask(self->dso_table).nr);
	hit(self, 10);
	EXPECT_STREQ("/bin/one ", ask(self->dso_table).text);
}

TEST_HARNESS_MAIN
