/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_ORC_H
#define DENET_BPF_ORC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

struct bpf_map;
struct bpf_program;
struct btf_type;
struct kallsyms;
struct vmlinux_btf;

/*
 * Sets up the programs' own walk of kernel stacks (bpf_skel/kernel_walk.bpf.h) from the kernel's
 * own data: addresses of its ORC tables, the layout of their entries, and its modules. If any of it
 * is missing the kernel's own walk is used.
 */

/* The layout of this kernel's orc_entry, from its BTF. */
struct orc_format {
	bool known;
	uint8_t type_shift;
	uint8_t type_mask;
	uint8_t end_shift; /* WIRE_ORC_NO_END: there is no flag for it */
};

/* The name of that struct in BTF. */
#define ORC_FORMAT_STRUCT "orc_entry"

/* known is false if the kernel has no such type, or an unknown layout of it. */
void orc_format__read(struct orc_format *format, const struct vmlinux_btf *btf,
		      const struct btf_type *type);

/* The programs, maps and variables that make up the walk; all belong to a BPF object. */
struct orc {
	volatile struct wire_orc *shared;
	uint64_t *rules; /* WIRE_ORC_RULES of them */
	const struct bpf_map *modules;
	struct bpf_program *sleepers; /* iterators */
	struct bpf_program *check;
	struct bpf_program *read_module;
	const volatile uint64_t *same; /* what the second counts */
	const volatile uint64_t *differ;
	uint32_t epoch; /* of the modules that are known */
};

/*
 * Makes the programs walk kernel stacks themselves, once both walks have found the same for all
 * sleeping tasks. 0; -EOPNOTSUPP if this kernel has no ORC tables, -EPERM if its symbols are
 * hidden, -EILSEQ if the walks differ, or another negative errno: the kernel's walk is used then.
 * Logged with -v.
 */
int orc__start(struct orc *orc, const struct orc_format *format, const struct kallsyms *kallsyms);

/*
 * Reads the modules again if one was loaded or removed since the last call. 0 or a negative errno:
 * frames in modules are then left to the kernel's walk.
 */
int orc__update(struct orc *orc);

#endif /* DENET_BPF_ORC_H */
