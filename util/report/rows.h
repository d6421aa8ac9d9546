/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_REPORT_ROWS_H
#define DENET_REPORT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/idmap.h"
#include "base/strings.h"
#include "profile/profile.h"

/* Keys by which entries are added up, in the order of the columns. */
enum row_key {
	ROW_GROUP, /* threads whose names differ in numbers only */
	ROW_COMM,
	ROW_PID,
	ROW_TID,
	ROW_STATE,
	ROW_EVENT,
	ROW_WAIT,
	ROW_SYM,
	ROW_CALLERS,
	ROW_KEYS,
};

/* The heading of a key's column. */
const char *row_key__heading(enum row_key key);

/* Reads keys apart by commas, each once. How many, or -EINVAL. */
int row_keys__parse(const char *text, enum row_key keys[ROW_KEYS]);

struct row {
	const char *texts[ROW_KEYS]; /* of the keys, by their order */
	uint64_t ns, blocks;
	uint64_t longest, mean; /* as of a profile_entry */
	/*
	 * Of blocks that lasted for as good as all of the recording: of threads that were never
	 * needed, as well as of those in a deadlock. Nothing tells the two apart but what they
	 * waited for.
	 */
	bool whole;
	struct idmap tids; /* of its threads */
	const char *comm;  /* the only name that they have; NULL: they have several */
};

/* Zero-initialised is empty. */
struct rows {
	struct strings strings;
	struct buffer all; /* struct row, by descending ns, whole ones behind the others */
	struct idmap by_key;
	size_t nr;
};

/* Whether an entry is a block that lasted for as good as all of the recording. */
bool row__is_whole(const struct profile *profile, const struct profile_entry *entry);

/* Adds up the entries of these events. 0 or -ENOMEM. */
int rows__make(struct rows *rows, const struct profile *profile, unsigned int events,
	       const enum row_key *keys, size_t nr_keys);
const struct row *rows__at(const struct rows *rows, size_t i);
void rows__free(struct rows *rows);

#endif /* DENET_REPORT_ROWS_H */
