/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/switches.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "common/tolerance.h"

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
 * The kernel shows the system call of a thread once it has seen that it is on no run queue. Where
 * it does not show that, there is the state only.
 */
bool switches__has_left(pid_t tid)
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
	uint64_t limit = tolerance__deadline();
	int sleeps = 0;

	/* In this order: the switch of a thread that has left its CPU and sleeps is counted. */
	while (!switches__has_left(tid) || !(sleeps = switches__read(tid, switches))) {
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
