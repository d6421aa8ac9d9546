/* SPDX-License-Identifier: GPL-2.0-only */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/harness.h"

#include "base/confine.h"
#include "symbol/copy_file.h"

#define MB (1ULL << 20)

FIXTURE(copy)
{
	char dir[64];
	int dir_fd;
	int from;
	uint64_t room;
};

FIXTURE_SETUP(copy)
{
	snprintf(self->dir, sizeof(self->dir), "/tmp/denet-copy.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	self->dir_fd = open(self->dir, O_RDONLY | O_DIRECTORY);
	self->from = openat(self->dir_fd, "from", O_RDWR | O_CREAT, 0751);
	ASSERT_LE(0, self->from);
	self->room = 100 * MB;
}

FIXTURE_TEARDOWN(copy)
{
	unlinkat(self->dir_fd, "from", 0);
	unlinkat(self->dir_fd, "to", 0);
	close(self->dir_fd);
	close(self->from);
	rmdir(self->dir);
}

/* Files of the directory besides the original. */
static int count_files(const char *dir)
{
	DIR *list = opendir(dir);
	struct dirent *entry;
	int nr = 0;

	while (list && (entry = readdir(list)))
		nr += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
	closedir(list);
	return nr - 1;
}

static bool is_same(int dir_fd, off_t at, const char *text)
{
	int fd = openat(dir_fd, "to", O_RDONLY);
	char data[16] = "";
	ssize_t len = pread(fd, data, strlen(text), at);

	close(fd);
	return len == (ssize_t)strlen(text) && !strcmp(data, text);
}

TEST_F(copy, holes_stay_holes_and_bytes_stay_where_they_are)
{
	struct stat st;

	ASSERT_EQ(5, pwrite(self->from, "begin", 5, 0));
	ASSERT_EQ(6, pwrite(self->from, "middle", 6, (off_t)(2000 * MB)));
	ASSERT_EQ(0, ftruncate(self->from, (off_t)(4000 * MB)));
	ASSERT_EQ(0, copy_file__into(self->dir_fd, "to", self->from, &self->room));
	ASSERT_EQ(0, fstatat(self->dir_fd, "to", &st, 0));
	EXPECT_EQ((off_t)(4000 * MB), st.st_size);
	EXPECT_GT((blkcnt_t)(10 * MB / 512), st.st_blocks);
	EXPECT_TRUE(is_same(self->dir_fd, 0, "begin"));
	EXPECT_TRUE(is_same(self->dir_fd, (off_t)(2000 * MB), "middle"));
	EXPECT_LT(90 * MB, self->room);
	EXPECT_GT(100 * MB, self->room);
	/* And what is there stays. */
	EXPECT_EQ(0, copy_file__into(self->dir_fd, "to", self->from, &self->room));
}

static void fill(int fd, size_t size)
{
	char *data = malloc(size);

	memset(data, 'x', size);
	if (write(fd, data, size) != (ssize_t)size)
		abort();
	free(data);
}

TEST_F(copy, what_is_larger_than_the_room_is_left_out)
{
	fill(self->from, 2 * MB);
	self->room = MB;
	EXPECT_EQ(-EFBIG, copy_file__into(self->dir_fd, "to", self->from, &self->room));
	EXPECT_EQ(0, count_files(self->dir));
	self->room = 3 * MB;
	EXPECT_EQ(0, copy_file__into(self->dir_fd, "to", self->from, &self->room));
	EXPECT_EQ(MB, self->room);
}

TEST_F(copy, who_is_killed_leaves_nothing)
{
	const struct rlimit limit = { MB, MB };
	int status = 0;
	pid_t pid;

	fill(self->from, 4 * MB);
	pid = fork();
	if (!pid) {
		/* In the midst of it. */
		signal(SIGXFSZ, SIG_DFL);
		setrlimit(RLIMIT_FSIZE, &limit);
		copy_file__into(self->dir_fd, "to", self->from, &self->room);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	ASSERT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(0, count_files(self->dir));
}

/* As on a file system that has no files without a name; in the confinement of the real process. */
static void enter_old_file_system(void)
{
	const struct scmp_arg_cmp nameless = SCMP_A2(SCMP_CMP_MASKED_EQ, O_TMPFILE, O_TMPFILE);
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	if (!filter ||
	    seccomp_rule_add(filter, SCMP_ACT_ERRNO(EOPNOTSUPP), SCMP_SYS(openat), 1, nameless) ||
	    seccomp_load(filter))
		_exit(10);
	seccomp_release(filter);
	if (confine__process(CONFINE_COPY, 64 * MB))
		_exit(11);
}

/*
 * Copies there, in a process of its own, with room for most bytes of a file; its wait status. It
 * checks that the room has become less by the bytes of the copy.
 */
static int copy_on_old_file_system(FIXTURE_DATA(copy) *self, uint64_t most)
{
	const struct rlimit limit = { most, most };
	struct stat st;
	int status = -1, err;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGXFSZ, SIG_DFL);
		setrlimit(RLIMIT_FSIZE, &limit);
		enter_old_file_system();
		err = copy_file__into(self->dir_fd, "to", self->from, &self->room);
		if (err || fstatat(self->dir_fd, "to", &st, 0))
			_exit(-err ? -err : 12);
		_exit(self->room + (uint64_t)st.st_size == 100 * MB ? 0 : 13);
	}
	waitpid(pid, &status, 0);
	return status;
}

TEST_F(copy, without_nameless_files_what_a_kill_leaves_is_taken_over_or_removed)
{
	struct stat st;

	if (geteuid())
		SKIP(return, "needs root for the confinement");
	fill(self->from, 4 * MB);
	ASSERT_EQ(0, fchmod(self->from, 0755));
	/* The signal is for lack of room in the midst of it. */
	ASSERT_TRUE(WIFSIGNALED(copy_on_old_file_system(self, MB)));
	EXPECT_EQ(1, count_files(self->dir));
	ASSERT_EQ(0, fstatat(self->dir_fd, ".to.part", &st, 0));
	EXPECT_EQ((off_t)MB, st.st_size);
	copy_file__forget(self->dir_fd, "to");
	EXPECT_EQ(0, count_files(self->dir));

	ASSERT_TRUE(WIFSIGNALED(copy_on_old_file_system(self, MB)));
	ASSERT_EQ(0, ftruncate(self->from, (off_t)(MB / 2)));
	EXPECT_EQ(0, copy_on_old_file_system(self, 2 * MB));
	EXPECT_EQ(1, count_files(self->dir));
	ASSERT_EQ(0, fstatat(self->dir_fd, "to", &st, 0));
	EXPECT_EQ((off_t)(MB / 2), st.st_size);
	EXPECT_EQ(0444, st.st_mode & 07777);
}

TEST_F(copy, a_part_that_another_process_writes_or_that_is_another_file_is_left_alone)
{
	int part;

	if (geteuid())
		SKIP(return, "needs root for the confinement");
	fill(self->from, MB);
	part = openat(self->dir_fd, ".to.part", O_WRONLY | O_CREAT, 0600);
	ASSERT_LE(0, part);
	ASSERT_EQ(5, write(part, "other", 5));
	ASSERT_EQ(0, flock(part, LOCK_EX));
	EXPECT_EQ(12, WEXITSTATUS(copy_on_old_file_system(self, 2 * MB)));
	copy_file__forget(self->dir_fd, "to");
	EXPECT_EQ(5, lseek(part, 0, SEEK_END));
	EXPECT_EQ(1, count_files(self->dir));
	ASSERT_EQ(0, flock(part, LOCK_UN));
	/* A second name of a file that is not ours to write. */
	ASSERT_EQ(0, linkat(self->dir_fd, ".to.part", self->dir_fd, "second", 0));
	EXPECT_EQ(EPERM, WEXITSTATUS(copy_on_old_file_system(self, 2 * MB)));
	EXPECT_EQ(5, lseek(part, 0, SEEK_END));
	close(part);
	unlinkat(self->dir_fd, ".to.part", 0);
	unlinkat(self->dir_fd, "second", 0);
}

/* As files of /proc do, of which nothing tells the size before. */
TEST_F(copy, the_bytes_of_a_file_that_tells_no_size_are_taken_from_the_room)
{
	int from = open("/proc/self/smaps", O_RDONLY);
	struct stat st;

	ASSERT_LE(0, from);
	ASSERT_EQ(0, copy_file__into(self->dir_fd, "to", from, &self->room));
	ASSERT_EQ(0, fstatat(self->dir_fd, "to", &st, 0));
	EXPECT_LT(0, st.st_size);
	EXPECT_EQ(100 * MB, self->room + (uint64_t)st.st_size);
	close(from);
}

static unsigned int mode_of_copy(FIXTURE_DATA(copy) *self, unsigned int mode)
{
	struct stat st;

	unlinkat(self->dir_fd, "to", 0);
	if (fchmod(self->from, mode) ||
	    copy_file__into(self->dir_fd, "to", self->from, &self->room) ||
	    fstatat(self->dir_fd, "to", &st, 0))
		return 0;
	return st.st_mode & 07777;
}

TEST_F(copy, nobody_can_read_the_copy_who_could_not_read_the_file)
{
	fill(self->from, 100);
	EXPECT_EQ(0444, mode_of_copy(self, 0755));
	EXPECT_EQ(0440, mode_of_copy(self, 0751));
	EXPECT_EQ(0400, mode_of_copy(self, 04711));
}

TEST_F(copy, what_is_readable_by_capabilities_only_is_not_copied)
{
	if (geteuid())
		SKIP(return, "needs root to be somebody else");
	fill(self->from, 100);
	ASSERT_EQ(0, fchmod(self->from, 0711));
	ASSERT_EQ(0, fchmod(self->dir_fd, 0777));
	/* As with capabilities of the program's file: the real user is another. */
	ASSERT_EQ(0, setresuid(12345, 0, 0));
	EXPECT_EQ(-EACCES, copy_file__into(self->dir_fd, "to", self->from, &self->room));
	ASSERT_EQ(0, fchmod(self->from, 0755));
	EXPECT_EQ(0, copy_file__into(self->dir_fd, "to", self->from, &self->room));
	ASSERT_EQ(0, setresuid(0, 0, 0));
}

TEST_HARNESS_MAIN
