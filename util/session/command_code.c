/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/command_code.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "session/command_path.h"

/* As long as the dynamic linker may take. */
#define LIST_MS 500
/* A program whose interpreter is a script, and so on. */
#define MAX_SCRIPTS 4
#define MAX_HEADERS 256

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* It stays mapped until the exec. */
static void map_fd(int fd)
{
	mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
}

static void map_file(const char *path)
{
	int fd = open_file(path);

	if (fd < 0)
		return;
	map_fd(fd);
	close(fd);
}

/* The interpreter of a script, by its first line. */
static bool read_script(int fd, char *interpreter)
{
	char line[PATH_MAX];
	ssize_t len = pread(fd, line, sizeof(line) - 1, 0);
	char *at = line + 2;

	if (len < 2 || strncmp(line, "#!", 2) != 0)
		return false;
	line[len] = '\0';
	at += strspn(at, " \t");
	at[strcspn(at, " \t\n")] = '\0';
	snprintf(interpreter, PATH_MAX, "%s", at);
	return *at == '/';
}

/* The dynamic linker of a program of 64 bits; false: it has none. See elf(5), PT_INTERP. */
static bool read_linker(int fd, char *linker)
{
	Elf64_Ehdr header;
	Elf64_Phdr part;

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_phentsize != sizeof(part))
		return false;
	for (unsigned int i = 0; i < header.e_phnum && i < MAX_HEADERS; i++) {
		off_t at = (off_t)(header.e_phoff + i * sizeof(part));

		if (pread(fd, &part, sizeof(part), at) != sizeof(part))
			return false;
		if (part.p_type != PT_INTERP)
			continue;
		return part.p_filesz && part.p_filesz < PATH_MAX &&
		       pread(fd, linker, part.p_filesz, (off_t)part.p_offset) ==
			       (ssize_t)part.p_filesz &&
		       !linker[part.p_filesz - 1] && linker[0] == '/';
	}
	return false;
}

/* A line such as "	libc.so.6 => /lib/libc.so.6 (0x00007f...)" or "	/lib/ld.so (0x...)". */
static void map_library(char *line)
{
	char *path = strchr(line, '/'), *end = path ? strstr(path, " (0x") : NULL;

	if (!end)
		return;
	*end = '\0';
	map_file(path);
}

static void __attribute__((noreturn)) exec_linker(const char *linker, const char *path, int out)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0)
		_exit(1);
	/* Libraries that watch the linker would run twice. */
	unsetenv("LD_AUDIT");
	execl(linker, linker, "--list", path, (char *)NULL);
	_exit(1);
}

/* Reads lines for as long as they may take. */
static void map_lines(int fd)
{
	uint64_t deadline = clock__now_ns() + LIST_MS * NSEC_PER_MSEC, now;
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	char text[PATH_MAX + 256];
	size_t used = 0;

	while ((now = clock__now_ns()) < deadline &&
	       poll(&poll_fd, 1, (int)((deadline - now) / NSEC_PER_MSEC) + 1) > 0) {
		ssize_t len = read(fd, text + used, sizeof(text) - 1 - used);
		char *line = text, *end;

		if (len <= 0)
			return;
		used += (size_t)len;
		text[used] = '\0';
		for (; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			map_library(line);
		}
		used -= (size_t)(line - text);
		memmove(text, line, used);
		if (used == sizeof(text) - 1)
			return;
	}
}

/* Runs the dynamic linker with --list, as ldd(1) does: the program itself does not run. */
static void map_libraries(const char *linker, const char *path)
{
	int out[2];
	pid_t pid;

	if (pipe2(out, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid)
		exec_linker(linker, path, out[1]);
	close(out[1]);
	if (pid > 0) {
		map_lines(out[0]);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	close(out[0]);
}

/* Returns whether interpreter has become another program to be mapped. */
static bool map_program(const char *path, char *interpreter)
{
	int fd = open_file(path);
	bool is_script;

	if (fd < 0)
		return false;
	is_script = read_script(fd, interpreter);
	if (!is_script) {
		map_fd(fd);
		if (read_linker(fd, interpreter)) {
			map_file(interpreter);
			map_libraries(interpreter, path);
		}
	}
	close(fd);
	return is_script;
}

void command_code__map(const char *command)
{
	char interpreter[PATH_MAX];
	int err;
	char *path = command_path__find(command, &err);

	for (int i = 0; path && i < MAX_SCRIPTS; i++) {
		bool goes_on = map_program(path, interpreter);

		free(path);
		path = goes_on ? strdup(interpreter) : NULL;
	}
	free(path);
}
