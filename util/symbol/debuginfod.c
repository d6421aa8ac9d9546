/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbol/debuginfod.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"

extern char **environ;

/* Starts `debuginfod-find KIND ID`, whose output comes from *fd. 0 or a negative errno. */
static int start(const char *kind, const char *id, pid_t *pid, int *fd)
{
	const char *const argv[] = { "debuginfod-find", kind, id, NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], err;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	err = posix_spawn_file_actions_init(&actions);
	if (!err) {
		err = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
		if (!err)
			err = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
							       O_WRONLY, 0);
		if (!err)
			err = posix_spawnp(pid, argv[0], &actions, NULL,
					   (char *const *)(uintptr_t)argv, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(ends[1]);
	if (err)
		close(ends[0]);
	*fd = ends[0];
	return -err;
}

/* A line, which is the path in its cache. 0, -ETIMEDOUT or another negative errno. */
static int read_path(int fd, char path[PATH_MAX], uint64_t deadline_ns)
{
	size_t len = 0;

	while (len < PATH_MAX - 1) {
		struct pollfd end = { .fd = fd, .events = POLLIN };
		uint64_t now = clock__now_ns();
		ssize_t got;

		if (now >= deadline_ns)
			return -ETIMEDOUT;
		if (poll(&end, 1, (int)((deadline_ns - now) / NSEC_PER_MSEC) + 1) <= 0)
			continue;
		got = read(fd, path + len, PATH_MAX - 1 - len);
		if (got <= 0)
			break;
		len += (size_t)got;
	}
	path[len] = '\0';
	path[strcspn(path, "\n")] = '\0';
	return *path == '/' ? 0 : -ENODATA;
}

/* The path of a file in the cache, kept in strings; NULL in *found: no server has it. */
static int fetch(const struct elf_build_id *id, const char *kind, struct strings *strings,
		 uint64_t deadline_ns, const char **found)
{
	char hex[2 * BUILD_ID_MAX + 1] = "", path[PATH_MAX];
	pid_t pid = 0;
	int fd = -1, err;

	*found = NULL;
	for (size_t i = 0; i < id->len; i++)
		snprintf(hex + 2 * i, 3, "%02x", id->bytes[i]);
	err = start(kind, hex, &pid, &fd);
	if (err)
		return err;
	err = read_path(fd, path, deadline_ns);
	if (err == -ETIMEDOUT)
		kill(pid, SIGKILL);
	close(fd);
	waitpid(pid, NULL, 0);
	if (!err) {
		*found = strings__get(strings, path);
		err = *found ? 0 : -ENOMEM;
	}
	return err == -ENODATA ? 0 : err;
}

/* The build-id that a file was known by, or that it turned out to have; NULL: not one of them. */
static const struct elf_build_id *id_of(const struct symbol_query *query)
{
	if (query->wanted.nr_ids)
		return query->wanted.nr_ids == 1 ? &query->wanted.ids[0] : NULL;
	return !query->err && query->found_id.len ? &query->found_id : NULL;
}

/* Of a file that is known by one build-id, and has addresses without a name. */
static bool is_wanted(const struct symbol_query *query)
{
	if (query->is_memory || !id_of(query))
		return false;
	for (size_t i = 0; i < query->nr; i++) {
		if (!query->answers[i].name)
			return true;
	}
	return false;
}

static int answer_again(struct symbol_query *query, const struct symbol_jobs_options *options,
			struct strings *strings, uint64_t deadline_ns)
{
	const struct elf_build_id *id = id_of(query);
	struct elf_wanted *wanted = &query->wanted;
	uint64_t now;
	int err = 0;

	if (query->err)
		err = fetch(id, "executable", strings, deadline_ns, &wanted->fetched);
	if (!err)
		err = fetch(id, "debuginfo", strings, deadline_ns, &wanted->fetched_debug);
	if (err || (!wanted->fetched && !wanted->fetched_debug))
		return err;
	query->inlines.len = 0;
	now = clock__now_ns();
	return symbol_jobs__run(query, 1, options, strings,
				now < deadline_ns ? (int)((deadline_ns - now) / NSEC_PER_MSEC) + 1
						  : 1);
}

int debuginfod__answer(struct symbol_query *queries, size_t nr,
		       const struct symbol_jobs_options *options, struct strings *strings,
		       int deadline_ms)
{
	const uint64_t deadline_ns = clock__now_ns() + (uint64_t)deadline_ms * NSEC_PER_MSEC;
	const char *urls = getenv("DEBUGINFOD_URLS");
	int err = 0;

	for (size_t i = 0; urls && *urls && i < nr && !err; i++) {
		if (is_wanted(&queries[i]))
			err = answer_again(&queries[i], options, strings, deadline_ns);
	}
	if (!err || err == -ENOMEM)
		return err;
	pr_warn("the servers of DEBUGINFOD_URLS are left alone: %s%s", strerror(-err),
		err == -ENOENT ? "; install debuginfod-find (package debuginfod)" : "");
	return 0;
}
