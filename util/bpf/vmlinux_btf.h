/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_VMLINUX_BTF_H
#define DENET_BPF_VMLINUX_BTF_H

#include <linux/btf.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The kernel's BTF, read where it lies. libbpf loads its own copy for the programs; a second one,
 * only to look some ten names up, would take as long as half of the programs' relocation.
 */
struct vmlinux_btf {
	const void *data;
	size_t size;
	uint32_t *offsets;   /* of each type in the section of types; [0] is void */
	uint32_t nr;	     /* of types, with void */
	const char *types;
	const char *strings; /* ends with a NUL */
	uint32_t strings_len;
};

/* A type to look for. */
struct btf_wanted {
	uint32_t kind; /* BTF_KIND_* */
	const char *name;
	const struct btf_type *type; /* NULL: there is none; lives as long as the BTF */
};

/*
 * Opens the BTF of a file (NULL: the running kernel's). 0 or a negative errno: -EINVAL if it is
 * none. vmlinux_btf__close() is for both.
 */
int vmlinux_btf__open(struct vmlinux_btf *btf, const char *path);
void vmlinux_btf__close(struct vmlinux_btf *btf);

/* Finds the first type of each kind and name, all in one pass. */
void vmlinux_btf__find(const struct vmlinux_btf *btf, struct btf_wanted *wanted, size_t nr);

/* The type with an id. NULL: void, or none. */
const struct btf_type *vmlinux_btf__type(const struct vmlinux_btf *btf, uint32_t id);

/* The name at an offset that a type or a member has; "" if it is out of bounds. */
const char *vmlinux_btf__name(const struct vmlinux_btf *btf, uint32_t offset);

/* The member of a struct; NULL: it has none of this name. */
const struct btf_member *vmlinux_btf__member(const struct vmlinux_btf *btf,
					     const struct btf_type *type, const char *name);

#endif /* DENET_BPF_VMLINUX_BTF_H */
