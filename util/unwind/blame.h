/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_UNWIND_BLAME_H
#define DENET_UNWIND_BLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Files and users whose files killed or blocked the process that reads them, with the number of
 * recent failures. All of it decays: files are tried again later, so that no user can switch the
 * reading off for good. Zero-initialised is empty. Times are ns of CLOCK_MONOTONIC.
 */
#define BLAME_FILES 64
#define BLAME_USERS 16
/* Time after which a failure no longer counts. */
#define BLAME_DECAY_NS (600ULL * 1000000000)
/* Failures allowed in a row, and the time after which one more is allowed. */
#define BLAME_BURST 8
#define BLAME_REFILL_NS (10ULL * 1000000000)

struct blamed {
	uint64_t id;
	uint64_t last; /* time of the last failure */
	unsigned int strikes; /* 0: the entry is free */
};

struct blame {
	struct blamed files[BLAME_FILES];
	struct blamed users[BLAME_USERS];
	uint64_t spent;	 /* failures that still count */
	uint64_t refill; /* when the next one expires */
};

/*
 * Counts a failure at a file (0: not known) of a process of user uid (UINT32_MAX: not known). sure:
 * only the file can be the reason; otherwise several failures are needed.
 */
void blame__add(struct blame *blame, uint64_t now, uint64_t file, uint32_t uid, bool sure);

/* True unless recent failures forbid another process for now. */
bool blame__may_go_on(struct blame *blame, uint64_t now);

/* Fills in the files not to be opened now, at most BLAME_FILES. Returns their number. */
size_t blame__files(const struct blame *blame, uint64_t now, uint64_t files[BLAME_FILES]);

/* True if the processes of some user, or of this one, are not unwound now; never for root. */
bool blame__any_user(const struct blame *blame, uint64_t now);
bool blame__is_left_alone(const struct blame *blame, uint64_t now, uint32_t uid);

#endif /* DENET_UNWIND_BLAME_H */
