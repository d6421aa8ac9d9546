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
 * Sets up the programs' own walk of kernel stacks (bpf_skel/kernel_walk.bpf.h) from what the
 * kernel tells of itself: where its ORC tables lie, how their entries are packed, and which
 * modules there are. Without any of it the kernel's own walk is used.
 */

/* How this kernel packs an orc_entry, as its BTF says. */
struct orc_format {
	bool known;
	uint8_t type_shift;
	uint8_t type_mask;
	uint8_t end_shift; /* WIRE_ORC_NO_END: there is no flag for it */
};

/* The struct whose type tells it. */
#define ORC_FORMAT_STRUCT "orc_entry"

/* known is false where the kernel has no such type, or packs it in a way that we don't know. */
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
 * Has the programs walk kernel stacks themselves, once both walks have found the same for all
 * tasks that sleep now. 0; -EOPNOTSUPP if this kernel has no ORC tables, -EPERM if its symbols
 * are hidden, -EILSEQ if the walks differ, or another negative errno: the kernel's walk is used
 * then. Logged with -v.
 */
int orc__start(struct orc *orc, const struct orc_format *format, const struct kallsyms *kallsyms);

/*
 * Looks for modules if one has come or gone since the last look. 0 or a negative errno: frames
 * in modules are then left to the kernel's walk.
 */
int orc__update(struct orc *orc);

#endif /* DENET_BPF_ORC_H */
