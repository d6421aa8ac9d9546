/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BASE_ELF_SECTION_H
#define DENET_BASE_ELF_SECTION_H

#include <gelf.h>

/*
 * Sections of ELF files by their names. The files may be broken on purpose: for a child with
 * base/bus_guard.h.
 */

/* The first section of a name that has content in the file, and its header; NULL: there is none. */
Elf_Scn *elf_section__find(Elf *elf, const char *name, GElf_Shdr *header);

/*
 * A copy of the section .gnu_debugdata, a compressed ELF file that may hold what the file itself
 * was stripped of: a descriptor (memfd), -ENOENT or a negative errno.
 */
int elf_section__minidebug(Elf *elf);

#endif /* DENET_BASE_ELF_SECTION_H */
