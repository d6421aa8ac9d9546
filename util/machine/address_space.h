/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_MACHINE_ADDRESS_SPACE_H
#define DENET_MACHINE_ADDRESS_SPACE_H

#include <stdint.h>
#include <sys/types.h>

#include "machine/mapped_file.h"
#include "machine/maps.h"
#include "machine/task_event.h"

/* What one program of a process, from its fork or exec to the next, has mapped. */
struct era {
	uint64_t since;
	struct maps *maps; /* NULL: nothing yet */
	struct era *before;
};

/* What a process has mapped, over time. Zero-initialised is empty. */
struct address_space {
	struct era *eras; /* the latest one first */
};

/* What all address spaces of a machine share. Zero-initialised is empty. */
struct map_store {
	struct mapped_files files;
	uint64_t bytes;	     /* without those of the files */
	uint64_t last_id;    /* of maps */
	uint64_t refused;    /* mappings that found no room */
	uint64_t full_maps;  /* the same, for what one process has mapped */
};

/* What they take at most. Once it is full, which is said, new mappings are not kept. */
#define MAP_STORE_MAX_BYTES (64ULL << 20)

uint64_t map_store__bytes(const struct map_store *store);

/*
 * A mapping of a process that came into being at a time. 0; 1 if it is known already; -ENOMEM.
 * One that finds no room is no error.
 */
int address_space__map(struct address_space *space, struct map_store *store, pid_t pid,
		       const struct task_map *map, uint64_t time);

/*
 * From a time on nothing that was mapped before is there: an exec or, with what from, which may be
 * NULL, had mapped at that time, a fork. 0 or -ENOMEM.
 */
int address_space__begin(struct address_space *space, struct map_store *store,
			 const struct address_space *from, uint64_t time);

/* The mappings at a time; NULL: nothing is known. Valid until the next change. */
const struct maps *address_space__at(const struct address_space *space, uint64_t time);

/* Drops what had ended by then. True: there is more that has ended. */
bool address_space__forget(struct address_space *space, struct map_store *store, uint64_t before);

void address_space__free(struct address_space *space, struct map_store *store);

#endif /* DENET_MACHINE_ADDRESS_SPACE_H */
