/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/harness.h"

#include "symbol/dso_table.h"

/* The paths that are hit, each followed by a blank, in the order of the callbacks. */
struct told {
	char text[512];
	size_t nr;
	pid_t last_pid;
};

static int tell(void *ctx, const struct hit *hit)
{
	struct told *told = ctx;
	size_t len = strlen(told->text);

	snprintf(told->text + len, sizeof(told->text) - len, "%s ", hit->path);
	told->nr++;
	told->last_pid = hit->pid;
	return 0;
}

static struct told ask(struct dso_table *dso_table)
{
	struct told told = { .nr = 0 };

	dso_table__each(dso_table, tell, &told);
	return told;
}

static int map(struct dso_table *dso_table, pid_t pid, const char *path, uint64_t ino)
{
	const struct file_id id = { .ino = ino };

	return dso_table__map(dso_table, pid, path, &id);
}

static void hit(struct dso_table *dso_table, uint32_t pid)
{
	uint64_t ip = 0x1000;
	struct sample sample = { .pid = pid, .tid = pid, .user = { .ips = &ip, .nr = 1 } };

	dso_table__sample(dso_table, &sample);
}

FIXTURE(dso_table)
{
	struct dso_table *dso_table;
};

FIXTURE_SETUP(dso_table)
{
	self->dso_table = dso_table__new();
	ASSERT_NE(NULL, self->dso_table);
}

FIXTURE_TEARDOWN(dso_table)
{
	dso_table__delete(self->dso_table);
}

TEST_F(dso_table, only_files_of_a_process_with_samples_are_hit)
{
	struct told told;

	ASSERT_EQ(0, map(self->dso_table, 10, "/bin/one", 1));
	ASSERT_EQ(0, map(self->dso_table, 11, "/bin/two", 2));
	hit(self->dso_table, 11);
	told = ask(self->dso_table);
	EXPECT_STREQ("/bin/two ", told.text);
	EXPECT_EQ(11, told.last_pid);
}

TEST_F(dso_table, what_is_no_file_is_left_out)
{
	ASSERT_EQ(0, map(self->dso_table, 10, "//anon", 0));
	ASSERT_EQ(0, map(self->dso_table, 10, "[heap]", 0));
	ASSERT_EQ(0, map(self->dso_table, 10, "", 0));
	hit(self->dso_table, 10);
	EXPECT_EQ(0, ask(self->dso_table).nr);
	ASSERT_EQ(0, map(self->dso_table, 10, "[vdso]", 0));
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
		ASSERT_EQ(0, map(self->dso_table, 10, paths[i], i + 1));
	hit(self->dso_table, 10);
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

	ASSERT_EQ(0, map(self->dso_table, 10, "/bin/one", 1));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 10, 77, 0));
	ASSERT_EQ(0, dso_table__fork(self->dso_table, 11, 10, 500));
	EXPECT_FALSE(dso_table__is_hit(self->dso_table, 11));
	hit(self->dso_table, 11);
	EXPECT_TRUE(dso_table__is_hit(self->dso_table, 11));
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
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 10, DSO_VIEW_OURS, 0));
	ASSERT_EQ(0, map(self->dso_table, 10, "/bin/one", 1));
	ASSERT_EQ(0, dso_table__fork(self->dso_table, 11, 10, 0));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 11, 77, 0));
	ASSERT_EQ(0, dso_table__fork(self->dso_table, 12, 11, 0));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 12, 77, 0));
	ASSERT_EQ(0, dso_table__fork(self->dso_table, 13, 12, 0));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 13, 78, 0));
	hit(self->dso_table, 12);
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_EQ(11, told.root);
	dso_table__begin_file(self->dso_table);
	hit(self->dso_table, 13);
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_EQ(13, told.root);
}

static struct told ask_early(struct dso_table *dso_table)
{
	struct told told = { .nr = 0 };

	dso_table__each_early(dso_table, tell, &told);
	return told;
}

TEST_F(dso_table, files_of_containers_are_told_early_and_once_those_of_others_are_not)
{
	ASSERT_EQ(0, map(self->dso_table, 9, "/bin/ours", 1));
	ASSERT_EQ(0, map(self->dso_table, 10, "/bin/one", 2));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 9, DSO_VIEW_OURS, 0));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 10, 77, 0));
	EXPECT_STREQ("/bin/one ", ask_early(self->dso_table).text);
	EXPECT_EQ(0, ask_early(self->dso_table).nr);
	ASSERT_EQ(0, map(self->dso_table, 10, "/lib/later", 3));
	ASSERT_EQ(0, map(self->dso_table, 10, "/bin/one", 2));
	EXPECT_STREQ("/lib/later ", ask_early(self->dso_table).text);
}

TEST_F(dso_table, what_was_learnt_early_is_told_with_the_hit)
{
	static const unsigned char id[] = { 0xab, 0xcd };
	const struct file_id file = { .ino = 1 };
	struct hit told = { .view = 0 };

	ASSERT_EQ(0, map(self->dso_table, 10, "/bin/one", 1));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 10, 77, 0));
	ask_early(self->dso_table);
	dso_table__learn(self->dso_table, "/bin/one", &file, id, sizeof(id));
	dso_table__learn(self->dso_table, "/bin/none", &file, id, sizeof(id));
	dso_table__exit(self->dso_table, 10);
	hit(self->dso_table, 10);
	dso_table__round(self->dso_table);
	dso_table__round(self->dso_table);
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	ASSERT_EQ(2, told.id_len);
	EXPECT_EQ(0, memcmp(id, told.id, sizeof(id)));
}

TEST_F(dso_table, a_file_that_waits_to_be_told_survives_its_last_process)
{
	char path[32];

	ASSERT_EQ(0, map(self->dso_table, 10, "/bin/one", 1));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 10, 77, 0));
	dso_table__exit(self->dso_table, 10);
	/* Enough processes that those without mappings of their own are looked for. */
	for (pid_t pid = 100; pid < 10000; pid++) {
		snprintf(path, sizeof(path), "/tmp/a.out-%d", pid);
		ASSERT_EQ(0, map(self->dso_table, pid, path, (uint64_t)pid));
		dso_table__exit(self->dso_table, pid);
		if (pid % 100 == 0)
			dso_table__round(self->dso_table);
	}
	EXPECT_GT(5000, dso_table__count(self->dso_table));
	EXPECT_STREQ("/bin/one ", ask_early(self->dso_table).text);
}

TEST_F(dso_table, a_process_sees_our_files_unless_told_otherwise)
{
	struct hit told = { .view = 1 };

	ASSERT_EQ(0, map(self->dso_table, 10, "/bin/one", 1));
	hit(self->dso_table, 10);
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_EQ(0, told.view);
}

TEST_F(dso_table, a_sample_that_comes_before_the_records_of_its_process_counts)
{
	ASSERT_EQ(0, map(self->dso_table, 10, "/bin/one", 1));
	hit(self->dso_table, 11);
	EXPECT_EQ(0, ask(self->dso_table).nr);
	ASSERT_EQ(0, dso_table__fork(self->dso_table, 11, 10, 0));
	EXPECT_STREQ("/bin/one ", ask(self->dso_table).text);
	ASSERT_EQ(0, map(self->dso_table, 11, "/lib/two", 2));
	EXPECT_EQ(2, ask(self->dso_table).nr);
	EXPECT_EQ(11, ask(self->dso_table).last_pid);
}

TEST_F(dso_table, the_same_file_in_many_pieces_and_processes_is_told_once)
{
	for (pid_t pid = 10; pid < 20; pid++) {
		ASSERT_EQ(0, map(self->dso_table, pid, "/lib/libc.so", 1));
		ASSERT_EQ(0, map(self->dso_table, pid, "/lib/libc.so", 1));
		hit(self->dso_table, (uint32_t)pid);
	}
	EXPECT_EQ(1, ask(self->dso_table).nr);
}

TEST_F(dso_table, a_path_with_another_inode_is_another_file)
{
	ASSERT_EQ(0, map(self->dso_table, 10, "/lib/libc.so", 1));
	ASSERT_EQ(0, map(self->dso_table, 11, "/lib/libc.so", 2));
	hit(self->dso_table, 10);
	hit(self->dso_table, 11);
	EXPECT_EQ(2, ask(self->dso_table).nr);
}

TEST_F(dso_table, a_forked_process_has_the_files_of_its_parent_and_keeps_them)
{
	ASSERT_EQ(0, map(self->dso_table, 10, "/bin/one", 1));
	ASSERT_EQ(0, dso_table__fork(self->dso_table, 11, 10, 0));
	ASSERT_EQ(0, map(self->dso_table, 10, "/lib/later", 2));
	dso_table__exit(self->dso_table, 10);
	dso_table__round(self->dso_table);
	dso_table__round(self->dso_table);
	hit(self->dso_table, 11);
	EXPECT_STREQ("/bin/one ", ask(self->dso_table).text);
}

TEST_F(dso_table, an_exec_forgets_the_files_before_it)
{
	ASSERT_EQ(0, map(self->dso_table, 10, "/bin/one", 1));
	dso_table__exec(self->dso_table, 10);
	ASSERT_EQ(0, map(self->dso_table, 10, "/bin/two", 2));
	hit(self->dso_table, 10);
	EXPECT_STREQ("/bin/two ", ask(self->dso_table).text);
}

TEST_F(dso_table, a_sum_that_comes_after_the_exit_still_hits)
{
	ASSERT_EQ(0, map(self->dso_table, 10, "/bin/one", 1));
	dso_table__exit(self->dso_table, 10);
	dso_table__round(self->dso_table);
	hit(self->dso_table, 10);
	EXPECT_EQ(1, ask(self->dso_table).nr);
}

TEST_F(dso_table, a_process_that_left_is_forgotten_one_round_later)
{
	ASSERT_EQ(0, map(self->dso_table, 10, "/bin/one", 1));
	dso_table__exit(self->dso_table, 10);
	dso_table__round(self->dso_table);
	dso_table__round(self->dso_table);
	hit(self->dso_table, 10);
	EXPECT_EQ(0, ask(self->dso_table).nr);
}

TEST_F(dso_table, a_pid_that_is_used_again_outlives_the_one_before)
{
	ASSERT_EQ(0, map(self->dso_table, 9, "/bin/parent", 9));
	ASSERT_EQ(0, map(self->dso_table, 10, "/bin/old", 1));
	dso_table__exit(self->dso_table, 10);
	ASSERT_EQ(0, dso_table__fork(self->dso_table, 10, 9, 0));
	dso_table__round(self->dso_table);
	dso_table__round(self->dso_table);
	hit(self->dso_table, 10);
	EXPECT_STREQ("/bin/parent ", ask(self->dso_table).text);
}

TEST_F(dso_table, what_execs_may_have_left_our_files_and_nothing_is_known_of_it_until_it_is_told)
{
	struct hit told = { .view = 77 };

	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 9, DSO_VIEW_OURS, 0));
	ASSERT_EQ(0, dso_table__fork(self->dso_table, 10, 9, 500));
	dso_table__exec(self->dso_table, 10);
	ASSERT_EQ(0, map(self->dso_table, 10, "/bin/one", 1));
	hit(self->dso_table, 10);
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_EQ(DSO_VIEW_UNKNOWN, told.view);
	/* A child that goes on with the same program sees what its parent does. */
	dso_table__begin_file(self->dso_table);
	ASSERT_EQ(0, map(self->dso_table, 9, "/bin/one", 1));
	ASSERT_EQ(0, dso_table__fork(self->dso_table, 11, 9, 600));
	hit(self->dso_table, 11);
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_EQ(DSO_VIEW_OURS, told.view);
}

TEST_F(dso_table, who_was_born_after_the_one_that_had_the_pid_does_not_stand_in_for_it)
{
	struct hit told = { .view = 77 };

	ASSERT_EQ(0, map(self->dso_table, 10, "/bin/one", 1));
	ASSERT_EQ(0, dso_table__set_view(self->dso_table, 10, DSO_VIEW_OURS, 500));
	hit(self->dso_table, 10);
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_EQ(500, told.alive);
	EXPECT_FALSE(told.gone);
	/* Also where the parent is not known. */
	ASSERT_EQ(0, dso_table__fork(self->dso_table, 10, 9, 501));
	ASSERT_EQ(0, dso_table__each(self->dso_table, tell_view, &told));
	EXPECT_TRUE(told.gone);
}

TEST_F(dso_table, one_name_and_inode_number_on_two_devices_are_two_files)
{
	const struct file_id one = { .ino = 1, .maj = 8, .min = 1 },
			     other = { .ino = 1, .maj = 8, .min = 2 };

	ASSERT_EQ(0, dso_table__map(self->dso_table, 10, "/bin/one", &one));
	ASSERT_EQ(0, dso_table__map(self->dso_table, 11, "/bin/one", &other));
	hit(self->dso_table, 10);
	EXPECT_STREQ("/bin/one ", ask(self->dso_table).text);
	hit(self->dso_table, 11);
	EXPECT_STREQ("/bin/one /bin/one ", ask(self->dso_table).text);
}

TEST_F(dso_table, kernel_frames_hit_the_module_they_lie_in)
{
	uint64_t ips[] = { 0x2fff, 0x3000 };
	struct sample sample = { .pid = 1, .kernel = { .ips = ips, .nr = 1 } };

	ASSERT_EQ(0,
		  dso_table__kernel_map(self->dso_table, 0x1000, 0x1000, "[kernel.kallsyms]_text"));
	ASSERT_EQ(0, dso_table__kernel_map(self->dso_table, 0x2000, 0x1000, "[ext4]"));
	ASSERT_EQ(0, dso_table__kernel_map(self->dso_table, 0x3000, 0x1000, "[next]"));
	dso_table__sample(self->dso_table, &sample);
	EXPECT_STREQ("[ext4] ", ask(self->dso_table).text);
}

TEST_F(dso_table, a_thousand_forks_share_one_list)
{
	ASSERT_EQ(0, map(self->dso_table, 1, "/bin/one", 1));
	for (pid_t pid = 2; pid < 1000; pid++)
		ASSERT_EQ(0, dso_table__fork(self->dso_table, pid, pid - 1, 0));
	hit(self->dso_table, 999);
	EXPECT_EQ(999, ask(self->dso_table).last_pid);
}

TEST_F(dso_table, files_that_nobody_needs_any_more_are_forgotten_those_that_were_hit_are_not)
{
	size_t before, after;
	char path[32];

	ASSERT_EQ(0, map(self->dso_table, 1, "/bin/hit", 1));
	hit(self->dso_table, 1);
	dso_table__exit(self->dso_table, 1);
	before = dso_table__count(self->dso_table);
	/* A compiler farm: each process runs a program of its own, and ends. */
	for (pid_t pid = 2; pid < 50000; pid++) {
		snprintf(path, sizeof(path), "/tmp/a.out-%d", pid);
		ASSERT_EQ(0, map(self->dso_table, pid, path, (uint64_t)pid));
		dso_table__exit(self->dso_table, pid);
		if (pid % 100 == 0)
			dso_table__round(self->dso_table);
	}
	after = dso_table__count(self->dso_table);
	EXPECT_GT(10000, after - before) TH_LOG("%zu files", after);
	EXPECT_STREQ("/bin/hit ", ask(self->dso_table).text);
}

TEST_F(dso_table, another_file_begins_without_hits_and_with_all_that_is_mapped)
{
	ASSERT_EQ(0, map(self->dso_table, 10, "/bin/one", 1));
	hit(self->dso_table, 10);
	dso_table__begin_file(self->dso_table);
	EXPECT_EQ(0, ask(self->dso_table).nr);
	hit(self->dso_table, 10);
	EXPECT_STREQ("/bin/one ", ask(self->dso_table).text);
}

TEST_HARNESS_MAIN
