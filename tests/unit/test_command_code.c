/* SPDX-License-Identifier: GPL-2.0-only */
/* command_code__map() maps the files whose code a program starts with. */
#include "session/command_code.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "common/harness.h"
#include "common/tolerance.h"
#include "session/command_path.h"

#define PROGRAM_MAX (4 << 20)
#define LINKER "/lib64/ld-linux-x86-64.so.2"

FIXTURE(code)
{
	char dir[64];
	char path[96];
	char linker[32];
};

FIXTURE_SETUP(code)
{
	snprintf(self->dir, sizeof(self->dir), "/tmp/denet-code-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->path, sizeof(self->path), "%s/program", self->dir);
	snprintf(self->linker, sizeof(self->linker), "/tmp/ld%d", getpid());
}

FIXTURE_TEARDOWN(code)
{
	unlink(self->path);
	unlink(self->linker);
	rmdir(self->dir);
}

/* Whether code of a file with that in its name is mapped. */
static bool has_code(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4352];
	bool found = false;

	while (maps && !found && fgets(line, sizeof(line), maps))
		found = strstr(line, " r-xp ") && strstr(line, name);
	if (maps)
		fclose(maps);
	return found;
}

/* In a process of its own: as many of the names, apart by blanks, as command has mapped. */
static int count_mapped(const char *command, const char *names)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		char *list = strdup(names), *name;
		int nr = 0;

		command_code__map(command);
		while ((name = strsep(&list, " ")))
			nr += has_code(name);
		_exit(nr);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status)
		       ? WEXITSTATUS(status) : -1;
}

static int write_file(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "we");
	bool is_whole = file && fwrite(data, 1, size, file) == size;

	return (file && fclose(file)) || !is_whole || chmod(path, 0755) ? -EIO : 0;
}

TEST_F(code, of_a_program_is_its_own_and_that_of_its_libraries)
{
	EXPECT_EQ(2, count_mapped("/bin/bash", "/bash libtinfo"));
	EXPECT_EQ(0, count_mapped("/bin/true", "libtinfo"));
	if (!access("/usr/bin/python3", X_OK))
		EXPECT_EQ(3, count_mapped("/usr/bin/python3", "/python3. libexpat libz.so"));
}

TEST_F(code, of_a_script_is_that_of_its_interpreter)
{
	static const char script[] = "#! /bin/bash -e\ntrue\n";

	ASSERT_EQ(0, write_file(self->path, script, sizeof(script) - 1));
	EXPECT_EQ(2, count_mapped(self->path, "/bash libtinfo"));
}

TEST_F(code, of_what_is_no_program_is_none)
{
	static const char *const texts[] = { "", "#", "#!", "#! bash\n", "\177ELF",
					     "#!/nonexistent" };
	char self_script[128];

	EXPECT_EQ(0, count_mapped("/nonexistent", "program"));
	EXPECT_EQ(0, count_mapped("", "program"));
	EXPECT_EQ(0, count_mapped(self->dir, "program"));
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ASSERT_EQ(0, write_file(self->path, texts[i], strlen(texts[i])));
		EXPECT_GE(1, count_mapped(self->path, "/program"));
	}
	/* A script that is its own interpreter. */
	snprintf(self_script, sizeof(self_script), "#!%s\n", self->path);
	ASSERT_EQ(0, write_file(self->path, self_script, strlen(self_script)));
	EXPECT_EQ(0, count_mapped(self->path, "/program"));
}

/* A copy of a program with another dynamic linker, whose name is not longer. 0 or -errno. */
static int write_program(const char *path, const char *linker)
{
	FILE *program = fopen("/bin/true", "re");
	char *data = malloc(PROGRAM_MAX), *at;
	size_t size = program && data ? fread(data, 1, PROGRAM_MAX, program) : 0;
	int err = -ENOENT;

	at = size ? memmem(data, size, LINKER, sizeof(LINKER)) : NULL;
	if (at) {
		memset(at, 0, sizeof(LINKER));
		memcpy(at, linker, strlen(linker));
		err = write_file(path, data, size);
	}
	if (program)
		fclose(program);
	free(data);
	return err;
}

TEST_F(code, a_linker_that_hangs_is_left_after_half_a_second)
{
	static const char script[] = "#!/bin/sh\necho ' x => /bin/bash (0x1)'\nexec sleep 1000\n";
	uint64_t begin, deadline;

	if (access(LINKER, R_OK))
		SKIP(return, "another dynamic linker than that of x86-64");
	ASSERT_EQ(0, write_file(self->linker, script, sizeof(script) - 1));
	ASSERT_EQ(0, write_program(self->path, self->linker));
	begin = clock__now_ns();
	deadline = tolerance__deadline();
	EXPECT_EQ(2, count_mapped(self->path, "/program /bash"));
	EXPECT_LE(500 * NSEC_PER_MSEC, clock__now_ns() - begin);
	EXPECT_GT(deadline, clock__now_ns());
}

TEST_F(code, a_program_with_any_bytes_is_no_harm)
{
	unsigned int seed = 1;
	char *data = malloc(PROGRAM_MAX);
	FILE *program = fopen("/bin/true", "re");
	size_t size, part;

	ASSERT_NE(NULL, program);
	ASSERT_NE(NULL, data);
	size = fread(data, 1, PROGRAM_MAX, program);
	fclose(program);
	for (int i = 0; i < 50; i++) {
		/* Of the headers, behind the magic number. */
		data[5 + (size_t)rand_r(&seed) % 800] = (char)rand_r(&seed);
		part = i % 5 ? size : size / 70 * (size_t)i;
		ASSERT_EQ(0, write_file(self->path, data, part));
		EXPECT_LE(0, count_mapped(self->path, "/program"));
	}
	free(data);
}

TEST_F(code, of_a_command_is_searched_as_exec_does)
{
	int err;
	char *path = command_path__find("sh", &err);

	ASSERT_NE(NULL, path);
	EXPECT_EQ(0, err);
	EXPECT_EQ('/', path[0]);
	free(path);
	EXPECT_EQ(NULL, command_path__find("no-such-command", &err));
	EXPECT_EQ(-ENOENT, err);
	EXPECT_EQ(NULL, command_path__find("/etc/passwd", &err));
	EXPECT_EQ(-EACCES, err);
}

TEST_HARNESS_MAIN
