/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_WINDOW_MAPS_H
#define DENET_BPF_WINDOW_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

struct bpf_map;

/* What a generation holds: sums, and the ids of what sums refer to. */
enum window_room {
	WINDOW_SUMS,
	WINDOW_STACKS,
	WINDOW_REASONS,
	WINDOW_ROOMS,
};

/*
 * The two generations of windowed sums: programs add to one of them, while the other is read
 * and emptied. The maps and the variables are the programs', which outlive this.
 */
struct window_maps {
	uint32_t *current;       /* the lowest bit is which of them takes new sums */
	struct bpf_map *barrier; /* an array of maps that no program looks at */
	struct bpf_map *barrier_inner;
	struct {
		struct bpf_map *maps[2];
		uint32_t *used; /* entries in each of them */
	} rooms[WINDOW_ROOMS];
};

/* Returns once no program runs that began before the call. 0 or a negative errno. */
int window_maps__wait(const struct window_maps *window_maps);

/*
 * Turns to the other generation and waits until no program runs that still uses the old
 * one, which is returned; a negative errno on failure.
 */
int window_maps__swap(struct window_maps *window_maps);

/* Whether the current generation has sums, or what sums refer to. */
bool window_maps__has_sums(const struct window_maps *window_maps);

/* How many sums the current generation has. */
uint32_t window_maps__sums(const struct window_maps *window_maps);

/* How full the current generation is, in percent of the room that has least left. */
unsigned int window_maps__percent_used(const struct window_maps *window_maps);

typedef int (*window_sum_fn)(void *ctx, const struct wire_entry_key *key,
				  const struct wire_entry *entry);

/* Hands each sum of a generation to fn and empties it. 0 or a negative errno. */
int window_maps__take(struct window_maps *window_maps, unsigned int gen, window_sum_fn fn,
		      void *ctx);

#endif /* DENET_BPF_WINDOW_MAPS_H */
