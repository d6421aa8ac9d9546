/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/harness.h"

#include "symbol/dso_table.h"

/* The paths that are hit, each followed by a blank, in the order they are told. */
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

static struct told ask(struct hits *hits)
{
	struct told told = { .nr = 0 };

	hits__each(hits, tell, &told);
	return told;
}

static void hit(struct hits *hits, uint32_t pid)
{
	uint64_t ip = 0x1000;
	struct sample sample = { .pid = pid, .tid = pid, .user = { .ips = &ip, .nr = 1 } };

	hits__sample(hits, &sample);
}

FIXTURE(hits)
{
	struct hits *hits;
};

FIXTURE_SETUP(hits)
{
	self->hits = hits__new();
	ASSERT_NE(NULL, self->hits);
}

FIXTURE_TEARDOWN(hits)
{
	hits__delete(self->hits);
}

TEST_F(hits, only_files_of_a_process_with_samples_are_hit)
{
	struct told told;

	ASSERT_EQ(0, hits__map(self->hits, 10, "/bin/one", 1));
	ASSERT_EQ(0, hits__map(self->hits, 11, "/bin/two", 2));
	hit(self->hits, 11);
	told = ask(self->hits);
	EXPECT_STREQ("/bin/two ", told.text);
	EXPECT_EQ(11, told.last_pid);
}

TEST_F(hits, what_is_no_file_is_left_out)
{
	ASSERT_EQ(0, hits__map(self->hits, 10, "//anon", 0));
	ASSERT_EQ(0, hits__map(self->hits, 10, "[heap]", 0));
	ASSERT_EQ(0, hits__map(self->hits, 10, "", 0));
	hit(self->hits, 10);
	EXPECT_EQ(0, ask(self->hits).nr);
	ASSERT_EQ(0, hits__map(self->hits, 10, "[vdso]", 0));
	EXPECT_STREQ("[vdso] ", ask(self->hits).text);
}

static int tell_view(void *ctx, const struct hit *hit)
{
	if (!strcmp(hit->path, "/bin/one"))
		*(struct hit *)ctx = *hit;
	return 0;
}

TEST_F(hits, children_see_the_files_that_their_parent_sees)
{
	struct hit told = { .view = 0 };

	ASSERT_EQ(0, hits__map(self->hits, 10, "/bin/one", 1));
	ASSERT_EQ(0, hits__set_view(self->hits, 10, 77));
	ASSERT_EQ(0, hits__fork(self->hits, 11, 10));
	EXPECT_FALSE(hits__is_hit(self->hits, 11));
	hit(self->hits, 11);
	EXPECT_TRUE(hits__is_hit(self->hits, 11));
	ASSERT_EQ(0, hits__each(self->hits, tell_view, &told));
	EXPECT_EQ(77, told.view);
	/* Through the child's root, or if it has ended through that of its parent. */
	EXPECT_EQ(11, told.pid);
	EXPECT_EQ(10, told.root);
}

TEST_F(hits, the_eldest_of_a_container_stands_for_it_and_not_who_made_it)
{
	struct hit told = { .view = 0 };

	/* 10 runs outside; 11 enters, 12 is its child, 13 has a container of its own in there. */
	ASSERT_EQ(0, hits__set_view(self->hits, 10, 0));
	ASSERT_EQ(0, hits__map(self->hits, 10, "/bin/one", 1));
	ASSERT_EQ(0, hits__fork(self->hits, 11, 10));
	ASSERT_EQ(0, hits__set_view(self->hits, 11, 77));
	ASSERT_EQ(0, hits__fork(self->hits, 12, 11));
	ASSERT_EQ(0, hits__set_view(self->hits, 12, 77));
	ASSERT_EQ(0, hits__fork(self->hits, 13, 12));
	ASSERT_EQ(0, hits__set_view(self->hits, 13, 78));
	hit(self->hits, 12);
	ASSERT_EQ(0, hits__each(self->hits, tell_view, &told));
	EXPECT_EQ(11, told.root);
	hits__begin_file(self->hits);
	hit(self->hits, 13);
	ASSERT_EQ(0, hits__each(self->hits, tell_view, &told));
	EXPECT_EQ(13, told.root);
}

static struct told ask_early(struct hits *hits)
{
	struct told told = { .nr = 0 };

	hits__each_early(hits, tell, &told);
	return told;
}

TEST_F(hits, files_of_containers_are_told_early_and_once_those_of_others_are_not)
{
	ASSERT_EQ(0, hits__map(self->hits, 9, "/bin/ours", 1));
	ASSERT_EQ(0, hits__map(self->hits, 10, "/bin/one", 2));
	ASSERT_EQ(0, hits__set_view(self->hits, 9, 0));
	ASSERT_EQ(0, hits__set_view(self->hits, 10, 77));
	EXPECT_STREQ("/bin/one ", ask_early(self->hits).text);
	EXPECT_EQ(0, ask_early(self->hits).nr);
	ASSERT_EQ(0, hits__map(self->hits, 10, "/lib/later", 3));
	ASSERT_EQ(0, hits__map(self->hits, 10, "/bin/one", 2));
	EXPECT_STREQ("/lib/later ", ask_early(self->hits).text);
}

TEST_F(hits, what_was_learnt_early_is_told_with_the_hit)
{
	static const unsigned char id[] = { 0xab, 0xcd };
	struct hit told = { .view = 0 };

	ASSERT_EQ(0, hits__map(self->hits, 10, "/bin/one", 1));
	ASSERT_EQ(0, hits__set_view(self->hits, 10, 77));
	ask_early(self->hits);
	hits__learn(self->hits, "/bin/one", 1, id, sizeof(id));
	hits__learn(self->hits, "/bin/none", 1, id, sizeof(id));
	hits__exit(self->hits, 10);
	hit(self->hits, 10);
	hits__round(self->hits);
	hits__round(self->hits);
	ASSERT_EQ(0, hits__each(self->hits, tell_view, &told));
	ASSERT_EQ(2, told.id_len);
	EXPECT_EQ(0, memcmp(id, told.id, sizeof(id)));
}

TEST_F(hits, a_file_that_waits_to_be_told_survives_its_last_process)
{
	char path[32];

	ASSERT_EQ(0, hits__map(self->hits, 10, "/bin/one", 1));
	ASSERT_EQ(0, hits__set_view(self->hits, 10, 77));
	hits__exit(self->hits, 10);
	/* So many that those which nobody has mapped are looked for. */
	for (pid_t pid = 100; pid < 10000; pid++) {
		snprintf(path, sizeof(path), "/tmp/a.out-%d", pid);
		ASSERT_EQ(0, hits__map(self->hits, pid, path, (uint64_t)pid));
		hits__exit(self->hits, pid);
		if (pid % 100 == 0)
			hits__round(self->hits);
	}
	EXPECT_GT(5000, hits__count(self->hits));
	EXPECT_STREQ("/bin/one ", ask_early(self->hits).text);
}

TEST_F(hits, a_process_sees_our_files_unless_told_otherwise)
{
	struct hit told = { .view = 1 };

	ASSERT_EQ(0, hits__map(self->hits, 10, "/bin/one", 1));
	hit(self->hits, 10);
	ASSERT_EQ(0, hits__each(self->hits, tell_view, &told));
	EXPECT_EQ(0, told.view);
}

TEST_F(hits, a_sample_that_comes_before_the_records_of_its_process_counts)
{
	ASSERT_EQ(0, hits__map(self->hits, 10, "/bin/one", 1));
	hit(self->hits, 11);
	EXPECT_EQ(0, ask(self->hits).nr);
	ASSERT_EQ(0, hits__fork(self->hits, 11, 10));
	EXPECT_STREQ("/bin/one ", ask(self->hits).text);
	ASSERT_EQ(0, hits__map(self->hits, 11, "/lib/two", 2));
	EXPECT_EQ(2, ask(self->hits).nr);
	EXPECT_EQ(11, ask(self->hits).last_pid);
}

TEST_F(hits, the_same_file_in_many_pieces_and_processes_is_told_once)
{
	for (pid_t pid = 10; pid < 20; pid++) {
		ASSERT_EQ(0, hits__map(self->hits, pid, "/lib/libc.so", 1));
		ASSERT_EQ(0, hits__map(self->hits, pid, "/lib/libc.so", 1));
		hit(self->hits, (uint32_t)pid);
	}
	EXPECT_EQ(1, ask(self->hits).nr);
}

TEST_F(hits, a_path_with_another_inode_is_another_file)
{
	ASSERT_EQ(0, hits__map(self->hits, 10, "/lib/libc.so", 1));
	ASSERT_EQ(0, hits__map(self->hits, 11, "/lib/libc.so", 2));
	hit(self->hits, 10);
	hit(self->hits, 11);
	EXPECT_EQ(2, ask(self->hits).nr);
}

TEST_F(hits, a_forked_process_has_the_files_of_its_parent_and_keeps_them)
{
	ASSERT_EQ(0, hits__map(self->hits, 10, "/bin/one", 1));
	ASSERT_EQ(0, hits__fork(self->hits, 11, 10));
	ASSERT_EQ(0, hits__map(self->hits, 10, "/lib/later", 2));
	hits__exit(self->hits, 10);
	hits__round(self->hits);
	hits__round(self->hits);
	hit(self->hits, 11);
	EXPECT_STREQ("/bin/one ", ask(self->hits).text);
}

TEST_F(hits, an_exec_forgets_the_files_before_it)
{
	ASSERT_EQ(0, hits__map(self->hits, 10, "/bin/one", 1));
	hits__exec(self->hits, 10);
	ASSERT_EQ(0, hits__map(self->hits, 10, "/bin/two", 2));
	hit(self->hits, 10);
	EXPECT_STREQ("/bin/two ", ask(self->hits).text);
}

TEST_F(hits, a_sum_that_comes_after_the_exit_still_hits)
{
	ASSERT_EQ(0, hits__map(self->hits, 10, "/bin/one", 1));
	hits__exit(self->hits, 10);
	hits__round(self->hits);
	hit(self->hits, 10);
	EXPECT_EQ(1, ask(self->hits).nr);
}

TEST_F(hits, a_process_that_left_is_forgotten_one_round_later)
{
	ASSERT_EQ(0, hits__map(self->hits, 10, "/bin/one", 1));
	hits__exit(self->hits, 10);
	hits__round(self->hits);
	hits__round(self->hits);
	hit(self->hits, 10);
	EXPECT_EQ(0, ask(self->hits).nr);
}

TEST_F(hits, a_pid_that_is_used_again_outlives_the_one_before)
{
	ASSERT_EQ(0, hits__map(self->hits, 9, "/bin/parent", 9));
	ASSERT_EQ(0, hits__map(self->hits, 10, "/bin/old", 1));
	hits__exit(self->hits, 10);
	ASSERT_EQ(0, hits__fork(self->hits, 10, 9));
	hits__round(self->hits);
	hits__round(self->hits);
	hit(self->hits, 10);
	EXPECT_STREQ("/bin/parent ", ask(self->hits).text);
}

TEST_F(hits, kernel_frames_hit_the_module_they_lie_in)
{
	uint64_t ips[] = { 0x2fff, 0x3000 };
	struct sample sample = { .pid = 1, .kernel = { .ips = ips, .nr = 1 } };

	ASSERT_EQ(0, hits__kernel_map(self->hits, 0x1000, 0x1000, "[kernel.kallsyms]_text"));
	ASSERT_EQ(0, hits__kernel_map(self->hits, 0x2000, 0x1000, "[ext4]"));
	ASSERT_EQ(0, hits__kernel_map(self->hits, 0x3000, 0x1000, "[next]"));
	hits__sample(self->hits, &sample);
	EXPECT_STREQ("[ext4] ", ask(self->hits).text);
}

TEST_F(hits, a_thousand_forks_share_one_list)
{
	ASSERT_EQ(0, hits__map(self->hits, 1, "/bin/one", 1));
	for (pid_t pid = 2; pid < 1000; pid++)
		ASSERT_EQ(0, hits__fork(self->hits, pid, pid - 1));
	hit(self->hits, 999);
	EXPECT_EQ(999, ask(self->hits).last_pid);
}

TEST_F(hits, files_that_nobody_needs_any_more_are_forgotten_those_that_were_hit_are_not)
{
	size_t before, after;
	char path[32];

	ASSERT_EQ(0, hits__map(self->hits, 1, "/bin/hit", 1));
	hit(self->hits, 1);
	hits__exit(self->hits, 1);
	before = hits__count(self->hits);
	/* A compiler farm: each process runs a program of its own, and ends. */
	for (pid_t pid = 2; pid < 50000; pid++) {
		snprintf(path, sizeof(path), "/tmp/a.out-%d", pid);
		ASSERT_EQ(0, hits__map(self->hits, pid, path, (uint64_t)pid));
		hits__exit(self->hits, pid);
		if (pid % 100 == 0)
			hits__round(self->hits);
	}
	after = hits__count(self->hits);
	EXPECT_GT(10000, after - before) TH_LOG("%zu files", after);
	EXPECT_STREQ("/bin/hit ", ask(self->hits).text);
}

TEST_F(hits, another_file_begins_without_hits_and_with_all_that_is_mapped)
{
	ASSERT_EQ(0, hits__map(self->hits, 10, "/bin/one", 1));
	hit(self->hits, 10);
	hits__begin_file(self->hits);
	EXPECT_EQ(0, ask(self->hits).nr);
	hit(self->hits, 10);
	EXPECT_STREQ("/bin/one ", ask(self->hits).text);
}

TEST_HARNESS_MAIN
