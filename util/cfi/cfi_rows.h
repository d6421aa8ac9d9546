/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CFI_CFI_ROWS_H
#define DENET_CFI_CFI_ROWS_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

#include "cfi.h"

/*
 * Call frame information (.eh_frame, .debug_frame, also that in .gnu_debugdata) of an x86-64 ELF
 * file as rows: from which address on which rule of bpf_skel/cfi.h holds. The sections may say
 * anything, and are to be read where base/bus_guard.h is installed.
 */

struct cfi_row {
	uint64_t pc; /* as the file's segments have it */
	uint32_t rule;
};

struct cfi_rows {
	struct cfi_row *rows; /* by ascending pc */
	size_t nr;
	size_t capacity;
	struct cfi_wide *wides; /* that rules of kind CFI_WIDE refer to */
	size_t nr_wides;
	size_t functions; /* entries that were read */
};

/* More than any file has; what is beyond has no rule. */
#define CFI_ROWS_MAX (1u << 23)
/* A 32nd of the room for those of all files, RULES_WIDES; rows beyond are not supported. */
#define CFI_WIDES_MAX 1024u

/*
 * Reads all that a file has. Zero-initialised rows go in. 0; -ENOENT if there is none, -ENOEXEC
 * for other machines' files, -ENOMEM. rows is to be freed in each case.
 */
int cfi_rows__read(struct cfi_rows *rows, Elf *elf);

/* The rule of an address; CFI_NONE where no function is known. */
uint32_t cfi_rows__find(const struct cfi_rows *rows, uint64_t pc);

void cfi_rows__free(struct cfi_rows *rows);

#endif /* DENET_CFI_CFI_ROWS_H */
