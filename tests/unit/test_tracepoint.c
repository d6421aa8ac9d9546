/* SPDX-License-Identifier: GPL-2.0-only */
#include "host/tracepoint.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "common/captured_stderr.h"
#include "common/harness.h"
#include "input/trace_fields.h"
#include "output/perfdata/tracing.h"
#include "host/similar.h"

#define COMMON                                                                       \
	"format:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"          \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"  \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                    \
	"\tfield:int prio;\toffset:8;\tsize:4;\tsigned:1;\n\n"

FIXTURE(tracefs)
{
	char dir[64];
	struct tracepoint_list list;
};

static void make_dir(const char *dir, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (mkdir(path, 0700) && errno != EEXIST)
		abort();
}

/* A tracepoint with its directory, whose format is text. */
static void make_file(const char *dir, const char *system, const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "events/%s", system);
	make_dir(dir, path);
	snprintf(path, sizeof(path), "events/%s/%s", system, name);
	make_dir(dir, path);
	snprintf(path, sizeof(path), "%s/events/%s/%s/format", dir, system, name);
	file = fopen(path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		abort();
}

static void make_event(const char *dir, const char *system, const char *name, int id)
{
	char text[1024];

	snprintf(text, sizeof(text), "name: %s\nID: %d\n" COMMON "print fmt: \"%%d\", REC->prio\n",
		 name, id);
	make_file(dir, system, name, text);
}

FIXTURE_SETUP(tracefs)
{
	self->list = (struct tracepoint_list){ 0 };
	snprintf(self->dir, sizeof(self->dir), "/tmp/denet-tracefs-XXXXXX");
	if (!mkdtemp(self->dir))
		abort();
	make_dir(self->dir, "events");
	make_event(self->dir, "sched", "sched_switch", 300);
	make_event(self->dir, "sched", "sched_wakeup", 301);
	make_event(self->dir, "irq", "irq_handler_entry", 77);
}

FIXTURE_TEARDOWN(tracefs)
{
	char command[128];

	tracepoint_list__free(&self->list);
	snprintf(command, sizeof(command), "rm -r %s", self->dir);
	if (system(command))
		abort();
}

TEST_F(tracefs, tracepoints_have_id_and_format_and_count_once)
{
	ASSERT_EQ(0, tracepoint_list__read(&self->list,
					   "sched:sched_switch,irq:irq_handler_entry,"
					   "sched:sched_wakeup,sched:sched_switch",
					   self->dir));
	ASSERT_EQ(3, self->list.nr);
	EXPECT_STREQ("sched:sched_switch", self->list.all[0].name);
	EXPECT_STREQ("sched", self->list.all[0].system);
	EXPECT_EQ(300, self->list.all[0].id);
	EXPECT_EQ(77, self->list.all[1].id);
	EXPECT_EQ(301, self->list.all[2].id);
	EXPECT_EQ(0, strncmp("name: sched_wakeup\nID: 301\n", self->list.all[2].format, 27));
}

/* The error is told with what is asked for and what helps. */
static int refuse(const char *dir, const char *names, const char *words, bool *told)
{
	struct tracepoint_list list;
	char text[4096];
	int err, saved;

	saved = captured_stderr__begin();
	err = tracepoint_list__read(&list, names, dir);
	captured_stderr__end(saved, text, sizeof(text));
	*told = strstr(text, words);
	if (!*told)
		printf("# %s", text);
	return err;
}

TEST_F(tracefs, what_is_missing_is_told_with_the_names_that_are_like_it)
{
	const struct {
		const char *names;
		int err;
		const char *words;
	} cases[] = {
		{ "sched:sched_swich", -ENOENT, "tracepoint in sched; similar: sched_switch" },
		{ "sched:wakeup", -ENOENT, "similar: sched_wakeup" },
		{ "shed:sched_switch", -ENOENT, "no subsystem shed; similar: sched" },
		{ "sched:xyz", -ENOENT, "no such tracepoint in sched; `ls " },
		{ "sched:a/b", -EINVAL, "no tracepoint: its name is SUBSYS:NAME" },
		{ "sched:..", -EINVAL, "no tracepoint" },
		{ "..:sched", -EINVAL, "no tracepoint" },
		{ "sched", -EINVAL, "no tracepoint" },
		{ "a:b:c", -EINVAL, "no tracepoint" },
		{ "sched:sched_switch,irq:none", -ENOENT, "-e irq:none" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool told = false;

		EXPECT_EQ(cases[i].err, refuse(self->dir, cases[i].names, cases[i].words, &told));
		EXPECT_TRUE(told);
	}
}

TEST_F(tracefs, a_format_that_is_none_is_refused)
{
	static const char *const texts[] = { "", "name: bad\n", "name: bad\nID: 0\n" COMMON,
					     "name: bad\nID: 70000\n" COMMON "print fmt: \"\"\n" };
	bool told = false;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		make_file(self->dir, "sched", "bad", texts[i]);
		EXPECT_EQ(-EINVAL, refuse(self->dir, "sched:bad", "libtraceevent", &told));
		EXPECT_TRUE(told);
	}
}

TEST_F(tracefs, there_is_a_limit)
{
	char names[4096] = "", name[32];
	size_t len = 0;
	bool told = false;

	for (int i = 0; i <= TRACEPOINTS_MAX; i++) {
		snprintf(name, sizeof(name), "event_%d", i);
		make_event(self->dir, "many", name, 400 + i);
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%smany:%s",
					i ? "," : "", name);
	}
	EXPECT_EQ(-E2BIG, refuse(self->dir, names, "more than 20 tracepoints", &told));
	EXPECT_TRUE(told);
	*strrchr(names, ',') = '\0';
	EXPECT_EQ(0, tracepoint_list__read(&self->list, names, self->dir));
	EXPECT_EQ(TRACEPOINTS_MAX, self->list.nr);
}

TEST_F(tracefs, formats_of_the_kernel_stand_behind_ours)
{
	struct trace_fields *fields;
	struct buffer data = { 0 };
	int err;

	ASSERT_EQ(0, tracepoint_list__read(&self->list,
					   "sched:sched_switch,irq:irq_handler_entry,"
					   "sched:sched_wakeup",
					   self->dir));
	ASSERT_EQ(0, tracing__encode(&data, &self->list));
	EXPECT_TRUE(memmem(data.data, data.len, "sched\0\2\0\0\0", 10) != NULL);
	EXPECT_TRUE(memmem(data.data, data.len, "irq\0\1\0\0\0", 8) != NULL);
	/* Readers of ours find theirs. */
	fields = trace_fields__new(data.data, data.len, &err);
	EXPECT_NE(NULL, fields);
	trace_fields__delete(fields);
	buffer__free(&data);
}

TEST(distance_counts_insertions_deletions_and_replacements)
{
	EXPECT_EQ(0, similar__distance("sched", "sched"));
	EXPECT_EQ(1, similar__distance("shed", "sched"));
	EXPECT_EQ(1, similar__distance("sched", "shed"));
	EXPECT_EQ(2, similar__distance("sched", "scaled"));
	EXPECT_EQ(5, similar__distance("", "sched"));
	EXPECT_EQ(3, similar__distance("kitten", "sitting"));
}

TEST_HARNESS_MAIN
