/* SPDX-License-Identifier: GPL-2.0-only */
/* The order in which files are asked for their build-ids, and the time spent on many of them. */
#include "record/build_ids.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "common/captured_stderr.h"
#include "common/harness.h"
#include "machine/machine.h"
#include "output/perfdata/writer.h"
#include "symbol/cache.h"
#include "symbol/dso_table.h"

#define DEADLINE_MS 20000

FIXTURE(build_ids)
{
	char dir[64];
	char path[96];
	struct writer *writer;
	struct machine *machine;
	struct dso_table *dso_table;
	uint64_t address; /* of the latest mapping */
	struct cache cache;
	int fuse; /* the server of a file system in dir/dead that never answers; -1: none */
};

static const char *const files[] = { "program", "a.so", "b.so", "libc.so.6", "perf.data", "dead" };

FIXTURE_SETUP(build_ids)
{
	static const char *const argv[] = { "denet-record" };
	struct writer_options options = { .argc = 1, .argv = argv, .version = "0" };
	int err;

	log__init("test", LOG_WARNING);
	memset(self, 0, sizeof(*self));
	self->fuse = -1;
	snprintf(self->dir, sizeof(self->dir), "/tmp/denet-build-ids-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->path, sizeof(self->path), "%s/perf.data", self->dir);
	options.path = self->path;
	self->writer = writer__new(&options, &err);
	ASSERT_NE(NULL, self->writer);
	self->machine = machine__new();
	ASSERT_NE(NULL, self->machine);
	self->dso_table = dso_table__new(self->machine);
	ASSERT_NE(NULL, self->dso_table);
}

FIXTURE_TEARDOWN(build_ids)
{
	dso_table__delete(self->dso_table);
	machine__delete(self->machine);
	writer__close(self->writer);
	cache__free(&self->cache);
	if (self->fuse >= 0) {
		close(self->fuse);
		snprintf(self->path, sizeof(self->path), "%s/dead", self->dir);
		umount2(self->path, MNT_DETACH);
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(self->path, sizeof(self->path), "%s/%s", self->dir, files[i]);
		remove(self->path);
	}
	rmdir(self->dir);
}

typedef FIXTURE_DATA(build_ids) data;

static const char *path_of(data *self, const char *name)
{
	snprintf(self->path, sizeof(self->path), "%s/%s", self->dir, name);
	return self->path;
}

/* This process maps a file. 0 or -ENOMEM. */
static int map_file(data *self, const char *path, uint64_t ino)
{
	const struct task_event event = {
		.kind = TASK_EVENT_MMAP,
		.pid = getpid(),
		.tid = getpid(),
		.map = { .start = self->address += 0x1000,
			 .len = 0x1000,
			 .ino = ino,
			 .path = path },
	};
	int err = machine__handle(self->machine, &event);

	return err < 0 ? err : dso_table__follow(self->dso_table, &event);
}

/* A file of ours that has a build-id, which this process has mapped. 0 or -1. */
static int map_copy(data *self, const char *name)
{
	int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int out = open(path_of(self, name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ssize_t len = sendfile(out, in, NULL, 64 << 20);
	struct stat st;

	if (len <= 0 || fstat(out, &st))
		return -1;
	close(in);
	close(out);
	return map_file(self, self->path, st.st_ino);
}

static void hit(data *self)
{
	const uint64_t ip = 0x1000;
	const struct sample sample = { .pid = (uint32_t)getpid(), .tid = (uint32_t)getpid(),
				       .user = { .ips = &ip, .nr = 1 } };

	dso_table__sample(self->dso_table, &sample);
}

static bool is_item(const data *self, size_t i, const char *name)
{
	const char *slash = i < self->cache.nr ? strrchr(self->cache.items[i].path, '/') : NULL;

	return slash && !strcmp(slash + 1, name);
}

TEST_F(build_ids, programs_and_the_c_library_are_asked_first)
{
	ASSERT_EQ(0, map_copy(self, "program"));
	ASSERT_EQ(0, map_copy(self, "a.so"));
	ASSERT_EQ(0, map_copy(self, "b.so"));
	ASSERT_EQ(0, map_copy(self, "libc.so.6"));
	hit(self);
	ASSERT_EQ(0, build_ids__write(self->writer, self->dso_table, DEADLINE_MS, &self->cache));
	/* As the answers came. */
	ASSERT_EQ(4, self->cache.nr);
	EXPECT_TRUE(is_item(self, 0, "program") || is_item(self, 1, "program"));
	EXPECT_TRUE(is_item(self, 0, "libc.so.6") || is_item(self, 1, "libc.so.6"));
	EXPECT_TRUE(is_item(self, 2, "a.so") || is_item(self, 3, "a.so"));
}

/* A FUSE file system whose server never answers: any access blocks until the process is killed. */
static bool mount_dead(data *self)
{
	char options[128];

	if (mkdir(path_of(self, "dead"), 0755) || unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return false;
	self->fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", self->fuse);
	return self->fuse >= 0 && !mount("dead", self->path, "fuse", MS_NOSUID | MS_NODEV, options);
}

static int map_dead(data *self, size_t nr)
{
	char path[128];
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		snprintf(path, sizeof(path), "%s/dead/lib%zu.so", self->dir, i);
		err = map_file(self, path, 0);
	}
	return err;
}

/* The number that a warning begins with, 0: there is none. */
static size_t number_before(const char *text, const char *words)
{
	const char *at = strstr(text, words);

	while (at && at > text && at[-1] != ':')
		at--;
	return at ? strtoul(at, NULL, 10) : 0;
}

TEST_F(build_ids, many_files_that_do_not_answer_have_more_time_and_leave_some_to_others)
{
	const int deadline_ms = 250;
	uint64_t start, took;
	size_t silent, left;
	char text[2048];
	int saved, err;

	if (!mount_dead(self))
		SKIP(return, "cannot mount a FUSE file system here");
	ASSERT_EQ(0, map_copy(self, "program"));
	ASSERT_EQ(0, map_dead(self, 400));
	ASSERT_EQ(0, map_copy(self, "libc.so.6"));
	hit(self);
	saved = captured_stderr__begin();
	start = clock__now_ns();
	err = build_ids__write(self->writer, self->dso_table, deadline_ms, &self->cache);
	took = clock__now_ns() - start;
	captured_stderr__end(saved, text, sizeof(text));
	ASSERT_EQ(0, err);
	/* Each dead file extends the deadline by a two hundredth, and all of that was used. */
	EXPECT_LE(3 * deadline_ms * NSEC_PER_MSEC, took);
	/* The last files of the table were read, too. */
	EXPECT_EQ(2, self->cache.nr);
	/* Each file is counted once, in one of the two warnings. */
	silent = number_before(text, " files could not be read in time");
	left = number_before(text, " files were not read for their build-ids");
	EXPECT_LT(0, silent);
	EXPECT_LT(0, left);
	EXPECT_EQ(400, silent + left);
}

TEST_HARNESS_MAIN
