/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_UNWIND_DSOS_H
#define DENET_UNWIND_DSOS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/idmap.h"
#include "symbol/dso.h"

/* The images that have been opened, by the ids of their files. Zero-initialised is empty. */
struct dsos {
	struct idmap by_file;	    /* id -> struct image_entry */
	volatile uint64_t *opening; /* receives the id of the file that is being opened; NULL */
	size_t nr;
	uint64_t opened;
	uint64_t refused;
};

/*
 * The image of the file of a mapping of a process, opened if it is not there, see
 * dso__open(); if the process has ended, also by way of one of those that machine says it
 * descends from. NULL: no memory; image->err tells why it has no elf. Valid until
 * dsos__clear().
 */
const struct dso *dsos__get(struct dsos *dsos, const struct machine *machine,
			    const struct dso_process *process, const struct maps_entry *map);

/* A file that is never to be opened. 0 or -ENOMEM. */
int dsos__avoid(struct dsos *dsos, uint64_t file_id);

/*
 * The file that is mapped at an address turned out to be shorter than it was: it is closed, and
 * opened again only for another process. Nobody may hold its elf any more. False: there is none.
 */
bool dsos__spoil(struct dsos *dsos, uintptr_t address);

/* Frees all, but for what is to be avoided. */
void dsos__clear(struct dsos *dsos);

/* Frees all. */
void dsos__free(struct dsos *dsos);

#endif /* DENET_UNWIND_DSOS_H */
