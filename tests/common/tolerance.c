/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/tolerance.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "common/switches.h"

bool tolerance__whole(void)
{
	const char *whole = getenv("DENET_TEST_WHOLE");

	return whole && !strcmp(whole, "1");
}

uint64_t tolerance__preempted_ns(void)
{
	return (getenv("DENET_TEST_GUEST") ? 500 : 100) * NSEC_PER_MSEC;
}

int tolerance__slowness(void)
{
	return getenv("DENET_TEST_GUEST") ? 5 : 1;
}

unsigned int tolerance__cpu_factor(void)
{
	if (getenv("DENET_TEST_GUEST"))
		return 15; /* without KVM */
	return getenv("DENET_TEST_TIMING") ? 1 : 3;
}

unsigned int tolerance__seen_percent(void)
{
	return getenv("DENET_TEST_GUEST") ? 50 : 90;
}

unsigned int tolerance__wait_seconds(void)
{
	return getenv("DENET_TEST_GUEST") ? 150 : 30;
}

const char *tolerance__nap(const char *us)
{
	static char text[8][16];
	static unsigned int next;
	char *longer;

	if (!getenv("DENET_TEST_GUEST"))
		return us;
	longer = text[next++ % 8];
	snprintf(longer, sizeof(text[0]), "%s0", us);
	return longer;
}

uint64_t tolerance__deadline(void)
{
	return clock__now_ns() + tolerance__wait_seconds() * NSEC_PER_SEC;
}

static uint64_t tick_ns(void)
{
	long ticks_per_second = sysconf(_SC_CLK_TCK);

	return NSEC_PER_SEC / (uint64_t)(ticks_per_second > 0 ? ticks_per_second : 1);
}

uint64_t tolerance__stolen_ns(void)
{
	FILE *file = fopen("/proc/stat", "re");
	uint64_t ticks = 0;

	if (!file)
		return 0;
	if (fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &ticks) != 1)
		ticks = 0;
	fclose(file);
	return ticks * tick_ns();
}

uint64_t tolerance__stolen_since(uint64_t before)
{
	return tolerance__stolen_ns() - before + tick_ns();
}

uint64_t tolerance__account_ns(uint64_t account_ns, uint64_t switches)
{
	if (getenv("DENET_TEST_GUEST"))
		return account_ns;
	return account_ns / 100 * TOLERANCE_PERCENT + switches * TOLERANCE_SWITCH_NS +
	       NSEC_PER_MSEC;
}

uint64_t tolerance__between_hooks_ns(uint64_t stolen_ns)
{
	return stolen_ns + (getenv("DENET_TEST_GUEST") ? 50 * NSEC_PER_MSEC : 0);
}

uint64_t tolerance__untold_ns(uint64_t ns)
{
	return getenv("DENET_TEST_GUEST") ? ns / 50 : 0;
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
		left = switches__has_left(tid);
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
