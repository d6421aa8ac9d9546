/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/extents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Room for one more. */
static int grow(struct extents *extents)
{
	size_t more = extents->allocated ? 2 * extents->allocated : 64;
	struct extent *used;

	if (extents->nr < extents->allocated)
		return 0;
	used = reallocarray(extents->used, more, sizeof(*used));
	if (!used)
		return -ENOMEM;
	extents->used = used;
	extents->allocated = more;
	return 0;
}

int extents__take(struct extents *extents, uint32_t nr, uint32_t *start)
{
	uint32_t place = 0;
	struct extent *at;
	size_t i;

	if (grow(extents))
		return -ENOMEM;
	for (i = 0; i < extents->nr && extents->used[i].start - place < nr; i++)
		place = extents->used[i].end;
	if (i == extents->nr && extents->nr_places - place < nr)
		return -ENOSPC;
	at = &extents->used[i];
	memmove(at + 1, at, (extents->nr - i) * sizeof(*at));
	*at = (struct extent){ place, place + nr };
	extents->nr++;
	*start = place;
	return 0;
}

static int by_start(const void *key, const void *member)
{
	const uint32_t *start = key;
	const struct extent *extent = member;

	return *start < extent->start ? -1 : *start > extent->start;
}

void extents__shrink(struct extents *extents, uint32_t start, uint32_t nr)
{
	struct extent *extent = NULL;

	if (extents->nr)
		extent = bsearch(&start, extents->used, extents->nr, sizeof(*extent), by_start);
	if (!extent)
		return;
	if (nr) {
		extent->end = start + nr;
		return;
	}
	extents->nr--;
	memmove(extent, extent + 1,
		(size_t)(extents->used + extents->nr - extent) * sizeof(*extent));
}

void extents__free(struct extents *extents)
{
	free(extents->used);
	extents->used = NULL;
	extents->nr = extents->allocated = 0;
}
