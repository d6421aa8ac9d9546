/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/new_code.h"

#include <string.h>
#include <sys/mman.h>

#include "base/minmax.h"
#include "base/units.h"
#include "machine/task_event.h"

/* The dynamic linker maps the libraries of a program within a millisecond or two. */
#define FIRST_NS (2 * NSEC_PER_MSEC)
#define LAST_NS (64 * NSEC_PER_MSEC)
/* The pause after a list that brought nothing, and after many of them. */
#define FIRST_PAUSE_NS (50 * NSEC_PER_MSEC)
#define LAST_PAUSE_NS (10 * NSEC_PER_SEC)

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

/* The first of the two places where a file may be remembered. */
static size_t set_of(const struct rules_key *file)
{
	uint64_t hash = file->ino ^ (uint64_t)file->dev << 32 ^ file->generation;

	return (size_t)(hash * 0x9e3779b97f4a7c15ULL >> (64 - NEW_CODE_FILES_SHIFT)) & ~(size_t)1;
}

/* NULL: it is not remembered. */
static const struct new_code_file *find(const struct new_code *new_code,
					const struct rules_key *file)
{
	const struct new_code_file *set = &new_code->files[set_of(file)];

	for (size_t i = 0; i < 2; i++) {
		if (!memcmp(&set[i].file, file, sizeof(*file)))
			return &set[i];
	}
	return NULL;
}

/* In the first place; the file that was there takes the second one, whose file is forgotten. */
static struct new_code_file *remember(struct new_code *new_code, const struct rules_key *file)
{
	struct new_code_file *set = &new_code->files[set_of(file)];
	const struct new_code_file *known = find(new_code, file);
	struct new_code_file entry = { .file = *file };

	if (known == set)
		return set;
	if (known)
		entry = *known;
	set[1] = set[0];
	set[0] = entry;
	return set;
}

bool new_code__is_settled(const struct new_code *new_code, const struct rules_key *file)
{
	const struct new_code_file *known = find(new_code, file);

	return known && known->tries >= NEW_CODE_TRIES;
}

void new_code__settle(struct new_code *new_code, const struct rules_key *file)
{
	remember(new_code, file)->tries = NEW_CODE_TRIES;
}

/* However many processes map it before the next list, that is one try. */
static void count_try(struct new_code *new_code, const struct rules_key *file)
{
	struct new_code_file *known = remember(new_code, file);

	if (known->tries && known->list == new_code->list)
		return;
	known->tries++;
	known->list = new_code->list;
}

void new_code__add(struct new_code *new_code, const struct rules_key *file, pid_t pid)
{
	size_t at = 0;

	while (at < new_code->nr_pids && new_code->pids[at] != pid)
		at++;
	/* The one that came first is the likeliest to be gone. */
	if (at == NEW_CODE_PIDS) {
		at--;
		memmove(new_code->pids, new_code->pids + 1, at * sizeof(pid));
	}
	new_code->pids[at] = pid;
	if (at == new_code->nr_pids)
		new_code->nr_pids++;
	count_try(new_code, file);
	new_code__expect(new_code);
}

/* When it may be done once more, most times in each second: a time that may have passed. */
static uint64_t time_of_next(const struct new_code_rate *rate, unsigned int most)
{
	return rate->nr < most ? 0 : rate->since + NSEC_PER_SEC;
}

static void count_one(struct new_code_rate *rate, uint64_t now)
{
	if (now - rate->since >= NSEC_PER_SEC)
		*rate = (struct new_code_rate){ .since = now };
	rate->nr++;
}

/* When the processes are to be listed; UINT64_MAX: there are none. */
static uint64_t time_of_list(const struct new_code *new_code)
{
	if (!new_code->nr_pids)
		return UINT64_MAX;
	return max_u64(new_code->list_at, time_of_next(&new_code->lists, NEW_CODE_LISTS));
}

bool new_code__wants_list(const struct new_code *new_code, uint64_t now)
{
	return time_of_list(new_code) <= now;
}

void new_code__take(struct new_code *new_code, uint64_t now)
{
	count_one(&new_code->lists, now);
	new_code->nr_pids = 0;
	new_code->list++;
}

void new_code__listed(struct new_code *new_code, bool found, uint64_t now)
{
	uint64_t pause = min_u64(max_u64(2 * new_code->list_pause, FIRST_PAUSE_NS), LAST_PAUSE_NS);

	new_code->list_pause = found ? 0 : pause;
	new_code->list_at = now + new_code->list_pause;
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
	if (new_code->pause > LAST_NS || time_of_next(&new_code->looks, NEW_CODE_LOOKS) > now)
		return;
	count_one(&new_code->looks, now);
	new_code->look_at = now + new_code->pause;
}

int new_code__timeout(const struct new_code *new_code, bool may_list, uint64_t now)
{
	uint64_t at = new_code->look_at ? new_code->look_at : UINT64_MAX;

	if (new_code->expected && time_of_next(&new_code->looks, NEW_CODE_LOOKS) <= now)
		at = now + FIRST_NS;
	if (may_list)
		at = min_u64(at, time_of_list(new_code));
	if (at == UINT64_MAX)
		return -1;
	return at <= now ? 0 : (int)((at - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);
}
