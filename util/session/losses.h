/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SESSION_LOSSES_H
#define DENET_SESSION_LOSSES_H

struct capture_stats;
struct findings;

/* Adds a finding for each kind of block, wake-up, stack or name that was lost. */
void losses__find(struct findings *findings, const struct capture_stats *stats);

#endif /* DENET_SESSION_LOSSES_H */
