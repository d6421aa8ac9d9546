/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/new_code.h"

#include <string.h>
#include <sys/mman.h>

#include "base/units.h"
#include "machine/task_event.h"

/* The dynamic linker maps the libraries of a program within a millisecond or two. */
#define FIRST_NS (2 * NSEC_PER_MSEC)
#define LAST_NS (64 * NSEC_PER_MSEC)

bool new_code__file(const struct task_event *event, struct rules_key *file)
{
	const struct task_map *map = &event->map;

	if (event->kind != TASK_EVENT_MMAP || map->data || !(map->prot & PROT_EXEC) || !map->ino)
		return false;
	*file = (struct rules_key){
		.ino = map->ino,
		.dev = map->maj << 20 | map->min,
		.generation = (uint32_t)map->generation,
	};
	return true;
}

/* Where a file is remembered, in place of any other one. */
static size_t place_of(const struct rules_key *file)
{
	uint64_t hash = file->ino ^ (uint64_t)file->dev << 32 ^ file->generation;

	return (size_t)(hash * 0x9e3779b97f4a7c15ULL >> (64 - NEW_CODE_FILES_SHIFT));
}

static bool is_known(const struct new_code *new_code, const struct rules_key *file)
{
	return !memcmp(&new_code->files[place_of(file)].file, file, sizeof(*file));
}

bool new_code__is_settled(const struct new_code *new_code, const struct rules_key *file)
{
	return is_known(new_code, file) &&
	       new_code->files[place_of(file)].tries >= NEW_CODE_TRIES;
}

static void count_try(struct new_code *new_code, const struct rules_key *file, unsigned int tries)
{
	size_t place = place_of(file);

	if (!is_known(new_code, file)) {
		new_code->files[place].file = *file;
		new_code->files[place].tries = 0;
	}
	new_code->files[place].tries += tries;
}

void new_code__settle(struct new_code *new_code, const struct rules_key *file)
{
	if (!new_code__is_settled(new_code, file))
		count_try(new_code, file, NEW_CODE_TRIES);
}

void new_code__add(struct new_code *new_code, const struct rules_key *file, pid_t pid)
{
	size_t at = 0;

	while (at < new_code->nr_pids && new_code->pids[at] != pid)
		at++;
	if (at == NEW_CODE_PIDS)
		return;
	new_code->pids[at] = pid;
	if (at == new_code->nr_pids)
		new_code->nr_pids++;
	count_try(new_code, file, 1);
	new_code__expect(new_code);
}

/* True if it may be done once more, most times a second. */
static bool has_room(const struct new_code_rate *rate, unsigned int most, uint64_t now)
{
	return rate->nr < most || now - rate->since >= NSEC_PER_SEC;
}

static void count_one(struct new_code_rate *rate, uint64_t now)
{
	if (now - rate->since >= NSEC_PER_SEC)
		*rate = (struct new_code_rate){ .since = now };
	rate->nr++;
}

bool new_code__wants_list(const struct new_code *new_code, uint64_t now)
{
	return new_code->nr_pids && has_room(&new_code->lists, NEW_CODE_LISTS, now);
}

size_t new_code__take(struct new_code *new_code, pid_t pids[NEW_CODE_PIDS], uint64_t now)
{
	size_t nr = new_code->nr_pids;

	if (!new_code__wants_list(new_code, now))
		return 0;
	count_one(&new_code->lists, now);
	memcpy(pids, new_code->pids, nr * sizeof(*pids));
	new_code->nr_pids = 0;
	return nr;
}

void new_code__expect(struct new_code *new_code)
{
	new_code->expected = true;
}

void new_code__look(struct new_code *new_code, uint64_t now)
{
	if (new_code->expected)
		new_code->pause = FIRST_NS;
	else if (new_code->look_at && now >= new_code->look_at)
		new_code->pause *= 2;
	else
		return;
	new_code->expected = false;
	new_code->look_at = 0;
	if (new_code->pause > LAST_NS || !has_room(&new_code->looks, NEW_CODE_LOOKS, now))
		return;
	count_one(&new_code->looks, now);
	new_code->look_at = now + new_code->pause;
}

int new_code__timeout(const struct new_code *new_code, uint64_t now)
{
	uint64_t at = new_code->look_at;

	if (new_code->expected && has_room(&new_code->looks, NEW_CODE_LOOKS, now))
		at = now + FIRST_NS;
	if (!at)
		return -1;
	return at <= now ? 0 : (int)((at - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);
}
