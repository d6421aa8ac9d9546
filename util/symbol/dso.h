/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SYMBOL_DSO_H
#define DENET_SYMBOL_DSO_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "machine/machine.h"

/*
 * An ELF file whose code is mapped somewhere, and where its segments go. It knows no address
 * space: every process that has the file mapped shares it.
 */
struct dso {
	Elf *elf;
	uint64_t low;  /* the address that its first segment asks for, aligned down */
	uint64_t high; /* behind the last byte of its segments */
	int err;       /* why elf is NULL; -ENOEXEC: it is no ELF file of this architecture */
	bool is_32bit; /* it is one of the 32-bit sibling of it */
};

/* The process through which a file is opened. */
struct dso_process {
	pid_t pid;
	/* When the process with the mapping lived (CLOCK_MONOTONIC, ns); 0: not known. */
	uint64_t alive;
	bool other; /* pid is not that process, but stands in for it */
};

/*
 * Opens the file of a mapping of a process: by its name in the process's root; if another file has
 * the name now, through the mapping itself; if the process is gone (its PID belongs to nobody, or
 * was born since), by its name in our own root. A file with another inode number than the mapping's
 * is never taken; without the process, device and inode must be those of the mapping
 * (root_open__elsewhere()). Memory without a file has no ELF image, but for the vDSO. May block for
 * ever on a dead file system, and a file that shrinks may kill the caller (SIGBUS) when it is read:
 * to be called in a child (base/child.h), with the guard of base/bus_guard.h. NULL: no memory; else
 * see err.
 */
struct dso *dso__open(const struct dso_process *process, const struct maps_entry *map);

/* The file alone, found in the same way: a descriptor or a negative errno. */
int dso__open_file(const struct dso_process *process, const struct maps_entry *map);

void dso__delete(struct dso *dso); /* accepts NULL */

/*
 * The difference between addresses in memory and in the file. 0, or -ENOENT if no segment of the
 * file is there.
 */
int dso__bias(const struct dso *dso, const struct maps_entry *map, uint64_t *bias);

#endif /* DENET_SYMBOL_DSO_H */
