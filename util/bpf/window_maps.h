/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_WINDOW_MAPS_H
#define DENET_BPF_WINDOW_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

struct bpf_map;

/* What a generation holds: sums, and the ids of what sums refer to. */
enum generations_room {
	GENERATIONS_SUMS,
	GENERATIONS_STACKS,
	GENERATIONS_REASONS,
	GENERATIONS_ROOMS,
};

/*
 * The two generations of windowed sums: programs add to one of them, while the other is read
 * and emptied. The maps and the variables are the programs', which outlive this.
 */
struct generations {
	uint32_t *current;       /* the lowest bit is which of them takes new sums */
	struct bpf_map *barrier; /* an array of maps that no program looks at */
	struct bpf_map *barrier_inner;
	struct {
		struct bpf_map *maps[2];
		uint32_t *used; /* entries in each of them */
	} rooms[GENERATIONS_ROOMS];
};

/* Returns once no program runs that began before the call. 0 or a negative errno. */
int generations__wait(const struct generations *generations);

/*
 * Turns to the other generation and waits until no program runs that still uses the old
 * one, which is returned; a negative errno on failure.
 */
int generations__swap(struct generations *generations);

/* Whether the current generation has sums, or what sums refer to. */
bool generations__has_sums(const struct generations *generations);

/* How many sums the current generation has. */
uint32_t generations__sums(const struct generations *generations);

/* How full the current generation is, in percent of the room that has least left. */
unsigned int generations__filled(const struct generations *generations);

typedef int (*generations_sum_fn)(void *ctx, const struct wire_entry_key *key,
				  const struct wire_entry *entry);

/* Hands each sum of a generation to fn and empties it. 0 or a negative errno. */
int generations__take(struct generations *generations, unsigned int gen, generations_sum_fn fn,
		      void *ctx);

#endif /* DENET_BPF_WINDOW_MAPS_H */
