/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_TABLE_TRIES_H
#define DENET_CAPTURE_TABLE_TRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cfi_maps.h"

/* For files that are remembered. */
#define TABLE_TRIES_FILES 256
/* So often a file is tried at once if the process that has mapped it was gone, or none was made. */
#define TABLE_TRIES_AT_ONCE 3

/* A file whose table could not be made. */
struct table_try {
	struct rules_key file;
	uint64_t again;	 /* when it may be asked for again, by clock__now_ns(); 0: it may be now */
	unsigned int nr; /* of failures, */
	unsigned int nr_hung; /* and of those for want of an answer */
};

/*
 * When tables that could not be made are to be tried again: after pauses that double. The reason
 * may pass, and lie with the process that was asked rather than with the file. Zero-initialised is
 * empty; where there is no room for a further file, the one that came first is forgotten, and is
 * not tried again before the next eviction.
 */
struct table_tries {
	struct table_try files[TABLE_TRIES_FILES];
	size_t nr;
	size_t oldest; /* where all are in use */
};

/* Whether a file is remembered. */
bool table_tries__has(const struct table_tries *tries, const struct rules_key *file);

/* How often the file has not answered. */
unsigned int table_tries__hung(const struct table_tries *tries, const struct rules_key *file);

/*
 * The table of a file could not be made for this reason, a negative errno. True: the file goes
 * without until table_tries__next() tells it. False: it may be asked for at once.
 */
bool table_tries__fail(struct table_tries *tries, const struct rules_key *file, int err,
		       uint64_t now);

/* The file has its table. */
void table_tries__forget(struct table_tries *tries, const struct rules_key *file);

/* A file that waits no more, each once; NULL: there is none. Valid until the next change. */
const struct rules_key *table_tries__next(struct table_tries *tries, uint64_t now);

#endif /* DENET_CAPTURE_TABLE_TRIES_H */
