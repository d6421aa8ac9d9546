/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_FILE_TABLES_H
#define DENET_TOP_FILE_TABLES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cfi.h"
#include "machine/maps.h"

/* The unwind tables of mapped files, each made when it is first asked for. */
struct file_tables;

struct file_tables *file_tables__new(void);		 /* NULL: no memory */
void file_tables__delete(struct file_tables *tables); /* accepts NULL */

/*
 * The rule of an address in a mapping of thread tid, and with CFI_WIDE *wide; see cfi_walk.h:
 * CFI_WALK_NO_TABLE if the table is to be made first, CFI_WALK_LATER if it could not be made, for a
 * reason that will pass.
 */
uint32_t file_tables__rule(struct file_tables *tables, pid_t tid, const struct maps_entry *map,
			   uint64_t pc, struct cfi_wide *wide);

/* A thread was found to have that mapped: a table of what the file was before is dropped. */
void file_tables__check(struct file_tables *tables, pid_t tid, const struct maps_entry *map);

/*
 * Makes tables that were asked for, until until_ns (clock__now_ns()). False: there is none to be
 * made.
 */
bool file_tables__make(struct file_tables *tables, uint64_t until_ns);

#endif /* DENET_TOP_FILE_TABLES_H */
