/* SPDX-License-Identifier: GPL-2.0-only */
#include "unwind/blame.h"

/*
 * Deaths after which a file is no longer opened: a single one may have another cause, such as a
 * lack of memory, and the file may be the C library.
 */
#define FILE_STRIKES 3
/* Failures at any files of a user's processes after which these are no longer unwound. */
#define USER_STRIKES 4

static bool is_recent(const struct blamed *blamed, uint64_t now)
{
	return blamed->strikes && now < blamed->last + BLAME_DECAY_NS;
}

/* The entry of an id, else a free one or the one with the oldest failure. */
static struct blamed *find(struct blamed *all, size_t nr, uint64_t id, uint64_t now)
{
	struct blamed *oldest = &all[0];

	for (size_t i = 0; i < nr; i++) {
		if (is_recent(&all[i], now) && all[i].id == id)
			return &all[i];
	}
	for (size_t i = 1; i < nr; i++) {
		if (all[i].last < oldest->last)
			oldest = &all[i];
	}
	*oldest = (struct blamed){ .id = id };
	return oldest;
}

static void strike(struct blamed *blamed, uint64_t now, unsigned int strikes)
{
	blamed->strikes += strikes;
	blamed->last = now;
}

static void forget(struct blame *blame, uint64_t now)
{
	while (blame->spent && now >= blame->refill) {
		blame->spent--;
		blame->refill += BLAME_REFILL_NS;
	}
}

void blame__add(struct blame *blame, uint64_t now, uint64_t file, uint32_t uid, bool sure)
{
	forget(blame, now);
	if (!blame->spent++)
		blame->refill = now + BLAME_REFILL_NS;
	if (file)
		strike(find(blame->files, BLAME_FILES, file, now), now, sure ? FILE_STRIKES : 1);
	if (file && uid && uid != UINT32_MAX)
		strike(find(blame->users, BLAME_USERS, uid, now), now, 1);
}

bool blame__may_go_on(struct blame *blame, uint64_t now)
{
	forget(blame, now);
	return blame->spent < BLAME_BURST;
}

size_t blame__files(const struct blame *blame, uint64_t now, uint64_t files[BLAME_FILES])
{
	size_t nr = 0;

	for (size_t i = 0; i < BLAME_FILES; i++) {
		if (is_recent(&blame->files[i], now) && blame->files[i].strikes >= FILE_STRIKES)
			files[nr++] = blame->files[i].id;
	}
	return nr;
}

bool blame__is_left_alone(const struct blame *blame, uint64_t now, uint32_t uid)
{
	for (size_t i = 0; i < BLAME_USERS; i++) {
		if (is_recent(&blame->users[i], now) && blame->users[i].id == uid)
			return blame->users[i].strikes >= USER_STRIKES;
	}
	return false;
}

bool blame__any_user(const struct blame *blame, uint64_t now)
{
	for (size_t i = 0; i < BLAME_USERS; i++) {
		if (is_recent(&blame->users[i], now) && blame->users[i].strikes >= USER_STRIKES)
			return true;
	}
	return false;
}
