/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/alive.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "capture/capture.h"

#define RECOUNT_MAX_NS (30 * NSEC_PER_SEC)

/*
 * The kernel may not run our program at a death: where tracepoints are preemptible, two of them can
 * meet on a CPU. And a task that was exiting when it was listed died unseen. So targets are
 * searched for if the count is not 0 but has not changed for a while.
 */
static bool count_stands_still(struct alive *alive, int64_t count)
{
	uint64_t now = clock__now_ns();

	if (count != alive->count || !alive->next) {
		alive->count = count;
		alive->pause = CAPTURE_RECOUNT_MS * NSEC_PER_MSEC;
		alive->next = now + alive->pause;
	}
	if (now < alive->next)
		return false;
	/* A pass takes long with many tasks: the pause doubles up to this. */
	if (alive->pause < RECOUNT_MAX_NS)
		alive->pause *= 2;
	alive->next = now + alive->pause;
	return true;
}

/*
 * A pass finds every target that lives through it. So if it finds none, the targets that it began
 * with have died, and unless one was born meanwhile none is left.
 */
static bool none_is_left(const struct target_maps *target_maps)
{
	uint64_t births = target_maps__births(target_maps), found = 0;
	int err = target_maps__find(target_maps, &found);

	if (err)
		pr_verbose("the targets that live cannot be counted: %s", strerror(-err));
	return !err && !found && target_maps__births(target_maps) == births;
}

/*
 * At most once a second, and less and less often if no state was made: there may be no memory, or
 * the tasks have ended.
 */
void alive__adopt_strays(struct alive *alive, const struct target_maps *target_maps)
{
	uint64_t now, births = target_maps__births(target_maps), found;
	int err;

	if (!target_maps__has_strays(target_maps))
		return;
	now = clock__now_ns();
	if (now < alive->strays_next)
		return;
	err = target_maps__find(target_maps, &found);
	births = target_maps__births(target_maps) - births;
	if (err)
		pr_verbose("tasks that were born unseen cannot be looked for: %s", strerror(-err));
	if (births || !alive->strays_pause)
		alive->strays_pause = NSEC_PER_SEC;
	else if (alive->strays_pause < RECOUNT_MAX_NS)
		alive->strays_pause *= 2;
	alive->strays_next = now + alive->strays_pause;
}

bool alive__any(struct alive *alive, const struct target_maps *target_maps)
{
	int64_t count = target_maps__alive(target_maps);

	if (count <= 0 || alive->ended)
		return false;
	if (!count_stands_still(alive, count))
		return true;
	alive->ended = none_is_left(target_maps);
	if (alive->ended)
		pr_verbose("no target is left, though %" PRId64 " deaths were not seen", count);
	return !alive->ended;
}
