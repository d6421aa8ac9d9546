/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_WINDOW_MAPS_H
#define DENET_BPF_WINDOW_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

struct bpf_map;

/* Contents of a generation: sums, and the ids that sums refer to. */
enum window_room {
	WINDOW_SUMS,
	WINDOW_STACKS,
	WINDOW_REASONS,
	WINDOW_ROOMS,
};

/*
 * The two generations of windowed sums: programs add to one of them, while the other is read and
 * emptied. The maps and the variables belong to the programs, which outlive this.
 */
struct window_maps {
	uint32_t *current;       /* its lowest bit is the generation that takes new sums */
	struct bpf_map *barrier; /* an array of maps, used only to wait for programs */
	struct bpf_map *barrier_inner;
	struct {
		struct bpf_map *maps[2];
		uint32_t *used; /* entries in each of them */
	} rooms[WINDOW_ROOMS];
};

/* Returns once all programs that began before the call have ended. 0 or a negative errno. */
int window_maps__wait(const struct window_maps *window_maps);

/*
 * Switches to the other generation and waits until no program uses the old one, which is returned;
 * a negative errno on failure.
 */
int window_maps__swap(struct window_maps *window_maps);

/* True if the current generation has sums, or ids that sums refer to. */
bool window_maps__has_sums(const struct window_maps *window_maps);

/* Number of sums in the current generation. */
uint32_t window_maps__sums(const struct window_maps *window_maps);

/* Fill level of the current generation in percent, of its fullest map. */
unsigned int window_maps__percent_used(const struct window_maps *window_maps);

typedef int (*window_sum_fn)(void *ctx, const struct wire_entry_key *key,
				  const struct wire_entry *entry);

/* Passes each sum of a generation to fn and empties it. 0 or a negative errno. */
int window_maps__take(struct window_maps *window_maps, unsigned int gen, window_sum_fn fn,
		      void *ctx);

#endif /* DENET_BPF_WINDOW_MAPS_H */
