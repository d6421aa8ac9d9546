/* SPDX-License-Identifier: GPL-2.0-only */
#include "callchain/user_chain.h"

#include "machine/maps.h"

/* The lowest address of code. */
#define FIRST_CODE 4096
#define LAST_CODE (1ULL << 56)

size_t user_chain__possible(const uint64_t *ips, size_t nr)
{
	size_t kept = 0;

	while (kept < nr && ips[kept] >= FIRST_CODE && ips[kept] < LAST_CODE)
		kept++;
	return kept;
}

size_t user_chain__code(const struct maps *maps, uint64_t time, const uint64_t *ips, size_t nr)
{
	const struct maps_entry *map;
	uint64_t start = 0, size = 0;
	size_t kept = 0;

	if (!maps || maps__is_incomplete(maps))
		return user_chain__possible(ips, nr);
	for (; kept < nr && ips[kept]; kept++) {
		/* A return address may be the one behind the mapping's last call. */
		uint64_t ip = ips[kept] - (kept > 0);

		/* Neighbouring frames are mostly in one file. */
		if (ip - start < size)
			continue;
		map = maps__find(maps, time, ip);
		if (!map)
			break;
		start = map->start;
		size = map->end - map->start;
	}
	return kept;
}
