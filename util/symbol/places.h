/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SYMBOL_PLACES_H
#define DENET_SYMBOL_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/idmap.h"
#include "base/strings.h"
#include "machine/machine.h"
#include "symbol/elf_files.h"

enum place_kind {
	PLACE_UNKNOWN, /* frames outside of all mappings; addresses */
	PLACE_KERNEL,  /* addresses */
	PLACE_FILE,    /* offsets in the file */
	PLACE_MEMORY,  /* of one process, without a file; addresses */
};

/* The mapping, or the like, that frames lie in. */
struct place {
	enum place_kind kind;
	const char *path;
	struct mapped_file file; /* a copy, its path is of strings */
	struct elf_mapping mappings[ELF_WANTED_MAPPINGS]; /* the latest last */
	size_t nr_mappings;
	uint64_t born; /* of a memory's process */
	size_t nr;     /* frames */
};

/* All of them: a number each, of which the first two are those of these kinds. */
struct places {
	struct buffer all; /* struct place */
	struct idmap by_id;
};

/* 0 or -ENOMEM; places__free() in either case. */
int places__init(struct places *places);

/*
 * The number of the place of a mapping, which is unknown if there are too many. Its path is kept in
 * strings. Or -ENOMEM.
 */
int places__find(struct places *places, struct strings *strings, const struct process *process,
		 const struct maps_entry *map);

/* Keeps the latest processes that have a file mapped, each once, with their ancestors. */
void place__note(struct place *place, const struct machine *machine, const struct process *process,
		 uint64_t time, const struct maps_entry *map);

struct place *places__at(const struct places *places, size_t i);
size_t places__nr(const struct places *places);
void places__free(struct places *places);

#endif /* DENET_SYMBOL_PLACES_H */
