/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which rule holds at a user address of current: its mapping tells the file and the offset, the
 * file's table the rule. Rules are kept for each process and address, and mappings for each CPU.
 */
#ifndef DENET_USER_RULES_BPF_H
#define DENET_USER_RULES_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include "cfi_maps.h"
#include "regs.bpf.h"
#include "vma_tree.bpf.h"

/* Set by user space where tables are wanted and those of this architecture can be made. */
const volatile __u8 has_user_walk = 0;

#define RULES_REGIONS 64U /* of a CPU; a power of two */
#define RULES_REGION_SHIFT 16
#define RULES_VDSO_BYTES 65536U
#define RULES_PROCESSES 4096U /* told apart by unmapped code; a power of two */
#define RULES_TAG_SHIFT 24 /* of a cached rule; what is below is the rule */
#define ENOENT 2 /* of errno.h, which is not for programs */
#define EFAULT 14
#define EBUSY 16
#define VM_EXEC 4U /* include/linux/mm.h */
#define CTIME_QUERIED (1U << 31) /* in i_ctime_nsec since Linux 6.13, include/linux/fs.h */
#define RULES_HASH 0x9e3779b97f4a7c15ULL

/* Results of a lookup that are in no table. */
enum {
	RULES_NO_TABLE = CFI_RULE(CFI_SPECIAL, CFI_SPECIALS),
	RULES_BUSY = CFI_RULE(CFI_SPECIAL, CFI_SPECIALS + 1),
	RULES_NO_ACCESS = CFI_RULE(CFI_SPECIAL, CFI_SPECIALS + 2), /* to the file */
	RULES_NO_CODE = CFI_RULE(CFI_SPECIAL, CFI_SPECIALS + 3), /* nothing is mapped, or data */
};

/* No rule has so many bits. */
#define RULES_UNCACHED 0xffffffffU

/* The first slab; user space makes the others as they are needed. */
struct rules_slab_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct rules_slab);
} rules_slab0 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, RULES_SLABS);
	__type(key, __u32);
	__array(values, struct rules_slab_map);
} rules_slabs SEC(".maps") = {
	.values = { [0] = &rules_slab0 },
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RULES_FILES);
	__type(key, struct rules_key);
	__type(value, struct rules_file);
} rules_files SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RULES_WIDES);
	__type(key, __u32);
	__type(value, struct cfi_wide);
} rules_wides SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RULES_WANTED);
	__type(key, struct rules_key);
	__type(value, struct rules_wanted);
} rules_wanted SEC(".maps");

/* The rule of an address in a process: 40 bits of a hash of both, then the rule. */
struct rules_cache {
	__u64 words[RULES_CACHE_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rules_cache);
} rules_caches SEC(".maps");

/* Becomes readable when there is something new in rules_wanted. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* a page, set by user space */
} rules_bell SEC(".maps");

/* A mapping, and the table of its file. */
struct rules_region {
	__u64 process;
	__u64 start;
	__u64 end;
	__u64 to_offset; /* from an address to an offset in the file */
	__u32 is_file;
	__u32 reserved;
	struct rules_file file;
};

struct rules_regions {
	struct rules_region regions[RULES_REGIONS];
	struct vma_node node; /* of find_vma_in_tree() */
	__u64 mm; /* of a task that sleeps, whose stack is walked; 0: current's is */
};

/*
 * User space begins an epoch to learn which tables are in use: whatever is kept of them belongs to
 * a process of an earlier one, so that each table is looked for again.
 */
volatile __u32 rules_epoch = 0;

/* Set by user space while it can make no table, and will look for what is wanted by itself. */
volatile __u32 rules_silent = 0;

/* Of processes by a hash of their start. Two that share a place see more changes than there are. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RULES_PROCESSES);
	__type(key, __u32);
	__type(value, struct rules_unmapped);
} rules_unmapped SEC(".maps");

/* The facts of a mapping, from bpf_find_vma(). */
struct rules_vma {
	__u64 start;
	__u64 end;
	__u64 offset;
	__u32 is_file;
	__u32 is_code;
	struct rules_key key;
};

static __always_inline struct rules_unmapped *rules_unmapped_by(__u64 start)
{
	__u32 place = start * RULES_HASH >> 32 & (RULES_PROCESSES - 1);

	return bpf_map_lookup_elem(&rules_unmapped, &place);
}

/*
 * current looks for room for a mapping. If it has less code than a walk has met, the room may be
 * that of code which was unmapped: what is kept of its mappings does not count any more, though the
 * same size of code may be mapped again. Not seen: a mapping at an address that the process names.
 */
static __always_inline void note_unmapped_code(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct rules_unmapped *unmapped;
	__u32 pages;

	if (!task->mm)
		return;
	unmapped = rules_unmapped_by(task->group_leader->start_boottime);
	pages = task->mm->exec_vm;
	if (!unmapped || pages >= *(volatile __u32 *)&unmapped->most)
		return;
	*(volatile __u32 *)&unmapped->most = pages;
	__sync_fetch_and_add(&unmapped->count, 1);
}

/*
 * A number that stands for the process with its program and its code: one of two that follow each
 * other at the same address has another start, an exec another count, mapped code another size, and
 * what follows unmapped code another count of that. In each epoch it is another one.
 */
static __always_inline __u64 rules_process(struct task_struct *task)
{
	__u64 process = task->group_leader->start_boottime, pages = task->mm->exec_vm;
	volatile struct rules_unmapped *unmapped = rules_unmapped_by(process);

	process = process * RULES_HASH + task->self_exec_id;
	process = process * RULES_HASH + pages;
	if (unmapped) {
		if (pages > unmapped->most)
			unmapped->most = pages;
		process = process * RULES_HASH + unmapped->count;
	}
	return process * RULES_HASH + rules_epoch;
}

/*
 * A number that is another one once the file has been written: of its ctime, since a writer can set
 * the mtime back, and its size, since ctimes may be some ms coarse.
 */
static __always_inline __u64 stamp_of(const struct inode *inode)
{
	const struct inode___before_6_11 *old = (const void *)inode;
	const struct inode___before_6_6 *older = (const void *)inode;
	struct timespec64 ctime = {};

	if (bpf_core_field_exists(inode->i_ctime_sec)) {
		ctime.tv_sec = BPF_CORE_READ(inode, i_ctime_sec);
		/* Whether somebody has asked for it since is not part of it. */
		ctime.tv_nsec = BPF_CORE_READ(inode, i_ctime_nsec) & ~CTIME_QUERIED;
	} else if (bpf_core_field_exists(old->__i_ctime)) {
		ctime = BPF_CORE_READ(old, __i_ctime);
	} else if (bpf_core_field_exists(older->i_ctime)) {
		ctime = BPF_CORE_READ(older, i_ctime);
	}
	return (ctime.tv_sec * 1000000000 + ctime.tv_nsec) * RULES_HASH +
	       BPF_CORE_READ(inode, i_size);
}

static long see_vma(struct task_struct *task, struct vm_area_struct *vma, struct rules_vma *seen)
{
	struct file *file = vma->vm_file;

	seen->start = vma->vm_start;
	seen->end = vma->vm_end;
	seen->offset = vma->vm_pgoff << 12;
	seen->is_code = vma->vm_flags & VM_EXEC;
	if (!file)
		return 0;
	seen->is_file = 1;
	seen->key.ino = file->f_inode->i_ino;
	seen->key.dev = file->f_inode->i_sb->s_dev;
	seen->key.generation = file->f_inode->i_generation;
	seen->key.stamp = stamp_of(file->f_inode);
	return 0;
}

/* The same of a mapping that find_vma_in_tree() has found. */
static __always_inline void see_unlocked_vma(const struct vm_area_struct *vma,
					     struct rules_vma *seen)
{
	struct file *file = BPF_CORE_READ(vma, vm_file);
	struct inode *inode;

	seen->start = BPF_CORE_READ(vma, vm_start);
	seen->end = BPF_CORE_READ(vma, vm_end);
	seen->offset = BPF_CORE_READ(vma, vm_pgoff) << 12;
	seen->is_code = BPF_CORE_READ(vma, vm_flags) & VM_EXEC;
	if (!file)
		return;
	seen->is_file = 1;
	inode = BPF_CORE_READ(file, f_inode);
	seen->key.ino = BPF_CORE_READ(inode, i_ino);
	seen->key.dev = BPF_CORE_READ(inode, i_sb, s_dev);
	seen->key.generation = BPF_CORE_READ(inode, i_generation);
	seen->key.stamp = stamp_of(inode);
}

static __always_inline long see_unlocked(const struct mm_struct *mm, struct vma_node *node,
					 __u64 pc, struct rules_vma *seen)
{
	const struct vm_area_struct *vma = find_vma_in_tree(node, mm, pc);

	if (!vma)
		return -EBUSY;
	see_unlocked_vma(vma, seen);
	return is_vma_of(vma, mm, pc) ? 0 : -EBUSY;
}

/*
 * The mapping of an address. bpf_find_vma() gives the lock back later where interrupts are off, and
 * can do so for one call at a time: beyond that, the tree is read without the lock.
 */
static __always_inline long see_mapping(struct rules_regions *regions, __u64 pc,
					struct rules_vma *seen)
{
	struct task_struct *task = bpf_get_current_task_btf();
	long err;

	if (regions->mm)
		return see_unlocked((void *)regions->mm, &regions->node, pc, seen);
	err = bpf_find_vma(task, pc, see_vma, seen, 0);
	return err == -EBUSY ? see_unlocked(task->mm, &regions->node, pc, seen) : err;
}

/* The vDSO is no file: its table has the key that is all 0. */
static __always_inline void see_vdso(const struct mm_struct *mm, struct rules_vma *seen, __u64 pc)
{
	__u64 vdso = (__u64)BPF_CORE_READ(mm, context.vdso);

	if (seen->is_file || !vdso || pc - vdso >= RULES_VDSO_BYTES)
		return;
	seen->is_file = 1;
	seen->offset = seen->start - vdso;
}

/* The process of a task as the recorder knows it; 0: it does not. Of the object's own. */
static __always_inline __u32 rules_pid(struct task_struct *task);

/* Asks user space for the table of a file that a task has mapped. */
static __always_inline void want_file(struct task_struct *task, const struct rules_vma *seen,
				      __u32 uses)
{
	struct rules_wanted wanted = {
		.start = seen->start,
		.end = seen->end,
		.pid = rules_pid(task),
		.uses = uses,
	};
	struct rules_wanted *known;

	if (!wanted.pid)
		return;
	known = bpf_map_lookup_elem(&rules_wanted, &seen->key);
	if (known) {
		known->uses = uses == RULES_MET ? uses : known->uses + uses;
		return;
	}
	if (!bpf_map_update_elem(&rules_wanted, &seen->key, &wanted, BPF_NOEXIST) && !rules_silent)
		bpf_ringbuf_output(&rules_bell, &wanted.pid, sizeof(wanted.pid),
				   BPF_RB_FORCE_WAKEUP);
}

/* A task has code mapped that its walks may meet: its table is made before they do. */
static __always_inline void expect_file(struct task_struct *task, const struct rules_vma *seen)
{
	if (seen->is_file && seen->is_code && !bpf_map_lookup_elem(&rules_files, &seen->key))
		want_file(task, seen, 1);
}

static __always_inline void expect_mapping(struct task_struct *task, struct vm_area_struct *vma)
{
	struct rules_vma seen = {};

	see_vma(task, vma, &seen);
	expect_file(task, &seen);
}

/* The same of a program that current has just become, and of its interpreter, which runs first. */
static __always_inline void expect_program(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct rules_vma program = {}, interpreter = {};

	bpf_find_vma(task, BPF_CORE_READ(task, mm, start_code), see_vma, &program, 0);
	expect_file(task, &program);
	bpf_find_vma(task, user_pc(regs), see_vma, &interpreter, 0);
	expect_file(task, &interpreter);
}

/* Looks for the mapping of an address. 0, or the rule that tells what is missing. */
static __always_inline __u32 find_region(struct rules_regions *regions, struct rules_region *region,
					 __u64 process, __u64 pc)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct rules_vma seen = {};
	struct rules_file *file;
	long err = see_mapping(regions, pc, &seen);

	region->process = 0;
	if (err && err != -ENOENT)
		return RULES_BUSY;
	if (!seen.is_code)
		return RULES_NO_CODE;
	see_vdso(regions->mm ? (void *)regions->mm : task->mm, &seen, pc);
	if (seen.is_file) {
		file = bpf_map_lookup_elem(&rules_files, &seen.key);
		if (!file) {
			if (!regions->mm)
				want_file(task, &seen, RULES_MET);
			return RULES_NO_TABLE;
		}
		if (file->epoch != rules_epoch)
			file->epoch = rules_epoch;
		if (file->index >= RULES_FORBIDDEN) {
			if (file->start && !regions->mm)
				want_file(task, &seen, RULES_MET);
			return file->index == RULES_FORBIDDEN ? RULES_NO_ACCESS : RULES_NO_TABLE;
		}
		region->file = *file;
	}
	region->start = seen.start;
	region->end = seen.end;
	region->to_offset = seen.offset - seen.start;
	region->is_file = seen.is_file;
	region->process = process;
	return 0;
}

static __always_inline struct rules_slab *slab_of(__u32 place)
{
	__u32 nr = place >> RULES_SLAB_SHIFT, zero = 0;
	void *slab = bpf_map_lookup_elem(&rules_slabs, &nr);

	return slab ? bpf_map_lookup_elem(slab, &zero) : NULL;
}

/* The last of nr rows from place on that begins at or before the byte of a page. */
static __always_inline __u32 search_rows(__u32 place, __u32 nr, __u32 byte)
{
	const struct rules_slab *slab = slab_of(place);
	__u32 half;

	if (!slab)
		return CFI_RULE(CFI_SPECIAL, CFI_NONE);
	for (int i = 0; i < CFI_PAGE_SHIFT; i++) {
		if (nr <= 1)
			break;
		half = nr >> 1;
		if (slab->words[(place + half) & (RULES_SLAB_WORDS - 1)] >> 24 <= byte) {
			place += half;
			nr -= half;
		} else {
			nr = half;
		}
	}
	return slab->words[place & (RULES_SLAB_WORDS - 1)] & CFI_RULE_MASK;
}

static __always_inline __u32 search_table(const struct rules_region *region, __u64 pc)
{
	const struct rules_file *file = &region->file;
	__u64 offset = pc + region->to_offset - file->start;
	const struct rules_slab *slab;
	__u32 word, place, rule;

	if (!region->is_file)
		return CFI_RULE(CFI_SPECIAL, CFI_NO_FILE);
	if (offset >> CFI_PAGE_SHIFT >= file->nr_pages)
		return CFI_RULE(CFI_SPECIAL, CFI_NONE);
	place = file->index + (__u32)(offset >> CFI_PAGE_SHIFT);
	slab = slab_of(place);
	if (!slab)
		return CFI_RULE(CFI_SPECIAL, CFI_NONE);
	word = slab->words[place & (RULES_SLAB_WORDS - 1)];
	rule = search_rows(file->index + (word & CFI_RULE_MASK), word >> 24,
			   offset & (CFI_PAGE_SIZE - 1));
	return rule >> CFI_KIND_SHIFT == CFI_WIDE ? rule + file->wides : rule;
}

/* The rule of an address, looked up in its mapping. */
static __always_inline __u32 look_up_user_rule(struct rules_regions *regions, __u64 process,
					       __u64 pc)
{
	__u64 hash = ((pc >> RULES_REGION_SHIFT) ^ process) * RULES_HASH;
	struct rules_region *region = &regions->regions[hash >> 32 & (RULES_REGIONS - 1)];
	__u32 missing;

	if (region->process != process || pc < region->start || pc >= region->end) {
		missing = find_region(regions, region, process, pc);
		if (missing)
			return missing;
	}
	return search_table(region, pc) & CFI_RULE_MASK;
}

static __always_inline struct rules_cache *rules_cache(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&rules_caches, &zero);
}

/* The rule of an address of a process, if the cache has it, else RULES_UNCACHED. */
static __always_inline __u32 cached_user_rule(struct rules_cache *cache, __u64 process, __u64 pc)
{
	__u64 hash = (pc ^ process) * RULES_HASH;
	__u64 word = *(volatile __u64 *)&cache->words[hash >> 48];

	return (word ^ hash << 16) >> RULES_TAG_SHIFT ? RULES_UNCACHED : word & CFI_RULE_MASK;
}

/*
 * The rule of an address of process, which is current's or that of regions->mm; regions is room of
 * this CPU that is not in use. Caches the rule. A global function, so that the verifier follows it
 * once.
 */
__noinline int find_user_rule(struct rules_regions *regions, __u64 process, __u64 pc)
{
	__u64 hash = (pc ^ process) * RULES_HASH;
	struct rules_cache *cache;
	__u32 rule;

	if (!regions || !has_user_walk)
		return CFI_RULE(CFI_SPECIAL, CFI_NONE);
	cache = rules_cache();
	if (!cache)
		return CFI_RULE(CFI_SPECIAL, CFI_NONE);
	rule = look_up_user_rule(regions, process, pc);
	if (rule < RULES_NO_TABLE || rule > RULES_NO_CODE)
		*(volatile __u64 *)&cache->words[hash >> 48] =
			(hash << 16 & ~(__u64)CFI_RULE_MASK) | rule;
	return rule;
}

#endif /* DENET_USER_RULES_BPF_H */
