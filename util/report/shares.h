/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_REPORT_SHARES_H
#define DENET_REPORT_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/idmap.h"
#include "profile/profile.h"

/* The time of threads, and which they are. */
struct share {
	uint64_t ns;
	uint64_t whole_ns; /* of it, of blocks as long as the recording */
	struct idmap tids;
};

/* Kinds of time, as the screen sums them up. Zero-initialised is empty. */
struct shares {
	struct share running, runnable, blocked, idle;
	uint64_t total; /* ns of what is shown */
	size_t threads; /* that it is of */
	uint64_t looks; /* at CPUs, by which running threads were met */
};

/* with_idle: waits for work are in the total. 0 or -ENOMEM; shares__free() in either case. */
int shares__make(struct shares *shares, const struct profile *profile, bool with_idle);
void shares__free(struct shares *shares);

#endif /* DENET_REPORT_SHARES_H */
