/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "base/err_out.h"
#include "base/log.h"

/* Standard error becomes fd, which is closed; returns what uncover() needs. */
static int cover(int fd)
{
	int saved = dup(STDERR_FILENO);

	dup2(fd, STDERR_FILENO);
	close(fd);
	return saved;
}

static void uncover(int saved)
{
	dup2(saved, STDERR_FILENO);
	close(saved);
}

/* Everything that there is to read, as text of at most size bytes; the rest is counted. */
static size_t take_all(int fd, char *text, size_t size)
{
	char bytes[65536];
	size_t len = 0;
	ssize_t n;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
		if (len + (size_t)n < size)
			memcpy(text + len, bytes, (size_t)n);
		len += (size_t)n;
	}
	text[len < size ? len : size - 1] = '\0';
	return len;
}

/* More than any pipe or terminal holds by itself. */
static void write_many(int lines)
{
	for (int i = 0; i < lines; i++)
		pr_err("line %06d of a program that has a lot to tell", i);
}

static char text[4u << 20];

FIXTURE(full)
{
	int reader;
	int saved;
	int flags; /* flags of the end of the pipe that is standard error */
};

FIXTURE_VARIANT(full)
{
	int (*make)(int fds[2]);
};

static int make_pipe(int fds[2])
{
	return pipe(fds);
}

static int make_socket(int fds[2])
{
	return socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
}

static int make_terminal(int fds[2])
{
	struct termios settings;

	fds[0] = posix_openpt(O_RDWR | O_NOCTTY);
	if (fds[0] < 0 || grantpt(fds[0]) || unlockpt(fds[0]))
		return -1;
	fds[1] = open(ptsname(fds[0]), O_RDWR | O_NOCTTY);
	if (fds[1] < 0 || tcgetattr(fds[1], &settings))
		return -1;
	settings.c_oflag &= ~(tcflag_t)OPOST;
	return tcsetattr(fds[1], TCSANOW, &settings);
}

FIXTURE_VARIANT_ADD(full, a_pipe)
{
	.make = make_pipe,
};

FIXTURE_VARIANT_ADD(full, a_socket)
{
	.make = make_socket,
};

FIXTURE_VARIANT_ADD(full, a_terminal)
{
	.make = make_terminal,
};

FIXTURE_SETUP(full)
{
	int fds[2];

	ASSERT_EQ(0, variant->make(fds));
	self->reader = fds[0];
	self->flags = fcntl(fds[1], F_GETFL);
	self->saved = cover(fds[1]);
	log__init("p", LOG_INFO);
}

FIXTURE_TEARDOWN(full)
{
	uncover(self->saved);
	close(self->reader);
	err_out__after_fork();
}

/* A write that blocked would run into the harness's time limit. */
TEST_F(full, what_nobody_reads_blocks_nothing_and_comes_later)
{
	size_t len;

	write_many(20000);
	err_out__transient("status", 6);
	EXPECT_LT(0U, err_out__flush());
	EXPECT_GE(ERR_OUT_QUEUE, err_out__flush());
	/* The flags of the open file, which others share, are as they were. */
	EXPECT_EQ(self->flags, fcntl(STDERR_FILENO, F_GETFL));
	len = take_all(self->reader, text, sizeof(text));
	while (err_out__flush())
		len += take_all(self->reader, text + len, sizeof(text) - len);
	take_all(self->reader, text + len, sizeof(text) - len);
	EXPECT_EQ(0, strncmp(text, "p: error: line 000000 of", 24));
	EXPECT_NE(NULL, strstr(text, "p: error: line 000900 of"));
	EXPECT_NE(NULL, strstr(text, " messages are left out: stderr took none for a while\n"));
	EXPECT_EQ(NULL, strstr(text, "status"));
	/* There is room again. */
	pr_err("after");
	take_all(self->reader, text, sizeof(text));
	EXPECT_STREQ("p: error: after\n", text);
}

TEST_F(full, the_end_waits_for_a_reader_but_not_for_ever)
{
	pid_t pid;

	write_many(20000);
	err_out__finish(20);
	EXPECT_LT(0U, err_out__flush());
	pid = fork();
	if (!pid) {
		/* Reads until the writer is done. */
		while (read(self->reader, text, sizeof(text)) > 0)
			;
		_exit(0);
	}
	err_out__finish(60000);
	EXPECT_EQ(0U, err_out__flush());
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST_F(full, a_child_does_not_repeat_what_its_parent_has_queued)
{
	size_t before;
	pid_t pid;

	write_many(20000);
	before = err_out__flush();
	pid = fork();
	if (!pid) {
		err_out__after_fork();
		_exit(err_out__flush() ? 1 : 0);
	}
	int status = -1;

	waitpid(pid, &status, 0);
	EXPECT_EQ(0, status);
	EXPECT_EQ(before, err_out__flush());
}

TEST(a_terminal_that_was_stopped_takes_its_text_when_it_goes_on)
{
	int fds[2], saved;

	ASSERT_EQ(0, make_terminal(fds));
	ASSERT_EQ(0, tcflow(fds[1], TCOOFF));
	saved = cover(fds[1]);
	log__init("p", LOG_INFO);
	pr_err("first");
	err_out__transient("\r", 1);
	EXPECT_LT(0U, err_out__flush());
	EXPECT_EQ(0U, take_all(fds[0], text, sizeof(text)));
	ASSERT_EQ(0, tcflow(STDERR_FILENO, TCOON));
	err_out__finish(10000);
	EXPECT_EQ(0U, err_out__flush());
	take_all(fds[0], text, sizeof(text));
	uncover(saved);
	EXPECT_STREQ("p: error: first\n", text);
	close(fds[0]);
}

TEST(a_regular_file_is_appended_to)
{
	char name[] = "/tmp/err_out.XXXXXX";
	int fd = mkstemp(name), saved;

	ASSERT_LE(0, fd);
	ASSERT_EQ(4, write(fd, "old\n", 4));
	saved = cover(dup(fd));
	log__init("p", LOG_INFO);
	pr_err("new");
	err_out__transient("more\n", 5);
	uncover(saved);
	ASSERT_EQ(0, lseek(fd, 0, SEEK_SET));
	take_all(fd, text, sizeof(text));
	EXPECT_STREQ("old\np: error: new\nmore\n", text);
	close(fd);
	unlink(name);
}

TEST_HARNESS_MAIN
