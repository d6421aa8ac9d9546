/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/switches.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "common/patience.h"

#define PATIENCE_NS (patience__seconds(10) * NSEC_PER_SEC)

int switches__read(pid_t tid, struct switches *switches)
{
	char path[64], line[256];
	bool sleeps = false;
	int found = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		sleeps |= !strncmp(line, "State:\tS", strlen("State:\tS"));
		found += sscanf(line, "voluntary_ctxt_switches: %" SCNu64, &switches->voluntary);
		found += sscanf(line, "nonvoluntary_ctxt_switches: %" SCNu64,
				&switches->involuntary);
	}
	fclose(file);
	return found == 2 ? sleeps : -ENODATA;
}

/*
 * False while the thread is on a CPU, be it on its way off, and mostly if it is about to come to
 * one: the kernel shows the system call of a thread once it has seen that it is on no run queue.
 * Where it does not show that, there is the state only.
 */
static bool has_left(pid_t tid)
{
	char path[64], call[256] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	file = fopen(path, "re");
	if (!file)
		return true;
	if (!fgets(call, sizeof(call), file))
		call[0] = '\0';
	fclose(file);
	return strncmp(call, "running", strlen("running")) != 0;
}

int switches__of_sleeper(pid_t tid, struct switches *switches)
{
	uint64_t limit = clock__now_ns() + PATIENCE_NS;
	int sleeps = 0;

	/* In this order: who has left and sleeps has been counted. */
	while (!has_left(tid) || !(sleeps = switches__read(tid, switches))) {
		if (clock__now_ns() >= limit)
			return -ETIMEDOUT;
		poll(NULL, 0, 1);
	}
	return sleeps < 0 ? sleeps : 0;
}

pid_t switches__child(pid_t pid)
{
	char path[64];
	int child = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%d", &child) != 1)
		child = 0;
	fclose(file);
	return child;
}

static bool init__add(struct init_switches *init, pid_t tid, uint64_t count)
{
	struct init_thread *grown = realloc(init->threads, (init->nr + 1) * sizeof(*grown));

	if (!grown)
		return false;
	grown[init->nr++] = (struct init_thread){ tid, count };
	init->threads = grown;
	return true;
}

int init_switches__read(struct init_switches *init)
{
	DIR *dir = opendir("/proc/1/task");
	struct dirent *entry;
	int err = 0;

	memset(init, 0, sizeof(*init));
	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir))) {
		struct switches switches = { 0 };
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		bool left;

		if (!tid)
			continue;
		left = has_left(tid);
		if (switches__read(tid, &switches) < 0)
			continue;
		init->running += !left;
		if (!init__add(init, tid, switches.voluntary + switches.involuntary))
			err = -ENOMEM;
	}
	closedir(dir);
	return err;
}

static const struct init_thread *init__find(const struct init_switches *init, pid_t tid)
{
	for (size_t i = 0; i < init->nr; i++) {
		if (init->threads[i].tid == tid)
			return &init->threads[i];
	}
	return NULL;
}

uint64_t init_switches__stretches(const struct init_switches *from, const struct init_switches *to)
{
	uint64_t stretches = to->running;

	for (size_t i = 0; i < from->nr; i++) {
		if (!init__find(to, from->threads[i].tid))
			return INIT_UNKNOWN;
	}
	for (size_t i = 0; i < to->nr; i++) {
		const struct init_thread *before = init__find(from, to->threads[i].tid);

		stretches += to->threads[i].count - (before ? before->count : 0);
	}
	return stretches;
}

void init_switches__free(struct init_switches *init)
{
	free(init->threads);
	memset(init, 0, sizeof(*init));
}
