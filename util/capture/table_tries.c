/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/table_tries.h"

#include <errno.h>
#include <string.h>

#include "base/minmax.h"
#include "base/units.h"

/* The pauses where another process may do, or one can be made soon; and for all other reasons. */
#define FIRST_SHORT_NS (100 * NSEC_PER_MSEC)
#define LAST_SHORT_NS (6400 * NSEC_PER_MSEC)
#define FIRST_LONG_NS NSEC_PER_SEC
#define LAST_LONG_NS (64 * NSEC_PER_SEC)
/* A file that hangs holds up others at each try, for a sixteenth of the pause. */
#define FIRST_HANGING_NS (400 * NSEC_PER_MSEC)

/* Its place; tries->nr: none. */
static size_t find(const struct table_tries *tries, const struct rules_key *file)
{
	size_t at = 0;

	while (at < tries->nr && memcmp(&tries->files[at].file, file, sizeof(*file)))
		at++;
	return at;
}

bool table_tries__has(const struct table_tries *tries, const struct rules_key *file)
{
	return find(tries, file) < tries->nr;
}

unsigned int table_tries__hung(const struct table_tries *tries, const struct rules_key *file)
{
	size_t at = find(tries, file);

	return at < tries->nr ? tries->files[at].nr_hung : 0;
}

static struct table_try *remember(struct table_tries *tries, const struct rules_key *file)
{
	size_t at = find(tries, file);

	if (at < tries->nr)
		return &tries->files[at];
	if (tries->nr < TABLE_TRIES_FILES)
		tries->nr++;
	else
		at = tries->oldest++ % TABLE_TRIES_FILES;
	tries->files[at] = (struct table_try){ .file = *file };
	return &tries->files[at];
}

/* The first pause, doubled so often. */
static uint64_t pause_after(uint64_t first, uint64_t last, unsigned int times)
{
	return times < 16 ? min_u64(first << times, last) : last;
}

bool table_tries__fail(struct table_tries *tries, const struct rules_key *file, int err,
		       uint64_t now)
{
	struct table_try *try = remember(tries, file);
	unsigned int before = try->nr++;

	if (err == -ETIMEDOUT)
		try->again = now + pause_after(FIRST_HANGING_NS, LAST_LONG_NS, try->nr_hung++);
	else if (err != -ESRCH && err != -EAGAIN)
		try->again = now + pause_after(FIRST_LONG_NS, LAST_LONG_NS, before);
	else if (before >= TABLE_TRIES_AT_ONCE)
		try->again = now + pause_after(FIRST_SHORT_NS, LAST_SHORT_NS,
					       before - TABLE_TRIES_AT_ONCE);
	return try->again;
}

void table_tries__forget(struct table_tries *tries, const struct rules_key *file)
{
	size_t at = find(tries, file);

	if (at < tries->nr)
		tries->files[at] = tries->files[--tries->nr];
}

const struct rules_key *table_tries__next(struct table_tries *tries, uint64_t now)
{
	for (size_t i = 0; i < tries->nr; i++) {
		struct table_try *try = &tries->files[i];

		if (!try->again || try->again > now)
			continue;
		try->again = 0;
		return &try->file;
	}
	return NULL;
}
