/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_UNWIND_DSOS_H
#define DENET_UNWIND_DSOS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/idmap.h"
#include "symbol/dso.h"

/* The files that have been opened, by their ids. Zero-initialised is empty. */
struct dsos {
	struct idmap by_file;	    /* id -> struct dso_entry */
	volatile uint64_t *opening; /* receives the id of the file that is being opened; or NULL */
	size_t nr;
	uint64_t opened;
	uint64_t refused;
};

/*
 * The file of a mapping of a process, opened on first use, see dso__open(); if the process has
 * ended, also through one of its ancestors in machine. NULL: no memory; dso->err is the reason why
 * it has no elf. Valid until dsos__clear().
 */
const struct dso *dsos__get(struct dsos *dsos, const struct machine *machine,
			    const struct dso_process *process, const struct maps_entry *map);

/* Marks a file that is never to be opened. 0 or -ENOMEM. */
int dsos__avoid(struct dsos *dsos, uint64_t file_id);

/*
 * The file that is mapped at an address was truncated: closes it, to be opened again only through
 * another process. Nothing may use its elf any more. False: no file is mapped there.
 */
bool dsos__spoil(struct dsos *dsos, uintptr_t address);

/* Frees all but the marks of dsos__avoid(). */
void dsos__clear(struct dsos *dsos);

/* Frees all. */
void dsos__free(struct dsos *dsos);

#endif /* DENET_UNWIND_DSOS_H */
