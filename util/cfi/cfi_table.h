/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CFI_CFI_TABLE_H
#define DENET_CFI_CFI_TABLE_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

#include "cfi.h"

/*
 * The rules of an ELF file's code in the form in which BPF programs can search them, described in
 * bpf_skel/cfi.h: by offsets in the file, which a mapping tells whatever its address is. Some 100
 * KB for each MB of code.
 */
struct cfi_table {
	uint64_t start; /* offset in the file that the first page of the index is for */
	uint32_t nr_pages;
	uint32_t nr_words; /* index and rows */
	uint32_t *words;
	uint32_t nr_wides;
	struct cfi_wide *wides; /* that rows refer to */
};

/*
 * Words that the table of a file may have: 8 MB, a quarter of the room of all. libLLVM 15 has
 * 1,270,000, chromium 970,000, node 390,000. An index takes a word for each 256 bytes between the
 * first and the last rule, whatever lies there, so this alone bounds that of a sparse file.
 */
#define CFI_FILE_WORDS (1U << 21)

/*
 * Makes the table of a file. A zero-initialised table goes in; it is to be freed in any case. 0;
 * -ENOENT if the file has no call frame information, -ENOEXEC if it is of another machine, -E2BIG
 * if its table would be too large, -ENOMEM. The file may be broken on purpose: for a child with
 * base/bus_guard.h.
 */
int cfi_table__make(struct cfi_table *table, Elf *elf);

/*
 * For a table that another process made: whether all places that it refers to lie in it. 0 or
 * -EPROTO.
 */
int cfi_table__check(const struct cfi_table *table);

/* The rule for an offset in the file, looked up as the programs do. */
uint32_t cfi_table__find(const struct cfi_table *table, uint64_t offset);

void cfi_table__free(struct cfi_table *table);

#endif /* DENET_CFI_CFI_TABLE_H */
