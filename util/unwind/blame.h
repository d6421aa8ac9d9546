/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_UNWIND_BLAME_H
#define DENET_UNWIND_BLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Which files and which users' processes a process that reads foreign files has died of or got
 * stuck in, and how often that happened lately. All of it decays: what is left alone now is tried
 * again later, and nobody can switch the reading off for good. Zero-initialised is innocence.
 * Times are ns of CLOCK_MONOTONIC.
 */
#define BLAME_FILES 64
#define BLAME_USERS 16
/* For so long a failure is held against a file or a user. */
#define BLAME_DECAY_NS (600ULL * 1000000000)
/* So many processes may fail one after the other, and then one more in each of these times. */
#define BLAME_BURST 8
#define BLAME_REFILL_NS (10ULL * 1000000000)

struct blamed {
	uint64_t id;
	uint64_t last; /* when it failed last */
	unsigned int strikes; /* 0: the entry is free */
};

struct blame {
	struct blamed files[BLAME_FILES];
	struct blamed users[BLAME_USERS];
	uint64_t spent;	 /* failures that have not been forgotten yet */
	uint64_t refill; /* when one of them will be */
};

/*
 * A process failed at a file (0: not known) of a process of user uid (UINT32_MAX: not known).
 * sure: the file alone can be the reason, else it counts with others only.
 */
void blame__add(struct blame *blame, uint64_t now, uint64_t file, uint32_t uid, bool sure);

/* Whether another process may be made now, as far as failures are concerned. */
bool blame__may_go_on(struct blame *blame, uint64_t now);

/* The files to be left alone now, at most BLAME_FILES. Returns their number. */
size_t blame__files(const struct blame *blame, uint64_t now, uint64_t files[BLAME_FILES]);

/* Whether some user's processes are left alone now, and whether this one's are; root's never. */
bool blame__any_user(const struct blame *blame, uint64_t now);
bool blame__is_left_alone(const struct blame *blame, uint64_t now, uint32_t uid);

#endif /* DENET_UNWIND_BLAME_H */
