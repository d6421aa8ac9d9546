/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_BUILD_IDS_H
#define DENET_RECORD_BUILD_IDS_H

struct cache;
struct dso_table;
struct writer;

/*
 * Reads the build-ids of the files that were hit and passes them to the writer. Files that do not
 * answer within deadline_ms are left out and reported. Files with a build-id are added to the
 * cache, too (NULL: none). 0 or a negative errno.
 */
int build_ids__write(struct writer *writer, struct dso_table *dso_table, int deadline_ms,
		     struct cache *cache);

/*
 * Reads those of new files in containers into dso_table: once the last process there has ended,
 * nothing can reach them. Files that do not answer within deadline_ms are left for
 * build_ids__write(). 0 or a negative errno.
 */
int build_ids__read_early(struct dso_table *dso_table, int deadline_ms);

/* Copies the listed files into perf's cache, and reports failures. */
void build_ids__fill_cache(struct cache *cache, int deadline_ms);

#endif /* DENET_RECORD_BUILD_IDS_H */
