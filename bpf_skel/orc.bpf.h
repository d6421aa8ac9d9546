/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ORC rules: how to get from a kernel frame to its caller's (Documentation/arch/x86/orc-unwinder of
 * the kernel). The kernel's own tables are searched once for each return address; the rule found is
 * cached in one word of a direct-mapped cache.
 */
#ifndef DENET_ORC_BPF_H
#define DENET_ORC_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "wire.h"

/* How a frame finds its caller's stack pointer (the CFA). */
enum orc_kind {
	ORC_UNKNOWN = 0,  /* no table, an unknown rule, or not to be walked by rules */
	ORC_SP = 1,	  /* sp + offset */
	ORC_BP = 2,	  /* bp + offset */
	ORC_INDIRECT = 3, /* the word at bp + offset; a function that realigns its stack */
	ORC_REGS = 4,	  /* registers of an exception or of user space lie at sp + offset */
	ORC_SYSCALL = 5,  /* do_syscall_64(), which has one caller */
	ORC_END = 6,	  /* outermost */
};

/* Registers of an orc_entry, and their numbers since 7.3. */
#define ORC_REG_PREV_SP 1U
#define ORC_REG_BP 4U
#define ORC_REG_SP 5U
#define ORC_REG_BP_INDIRECT 8U
#define ORC_NEW_REG_SP 3U
#define ORC_NEW_REG_PREV_SP 8U
#define ORC_NEW_REG_BP_INDIRECT 10U

#define NIBBLE(place, value) ((__u64)(value) << (4 * (place)))

/* Types of an orc_entry, as 6.4 and later number them. */
#define ORC_TYPE_UNDEFINED 0U
#define ORC_TYPE_END_OF_STACK 1U
#define ORC_TYPE_CALL 2U
#define ORC_TYPE_REGS 3U
/* Before that CALL was 0, and a flag told the end. */
#define ORC_OLD_TYPES 2U

#define ORC_SEARCH_STEPS 24 /* tables have less than 2^24 entries */

/*
 * A rule in one word, so that it is read and replaced whole: bits 0-31 the lower half of the key,
 * 32-43 the offset of the CFA and 44-55 that of the saved bp, both signed and in words, 56-63 the
 * kind. A saved bp at offset 0 from the CFA cannot be: it stands for "bp is as it was".
 */
#define RULE_CFA_SHIFT 32
#define RULE_BP_SHIFT 44
#define RULE_KIND_SHIFT 56

volatile struct wire_orc orc;
volatile __u64 orc_rules[WIRE_ORC_RULES];

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_MAX_ORC_MODULES);
	__type(key, __u32);
	__type(value, struct wire_orc_table);
} orc_modules SEC(".maps");

/* An orc_entry, unpacked as far as all kernels agree. */
struct orc_entry {
	__s16 sp_offset;
	__s16 bp_offset;
	__u16 bits;
} __attribute__((packed));

static __always_inline __u32 rule_kind(__u64 rule)
{
	return (__u32)(rule >> RULE_KIND_SHIFT);
}

/* Twelve bits of a rule: a signed number of words, as bytes. */
static __always_inline __s32 rule_offset(__u64 rule, __u32 shift)
{
	return (__s32)((__u32)(rule >> shift) << 20) >> 17;
}

static __always_inline __u32 rule_place(__u64 key)
{
	return (__u32)((key * 0x9e3779b97f4a7c15ULL) >> 32) & (WIRE_ORC_RULES - 1);
}

/* The table's entry for an address. False: it cannot be read. */
static __always_inline bool find_orc_entry(const struct wire_orc_table *table, __u64 ip,
					   struct orc_entry *entry)
{
	__u64 low = 0, high = table->nr, middle, at;
	__s32 offset;

	if (!high)
		return false;
	for (int i = 0; i < ORC_SEARCH_STEPS && high - low > 1; i++) {
		middle = (low + high) / 2;
		at = table->ips + middle * sizeof(offset);
		if (bpf_probe_read_kernel(&offset, sizeof(offset), (const void *)at))
			return false;
		if (at + offset <= ip)
			low = middle;
		else
			high = middle;
	}
	at = table->entries + low * sizeof(*entry);
	return !bpf_probe_read_kernel(entry, sizeof(*entry), (const void *)at);
}

/* The module that an address lies in. False: none that is known. */
static __always_inline bool find_orc_module(__u64 ip, struct wire_orc_table *table)
{
	__u32 low = 0, high = orc.nr_modules, middle;
	struct wire_orc_table *found;

	for (int i = 0; i < 10 && low < high; i++) {
		middle = (low + high) / 2;
		found = bpf_map_lookup_elem(&orc_modules, &middle);
		if (!found)
			return false;
		if (ip >= found->start && ip < found->end) {
			*table = *found;
			return true;
		}
		if (ip < found->start)
			high = middle;
		else
			low = middle + 1;
	}
	return false;
}

/*
 * The number that a register of Linux 7.3 had before. A table in one word, since the verifier would
 * follow each case of a switch separately.
 */
static __always_inline __u32 old_register(__u32 reg)
{
	const __u64 known = NIBBLE(0, 15) | NIBBLE(ORC_NEW_REG_SP, 15) | NIBBLE(ORC_REG_BP, 15) |
			    NIBBLE(ORC_NEW_REG_PREV_SP, 15) | NIBBLE(ORC_NEW_REG_BP_INDIRECT, 15);
	const __u64 olds = NIBBLE(ORC_NEW_REG_SP, ORC_REG_SP) | NIBBLE(ORC_REG_BP, ORC_REG_BP) |
			   NIBBLE(ORC_NEW_REG_PREV_SP, ORC_REG_PREV_SP) |
			   NIBBLE(ORC_NEW_REG_BP_INDIRECT, ORC_REG_BP_INDIRECT);

	/* All others become 15, which is no register: all bits of a nibble. */
	return (__u32)((~known | olds) >> (4 * (reg & 15))) & 15;
}

/* The type of an entry in today's numbers. */
static __always_inline __u32 orc_type(__u16 bits, __u32 sp_reg)
{
	__u32 type = (bits >> (orc.type_shift & 15)) & orc.type_mask;

	if (orc.end_shift == WIRE_ORC_NO_END)
		return type;
	if (sp_reg)
		return type + ORC_OLD_TYPES;
	return (bits >> (orc.end_shift & 15)) & 1 ? ORC_TYPE_END_OF_STACK : ORC_TYPE_UNDEFINED;
}

/* Offsets are whole words, and fit into twelve bits. */
static __always_inline bool fits_rule(__s16 offset)
{
	return !(offset & 7) && offset >= -2048 * 8 && offset < 2048 * 8;
}

/* Makes a rule of an entry, without its key. */
static __always_inline __u64 rule_of_entry(const struct orc_entry *entry)
{
	__u32 sp_reg = entry->bits & 15, bp_reg = (entry->bits >> 4) & 15;
	__u32 type = orc_type(entry->bits, sp_reg);
	__u64 kind = ORC_UNKNOWN;
	__s16 bp_offset;

	if (orc.renumbered) {
		sp_reg = old_register(sp_reg);
		bp_reg = old_register(bp_reg);
	}
	if (type == ORC_TYPE_END_OF_STACK)
		return (__u64)ORC_END << RULE_KIND_SHIFT;
	if (type == ORC_TYPE_REGS && sp_reg == ORC_REG_SP)
		kind = ORC_REGS;
	else if (type == ORC_TYPE_CALL && sp_reg == ORC_REG_SP)
		kind = ORC_SP;
	else if (type == ORC_TYPE_CALL && sp_reg == ORC_REG_BP)
		kind = ORC_BP;
	else if (type == ORC_TYPE_CALL && sp_reg == ORC_REG_BP_INDIRECT && bp_reg == ORC_REG_BP)
		kind = ORC_INDIRECT;
	bp_offset = bp_reg ? entry->bp_offset : 0;
	if (!fits_rule(entry->sp_offset) || !fits_rule(bp_offset))
		return 0;
	/* The caller's bp was saved below its CFA; that of an exception is in its registers. */
	if (kind != ORC_INDIRECT && kind != ORC_REGS && bp_reg &&
	    (bp_reg != ORC_REG_PREV_SP || !bp_offset))
		return 0;
	return kind << RULE_KIND_SHIFT |
	       ((__u64)((__u32)entry->sp_offset >> 3) & 0xfff) << RULE_CFA_SHIFT |
	       ((__u64)((__u32)bp_offset >> 3) & 0xfff) << RULE_BP_SHIFT;
}

static __always_inline bool is_stop(__u64 ip)
{
	return (ip >= orc.stops[0] && ip < orc.stops[1]) ||
	       (ip >= orc.stops[2] && ip < orc.stops[3]);
}

/* The rule for an address, from the tables; 0 is ORC_UNKNOWN. */
static __always_inline __u64 look_up_rule(__u64 ip)
{
	struct wire_orc_table table;
	struct orc_entry entry;

	if (ip >= orc.syscall_start && ip < orc.syscall_end)
		return (__u64)ORC_SYSCALL << RULE_KIND_SHIFT;
	if (is_stop(ip))
		return 0;
	table.start = orc.vmlinux.start;
	table.end = orc.vmlinux.end;
	table.ips = orc.vmlinux.ips;
	table.entries = orc.vmlinux.entries;
	table.nr = orc.vmlinux.nr;
	if ((ip < table.start || ip >= table.end) && !find_orc_module(ip, &table))
		return 0;
	return find_orc_entry(&table, ip, &entry) ? rule_of_entry(&entry) : 0;
}

/*
 * Finds the rule for a key and caches it. A rule from a module's table is cached only if no module
 * was loaded or removed meanwhile, on any CPU: module_gone clears the cache after it has changed
 * the epoch. A global function, so that the verifier checks it once.
 */
__noinline int learn_rule(__u64 key)
{
	__u32 epoch = orc.epoch, place = rule_place(key);

	orc_rules[place] = look_up_rule(key - 1) | (__u32)key;
	if (orc.epoch != epoch)
		orc_rules[place] = 0;
	return 0;
}

/*
 * The rule of a frame, if it is cached. key: the address behind the instruction, which a return
 * address is already. Kernel text lies in the last 4 GB, so the lower half identifies an address;
 * elsewhere no rule is known. False: learn_rule() is to be called first.
 */
static __always_inline bool find_rule(__u64 key, __u64 *rule)
{
	*rule = orc_rules[rule_place(key)];
	if (key >> 32 != 0xffffffff) {
		*rule = 0;
		return true;
	}
	return (__u32)*rule == (__u32)key;
}

#define FORGET_STRETCH 256U

/* A global function, so that the verifier follows its loop once. */
__noinline int forget_stretch(__u32 from)
{
	for (__u32 i = 0; i < FORGET_STRETCH; i++)
		orc_rules[(from + i) & (WIRE_ORC_RULES - 1)] = 0;
	return 0;
}

/* Called when a module's code was removed or replaced: no cached rule is valid any more. */
static __always_inline void forget_rules(void)
{
	for (__u32 from = 0; from < WIRE_ORC_RULES; from += FORGET_STRETCH)
		forget_stretch(from);
}

/* Called before a module is removed: no module's table is searched until they are read again. */
static __always_inline void forget_modules(void)
{
	orc.nr_modules = 0;
	__sync_fetch_and_add(&orc.epoch, 1);
	forget_rules();
}

/* Reads where a module's code and its table lie. 0 or a negative errno. */
static __always_inline int read_orc_module(struct wire_orc_module *out)
{
	const struct module *module = (const struct module *)out->module;
	const struct module___before_6_4 *old = (const void *)module;
	struct wire_orc_table table = {};

	if (bpf_core_field_exists(module->mem)) {
		table.start = (__u64)BPF_CORE_READ(module, mem[0].base);
		table.end = table.start + BPF_CORE_READ(module, mem[0].size);
	} else {
		table.start = (__u64)BPF_CORE_READ(old, core_layout.base);
		table.end = table.start + BPF_CORE_READ(old, core_layout.text_size);
	}
	table.ips = (__u64)BPF_CORE_READ(module, arch.orc_unwind_ip);
	table.entries = (__u64)BPF_CORE_READ(module, arch.orc_unwind);
	table.nr = BPF_CORE_READ(module, arch.num_orcs);
	/* Of one that goes, the memory may be another's soon. */
	if (BPF_CORE_READ(module, state) >= MODULE_STATE_GOING)
		table.nr = 0;
	out->table = table;
	return 0;
}

#endif /* DENET_ORC_BPF_H */
