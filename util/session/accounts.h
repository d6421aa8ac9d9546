/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SESSION_ACCOUNTS_H
#define DENET_SESSION_ACCOUNTS_H

#include <stdint.h>

struct capture_stats;
struct findings;

/* Reports at the end what happened to the blocks that a capture has seen. */

/* Blocks seen that were delivered to nobody, for any reason but a filter. */
uint64_t accounts__lost(const struct capture_stats *stats);

/* With -v: a row for each outcome; what was not seen at all; runs of the BPF programs. */
void accounts__print(const struct capture_stats *stats);
void accounts__print_unseen(const struct capture_stats *stats);
void accounts__print_runs(const struct capture_stats *stats);

/* For commands that make no file: prints the findings and losses, and with -v all of the above. */
void accounts__tell(const struct capture_stats *stats, struct findings *findings);

#endif /* DENET_SESSION_ACCOUNTS_H */
