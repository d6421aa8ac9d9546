/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The mapping of an address, read from the tree of a process's mappings without its lock, for a
 * moment where the lock cannot be had although nothing changes: include/linux/maple_tree.h. What
 * is read may be torn by a change that begins meanwhile, so that what was found is to be looked at
 * once more, see is_vma_of().
 */
#ifndef DENET_VMA_TREE_BPF_H
#define DENET_VMA_TREE_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define VMA_TREE_DEPTH 6 /* ten children to a node, at least five but for the root */
#define VMA_NODE_WORDS 32U
#define VMA_NODE_BYTES (VMA_NODE_WORDS * 8U)
/* Of a pointer to a node: what kind it is. */
#define VMA_NODE_BITS 255ULL
#define VMA_NODE_TYPE(entry) ((entry) >> 3 & 15)
#define VMA_NODE_LEAF 1 /* enum maple_type; type 2 is a node of ranges without gaps */
#define VMA_NODE_ARANGE 3
/* Words of a node: its parent, the last addresses of all children but one, and the children. */
#define VMA_RANGE_PIVOTS 15U
#define VMA_ARANGE_PIVOTS 9U
#define RWSEM_WRITER_LOCKED 1 /* kernel/locking/rwsem.c */

struct vma_node {
	__u64 words[VMA_NODE_WORDS];
};

/* The child of a node in which an address lies; 0: the node cannot be read. */
static __always_inline __u64 vma_child(struct vma_node *node, __u64 entry, __u64 address)
{
	__u32 pivots = VMA_NODE_TYPE(entry) == VMA_NODE_ARANGE ? VMA_ARANGE_PIVOTS :
								VMA_RANGE_PIVOTS;
	__u32 at;

	if (bpf_probe_read_kernel(node, VMA_NODE_BYTES, (void *)(entry & ~VMA_NODE_BITS)))
		return 0;
	/* A pivot of 0 stands behind the last child. */
	for (at = 0; at < VMA_RANGE_PIVOTS; at++) {
		if (at == pivots || address <= node->words[1 + at] || (at && !node->words[1 + at]))
			break;
	}
	at += 1 + pivots;
	asm volatile("%0 &= %1" : "+r"(at) : "i"(VMA_NODE_WORDS - 1));
	return node->words[at];
}

/* Whether a change of the mappings is under way. */
static __always_inline bool mm_is_changing(const struct mm_struct *mm)
{
	if (!bpf_core_field_exists(mm->mmap_lock.count))
		return true;
	return BPF_CORE_READ(mm, mmap_lock.count.counter) & RWSEM_WRITER_LOCKED;
}

/* A global function, so that the verifier follows it once. 0: none was found. */
__noinline __u64 find_vma_entry(struct vma_node *node, __u64 root, __u64 address)
{
	__u64 entry = root;
	__u64 type;

	if (!node)
		return 0;
	for (int i = 0; i < VMA_TREE_DEPTH; i++) {
		type = VMA_NODE_TYPE(entry);
		if (entry <= VMA_NODE_BITS || type < VMA_NODE_LEAF || type > VMA_NODE_ARANGE)
			return 0;
		entry = vma_child(node, entry, address);
		if (type == VMA_NODE_LEAF)
			return entry & 3 ? 0 : entry;
	}
	return 0;
}

/* NULL: there is none, or none that can be found without the lock. node is room. */
static __always_inline const struct vm_area_struct *
find_vma_in_tree(struct vma_node *node, const struct mm_struct *mm, __u64 address)
{
	if (!bpf_core_field_exists(mm->mm_mt) || mm_is_changing(mm))
		return NULL;
	return (void *)find_vma_entry(node, (__u64)BPF_CORE_READ(mm, mm_mt.ma_root), address);
}

/* Whether it is a mapping of that process and of that address, and nothing has changed. */
static __always_inline bool is_vma_of(const struct vm_area_struct *vma, const struct mm_struct *mm,
				      __u64 address)
{
	return BPF_CORE_READ(vma, vm_mm) == mm && address >= BPF_CORE_READ(vma, vm_start) &&
	       address < BPF_CORE_READ(vma, vm_end) && !mm_is_changing(mm);
}

#endif /* DENET_VMA_TREE_BPF_H */
