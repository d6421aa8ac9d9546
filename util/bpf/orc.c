/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/orc.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "bpf/task_iter.h"
#include "bpf/vmlinux_btf.h"
#include "host/kallsyms.h"

/* The numbers of the registers in the entry of __schedule(), which saves bp below the CFA. */
#define REG_PREV_SP 1
#define NEW_REG_PREV_SP 8
#define REG_BP 4 /* in both numberings */
#define FRAME_MAX 512 /* bytes that its frame can have; it is some 100 */
/* As in assembly: code that replaces return addresses on the stack is no longer than this. */
#define STOP_BYTES 128

void orc_format__read(struct orc_format *format, const struct vmlinux_btf *btf,
		      const struct btf_type *type)
{
	const struct btf_member *members, *member;

	*format = (struct orc_format){ .end_shift = WIRE_ORC_NO_END };
	if (!type || type->size != 6)
		return;
	members = (const struct btf_member *)(type + 1);
	for (member = members; member < members + BTF_INFO_VLEN(type->info); member++) {
		const char *name = vmlinux_btf__name(btf, member->name_off);
		uint32_t bit = BTF_MEMBER_BIT_OFFSET(member->offset);
		uint32_t size = BTF_MEMBER_BITFIELD_SIZE(member->offset);

		/* Bit fields, which alone have a size here, behind the two offsets of 16 bits. */
		if (!BTF_INFO_KFLAG(type->info) || bit < 32 || size == 0 || size > 4)
			continue;
		if (!strcmp(name, "type")) {
			format->type_shift = (uint8_t)(bit - 32);
			format->type_mask = (uint8_t)((1U << size) - 1);
			format->known = true;
		} else if (!strcmp(name, "end")) {
			format->end_shift = (uint8_t)(bit - 32);
		}
	}
}

/* Frame sizes of sleeping tasks. __switch_to_asm() is called at one place, so all should agree. */
struct votes {
	struct wire_orc_sleeper first;
	int64_t frame; /* bytes from sp to the CFA, of the first */
	size_t same;
	size_t others;
};

/* The registers of an entry: nibbles behind the two offsets. */
static uint8_t sp_reg(const struct wire_orc_sleeper *sleeper)
{
	return (uint8_t)(sleeper->entry >> 32) & 15;
}

static uint8_t bp_reg(const struct wire_orc_sleeper *sleeper)
{
	return (uint8_t)(sleeper->entry >> 36) & 15;
}

/* The bytes from its stack pointer to its CFA: bp counts where __schedule() has a frame pointer. */
static int64_t frame_of(const struct wire_orc_sleeper *sleeper)
{
	int16_t offset = (int16_t)sleeper->entry;

	return sp_reg(sleeper) == REG_BP ? (int64_t)(sleeper->bp - sleeper->sp) + offset : offset;
}

/* A task_iter_fn. */
static int count_vote(void *ctx, const void *data, size_t size)
{
	struct wire_orc_sleeper sleeper;
	struct votes *votes = ctx;

	for (size_t at = 0; at + sizeof(sleeper) <= size; at += sizeof(sleeper)) {
		memcpy(&sleeper, (const char *)data + at, sizeof(sleeper));
		if (!votes->same) {
			votes->first = sleeper;
			votes->frame = frame_of(&sleeper);
		}
		if (sleeper.ret == votes->first.ret && frame_of(&sleeper) == votes->frame)
			votes->same++;
		else
			votes->others++;
	}
	return 0;
}

/* True if the votes make sense: a task that wakes up meanwhile may give any value. */
static bool is_elected(const struct votes *votes)
{
	uint8_t bp = bp_reg(&votes->first);
	int16_t bp_offset = (int16_t)(votes->first.entry >> 16);

	return votes->same >= 2 && votes->others <= votes->same / 8 &&
	       (bp == REG_PREV_SP || bp == NEW_REG_PREV_SP) && bp_offset < 0 &&
	       votes->frame > 0 && votes->frame <= FRAME_MAX && !(votes->frame & 7) &&
	       !(bp_offset & 7) && -bp_offset <= votes->frame;
}

/* Learns where __schedule() leaves a task, and the numbers of registers. 0 or a negative errno. */
static int learn_from_sleepers(struct orc *orc)
{
	struct votes votes = { 0 };
	int err = task_iter__run(orc->sleepers, count_vote, &votes);

	if (err)
		return err;
	pr_debug("ORC: %zu sleepers return to __schedule at %" PRIx64 " with a frame of %" PRId64
		 " bytes, %zu do not; its entry is %" PRIx64,
		 votes.same, (uint64_t)votes.first.ret, votes.frame, votes.others,
		 (uint64_t)votes.first.entry);
	if (!is_elected(&votes))
		return -EOPNOTSUPP;
	orc->shared->switch_ret = votes.first.ret;
	orc->shared->frame_words = (uint32_t)votes.frame / 8;
	orc->shared->frame_bp = (int16_t)(votes.first.entry >> 16) / 8;
	orc->shared->renumbered = bp_reg(&votes.first) == NEW_REG_PREV_SP;
	return 0;
}

/*
 * Finds a trampoline that replaces return addresses; none: an empty range. The walk looks up a
 * return address minus 1. The trampoline's first address is such a return address, so the range
 * begins one byte before it.
 */
static void find_stop(struct orc *orc, const struct kallsyms *kallsyms, const char *name,
		      const char *old_name, int i)
{
	uint64_t start = 0, end = 0;

	if (kallsyms__range(kallsyms, name, &start, &end) &&
	    kallsyms__range(kallsyms, old_name, &start, &end))
		start = 0;
	orc->shared->stops[2 * i] = start ? start - 1 : 0;
	orc->shared->stops[2 * i + 1] = start ? start + STOP_BYTES : 0;
}

/* Finds the code between two symbols; an empty range if the kernel lacks one of them. */
static void find_section(struct orc *orc, const struct kallsyms *kallsyms, const char *from,
			 const char *to, int i)
{
	uint64_t start = 0, end = 0, next;

	if (kallsyms__range(kallsyms, from, &start, &next) ||
	    kallsyms__range(kallsyms, to, &end, &next))
		start = end = 0;
	orc->shared->scheduler[2 * i] = start;
	orc->shared->scheduler[2 * i + 1] = end;
}

static int find_functions(struct orc *orc, const struct kallsyms *kallsyms)
{
	uint64_t start, end;

	if (kallsyms__range(kallsyms, "__schedule", &start, &end))
		return -EOPNOTSUPP;
	orc->shared->schedule_start = start;
	orc->shared->schedule_end = end;
	if (kallsyms__range(kallsyms, "do_syscall_64", &start, &end))
		return -EOPNOTSUPP;
	orc->shared->syscall_start = start;
	orc->shared->syscall_end = end;
	find_stop(orc, kallsyms, "return_to_handler", "return_to_handler", 0);
	find_stop(orc, kallsyms, "arch_rethook_trampoline", "__kretprobe_trampoline", 1);
	find_section(orc, kallsyms, "__sched_text_start", "__sched_text_end", 0);
	find_section(orc, kallsyms, "__lock_text_start", "__lock_text_end", 1);
	return 0;
}

/* Finds the tables, and the layout of their entries. */
static int find_tables(struct orc *orc, const struct orc_format *format,
		       const struct kallsyms *kallsyms)
{
	const struct kallsyms_bounds *bounds = kallsyms__bounds(kallsyms);

	if (!format->known || !bounds->orc_ips || bounds->orc_ips_end <= bounds->orc_ips ||
	    !bounds->orc_entries || !bounds->stext || bounds->etext <= bounds->stext)
		return -EOPNOTSUPP;
	orc->shared->vmlinux.start = bounds->stext;
	orc->shared->vmlinux.end = bounds->etext;
	orc->shared->vmlinux.ips = bounds->orc_ips;
	orc->shared->vmlinux.entries = bounds->orc_entries;
	orc->shared->vmlinux.nr = (bounds->orc_ips_end - bounds->orc_ips) / sizeof(int32_t);
	orc->shared->type_shift = format->type_shift;
	orc->shared->type_mask = format->type_mask;
	orc->shared->end_shift = format->end_shift;
	return find_functions(orc, kallsyms);
}

/* Compares both walks for all sleeping tasks: only a walk without differences is used. */
static int prove(struct orc *orc)
{
	int err = task_iter__run(orc->check, NULL, NULL);

	pr_debug("ORC: both walks found the same for %" PRIu64 " sleepers, not so for %" PRIu64,
		 *orc->same, *orc->differ);
	if (!err && *orc->differ)
		err = -EILSEQ;
	if (!err && !*orc->same)
		err = -EOPNOTSUPP;
	orc->shared->ready = !err;
	return err;
}

static int set_up(struct orc *orc, const struct orc_format *format, const struct kallsyms *kallsyms)
{
	int err;

	if (!kallsyms || kallsyms__hidden(kallsyms))
		return -EPERM;
	err = find_tables(orc, format, kallsyms);
	if (!err)
		err = learn_from_sleepers(orc);
	if (err)
		return err;
	/* Modules may be unreadable: their frames are then left to the kernel. */
	orc->epoch = orc->shared->epoch - 1;
	orc__update(orc);
	return prove(orc);
}

static const char *why_not(int err)
{
	switch (err) {
	case -EPERM:
		return "the kernel hides its addresses";
	case -EOPNOTSUPP:
		return "they are of a form that is not known";
	case -EILSEQ:
		return "for threads that sleep the two did not agree";
	default:
		return strerror(-err);
	}
}

int orc__start(struct orc *orc, const struct orc_format *format, const struct kallsyms *kallsyms)
{
	int err = set_up(orc, format, kallsyms);

	if (err)
		pr_verbose("kernel stacks are walked by the kernel, not by its ORC tables: %s",
			   why_not(err));
	return err;
}

/* The address of a module's struct module, given in sysfs as that of a section. */
static int read_address(const char *path, uint64_t *address)
{
	FILE *file = fopen(path, "re");
	int nr;

	if (!file)
		return -errno;
	nr = fscanf(file, "%" SCNx64, address);
	fclose(file);
	return nr == 1 && *address ? 0 : -EPERM;
}

static int read_module(struct orc *orc, const char *path, struct wire_orc_table *table)
{
	struct wire_orc_module module = { 0 };
	uint64_t address = 0;
	/* The kernel writes the context of such a program back, and refuses another one for it. */
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = &module, .ctx_size_in = sizeof(module));
	int err = read_address(path, &address);

	if (err)
		return err;
	module.module = address;
	err = bpf_prog_test_run_opts(bpf_program__fd(orc->read_module), &run);
	*table = module.table;
	return err < 0 ? err : 0;
}

static int compare_tables(const void *a, const void *b)
{
	const struct wire_orc_table *first = a, *second = b;

	return first->start < second->start ? -1 : first->start > second->start;
}

/* The tables of all modules, sorted. Their number or a negative errno. */
static int read_modules(struct orc *orc, struct wire_orc_table *tables)
{
	glob_t paths;
	int nr = 0;

	if (glob("/sys/module/*/sections/.gnu.linkonce.this_module", GLOB_NOSORT, NULL, &paths))
		return 0;
	for (size_t i = 0; i < paths.gl_pathc && nr < WIRE_MAX_ORC_MODULES; i++) {
		if (!read_module(orc, paths.gl_pathv[i], &tables[nr]) && tables[nr].nr)
			nr++;
	}
	globfree(&paths);
	qsort(tables, (size_t)nr, sizeof(*tables), compare_tables);
	return nr;
}

/* Writes the tables for the programs; no rule is cached meanwhile. */
static int write_modules(struct orc *orc, const struct wire_orc_table *tables, int nr)
{
	int err = 0;

	for (__u32 i = 0; i < (__u32)nr && !err; i++)
		err = bpf_map__update_elem(orc->modules, &i, sizeof(i), &tables[i],
					   sizeof(tables[i]), BPF_ANY);
	return err;
}

int orc__update(struct orc *orc)
{
	uint32_t epoch = __atomic_load_n(&orc->shared->epoch, __ATOMIC_SEQ_CST);
	struct wire_orc_table *tables;
	int nr, err;

	if (epoch == orc->epoch)
		return 0;
	tables = calloc(WIRE_MAX_ORC_MODULES, sizeof(*tables));
	if (!tables)
		return -ENOMEM;
	orc->shared->nr_modules = 0;
	epoch = __atomic_add_fetch(&orc->shared->epoch, 1, __ATOMIC_SEQ_CST);
	nr = read_modules(orc, tables);
	err = write_modules(orc, tables, nr);
	pr_debug("ORC: the tables of %d modules are known", nr);
	/* Modules may have been loaded or removed: the next lookup reads their tables again. */
	orc->shared->nr_modules = err ? 0 : (uint32_t)nr;
	if (__atomic_compare_exchange_n(&orc->shared->epoch, &epoch, epoch + 1, false,
					__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
		orc->epoch = epoch + 1;
	} else {
		orc->shared->nr_modules = 0;
		__atomic_add_fetch(&orc->shared->epoch, 1, __ATOMIC_SEQ_CST);
	}
	memset(orc->rules, 0, WIRE_ORC_RULES * sizeof(*orc->rules));
	free(tables);
	return err;
}
