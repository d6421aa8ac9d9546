/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_BUILD_IDS_H
#define DENET_RECORD_BUILD_IDS_H

struct cache;
struct dso_table;
struct writer;

/*
 * Reads the build-ids of what was hit and gives them to the writer. Files that do not
 * answer within deadline_ms are left out, and said. What has a build-id is wanted in the
 * cache, too (NULL: it is not). 0 or a negative errno.
 */
int build_ids__write(struct writer *writer, struct dso_table *dso_table, int deadline_ms,
		     struct cache *cache);

/*
 * Reads those of files in containers that are new to hits, which keep them: once the last
 * process there has ended, nobody can. What does not answer within deadline_ms is left for
 * build_ids__write(). 0 or a negative errno.
 */
int build_ids__read_early(struct dso_table *dso_table, int deadline_ms);

/* Copies what is wanted into perf's cache, and says what could not be copied. */
void build_ids__fill_cache(struct cache *cache, int deadline_ms);

#endif /* DENET_RECORD_BUILD_IDS_H */
