/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_MACHINE_ADDRESS_SPACE_H
#define DENET_MACHINE_ADDRESS_SPACE_H

#include <stdint.h>
#include <sys/types.h>

#include "machine/mapped_file.h"
#include "machine/maps.h"
#include "machine/task_event.h"

/* Mappings of one program of a process, from its fork or exec to the next. */
struct era {
	uint64_t since;
	uint64_t mapped;   /* time of the first mapping, UINT64_MAX: there is none */
	struct maps *maps; /* NULL: nothing yet */
	struct era *before;
};

/* Mappings of a process over time. Zero-initialised is empty. */
struct address_space {
	struct era *eras; /* the latest one first */
};

/* Shared by all address spaces of a machine. Zero-initialised is empty. */
struct map_store {
	struct mapped_files files;
	uint64_t bytes;	     /* without those of the files */
	uint64_t last_id;    /* of maps */
	uint64_t refused;    /* mappings that found no room */
	uint64_t full_maps;  /* of these: beyond MAPS_MAX of one address space */
};

/* Memory limit of all address spaces. Beyond it, new mappings are dropped with a warning. */
#define MAP_STORE_MAX_BYTES (64ULL << 20)

uint64_t map_store__bytes(const struct map_store *store);

/*
 * Adds a mapping of a process from a time on. 0; 1 if it is known already; -ENOMEM. A mapping that
 * is dropped for want of room is no error.
 */
int address_space__map(struct address_space *space, struct map_store *store, pid_t pid,
		       const struct task_map *map, uint64_t time);

/*
 * Begins a new era at a time: at an exec, empty; at a fork, with the mappings that from, which may
 * be NULL, had at that time. 0 or -ENOMEM.
 */
int address_space__begin(struct address_space *space, struct map_store *store,
			 const struct address_space *from, uint64_t time);

/*
 * The mappings at a time; NULL: none known. Valid until the next change. Between an exec and the
 * first mapping of the new program, 100 ms at most, these are the former program's, whose execve(2)
 * has not returned: the thread's registers and stack are still of that.
 */
const struct maps *address_space__at(const struct address_space *space, uint64_t time);

/* Drops mappings that address_space__at() has no more from then on. True: others end later. */
bool address_space__forget(struct address_space *space, struct map_store *store, uint64_t before);

void address_space__free(struct address_space *space, struct map_store *store);

#endif /* DENET_MACHINE_ADDRESS_SPACE_H */
