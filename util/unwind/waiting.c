/* SPDX-License-Identifier: GPL-2.0-only */
#include "unwind/waiting.h"

#include <errno.h>

/* Removed entries at the front that trigger moving the rest. */
#define MANY 4096

size_t waiting__count(const struct waiting *waiting)
{
	return waiting->all.len / sizeof(struct waiter) - waiting->gone;
}

int waiting__reserve(struct waiting *waiting)
{
	return buffer__reserve(&waiting->all, sizeof(struct waiter)) ? 0 : -ENOMEM;
}

int waiting__add(struct waiting *waiting, const struct waiter *waiter)
{
	return buffer__append(&waiting->all, waiter, sizeof(*waiter));
}

const struct waiter *waiting__oldest(const struct waiting *waiting)
{
	const struct waiter *all = (const void *)waiting->all.data;

	return waiting__count(waiting) ? &all[waiting->gone] : NULL;
}

struct waiter waiting__take(struct waiting *waiting)
{
	const struct waiter taken = *waiting__oldest(waiting);

	waiting->gone++;
	if (!waiting__count(waiting) || waiting->gone == MANY) {
		buffer__consume(&waiting->all, waiting->gone * sizeof(taken));
		waiting->gone = 0;
	}
	return taken;
}

void waiting__free(struct waiting *waiting)
{
	buffer__free(&waiting->all);
	waiting->gone = 0;
}
