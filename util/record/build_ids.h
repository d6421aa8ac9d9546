/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_BUILD_IDS_H
#define DENET_RECORD_BUILD_IDS_H

struct hits;
struct writer;

/*
 * Reads the build-ids of what was hit and gives them to the writer. Files that do not
 * answer within deadline_ms are left out, and said. 0 or a negative errno.
 */
int build_ids__write(struct writer *writer, const struct hits *hits, int deadline_ms);

#endif /* DENET_RECORD_BUILD_IDS_H */
