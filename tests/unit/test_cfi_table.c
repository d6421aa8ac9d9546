/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Our rules for call frame information against libdw's answers: both are evaluated for a machine
 * whose registers and memory have made-up values, and must find the same caller.
 */
#include "cfi/cfi_table.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "common/harness.h"
#include "cfi/cfi_rows.h"

#ifdef __x86_64__

#define RBP 6
#define RSP 7
#define RIP 16
#define STACK_MAX 16
#define RANDOM_PCS 20000

/* The made-up machine: all numbers differ, and memory is a function of its address. */
static uint64_t reg_value(uint64_t number, uint64_t pc)
{
	return number == RIP ? pc : 0x7ff000000000ULL + number * 0x100000;
}

static uint64_t memory_at(uint64_t address)
{
	uint64_t x = address * 0x9e3779b97f4a7c15ULL;

	return x ^ x >> 29;
}

struct caller {
	bool known; /* there is frame information */
	bool supported;
	bool outermost;
	bool signal;
	uint64_t cfa;
	uint64_t ra;
	bool has_bp;
	uint64_t bp;
};

/* Evaluates DWARF operations. False: one of them is not known here. */
static bool evaluate(const Dwarf_Op *ops, size_t nr, uint64_t pc, uint64_t cfa, uint64_t *value,
		     bool *is_value)
{
	uint64_t stack[STACK_MAX];
	size_t top = 0;

	*is_value = false;
	for (size_t i = 0; i < nr; i++) {
		const Dwarf_Op *op = &ops[i];

		if (top + 1 >= STACK_MAX)
			return false;
		if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
			stack[top++] = reg_value(op->atom - DW_OP_breg0, pc) + op->number;
			continue;
		}
		if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
			stack[top++] = op->atom - DW_OP_lit0;
			continue;
		}
		switch (op->atom) {
		case DW_OP_bregx:
			stack[top++] = reg_value(op->number, pc) + op->number2;
			break;
		case DW_OP_regx:
			stack[top++] = reg_value(op->number, pc);
			*is_value = true;
			break;
		case DW_OP_call_frame_cfa:
			stack[top++] = cfa;
			break;
		case DW_OP_plus_uconst:
			stack[top - 1] += op->number;
			break;
		case DW_OP_deref:
			stack[top - 1] = memory_at(stack[top - 1]);
			break;
		case DW_OP_stack_value:
			*is_value = true;
			break;
		case DW_OP_plus:
			top--;
			stack[top - 1] += stack[top];
			break;
		case DW_OP_and:
			top--;
			stack[top - 1] &= stack[top];
			break;
		case DW_OP_shl:
			top--;
			stack[top - 1] <<= stack[top];
			break;
		case DW_OP_ge:
			top--;
			stack[top - 1] = (int64_t)stack[top - 1] >= (int64_t)stack[top];
			break;
		default:
			if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
				stack[top++] = reg_value(op->atom - DW_OP_reg0, pc);
				*is_value = true;
				break;
			}
			return false;
		}
	}
	if (!top)
		return false;
	*value = stack[top - 1];
	return true;
}

/* The caller's value of a register, by libdw. False: it is lost. */
static bool register_by_libdw(Dwarf_Frame *frame, int number, uint64_t pc, uint64_t cfa,
			      uint64_t *value, bool *undefined)
{
	Dwarf_Op room[3], *ops = NULL;
	size_t nr = 0;
	bool is_value;

	*undefined = false;
	if (dwarf_frame_register(frame, number, room, &ops, &nr))
		return false;
	if (!nr) {
		*undefined = ops == room;
		*value = reg_value((uint64_t)number, pc);
		return !*undefined;
	}
	if (!evaluate(ops, nr, pc, cfa, value, &is_value))
		return false;
	if (!is_value)
		*value = memory_at(*value);
	return true;
}

static struct caller ask_libdw(Dwarf_CFI *cfi, uint64_t pc)
{
	struct caller caller = { .known = false };
	Dwarf_Addr start, end;
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	bool undefined, is_value;
	size_t nr;

	if (!cfi || dwarf_cfi_addrframe(cfi, pc, &frame))
		return caller;
	caller.known = true;
	dwarf_frame_info(frame, &start, &end, &caller.signal);
	caller.supported = !dwarf_frame_cfa(frame, &ops, &nr) &&
			   evaluate(ops, nr, pc, 0, &caller.cfa, &is_value);
	if (!register_by_libdw(frame, RIP, pc, caller.cfa, &caller.ra, &caller.outermost))
		caller.supported = false;
	caller.has_bp = register_by_libdw(frame, RBP, pc, caller.cfa, &caller.bp, &undefined);
	free(frame);
	return caller;
}

static void apply_wide(const struct cfi_wide *wide, uint64_t pc, struct caller *caller)
{
	uint64_t place = reg_value(wide->reg, pc) + (uint64_t)(int64_t)wide->cfa_offset;

	if (wide->cfa == CFI_CFA_REGISTER)
		caller->cfa = place;
	else if (wide->cfa == CFI_CFA_DEREF)
		caller->cfa = memory_at(place) + (uint64_t)(int64_t)wide->cfa_add;
	else
		caller->cfa = reg_value(RSP, pc) + 8 +
			      ((pc & 15) >= (uint64_t)wide->cfa_offset ? 8 : 0);
	if (wide->ra == CFI_RA_REGISTER)
		caller->ra = reg_value((uint64_t)wide->ra_offset, pc);
	else
		caller->ra = memory_at(caller->cfa + (uint64_t)(int64_t)wide->ra_offset);
	caller->has_bp = wide->bp != CFI_BP_LOST;
	if (wide->bp == CFI_BP_AT_CFA)
		caller->bp = memory_at(caller->cfa + (uint64_t)(int64_t)wide->bp_offset);
	else if (wide->bp == CFI_BP_AT_BP)
		caller->bp = memory_at(reg_value(RBP, pc) + (uint64_t)(int64_t)wide->bp_offset);
}

static struct caller apply(uint32_t rule, const struct cfi_wide *wides, uint64_t pc)
{
	struct caller caller = { .known = true, .supported = true, .has_bp = true };
	uint32_t kind = rule >> CFI_KIND_SHIFT, value = rule & CFI_VALUE_MASK;
	uint32_t bp = value % CFI_BP_WORDS;

	caller.bp = reg_value(RBP, pc);
	switch (kind) {
	case CFI_SPECIAL:
		caller.known = value != CFI_NONE;
		caller.supported = value != CFI_UNSUPPORTED;
		caller.outermost = value == CFI_OUTERMOST;
		caller.signal = value == CFI_SIGNAL;
		if (caller.signal) {
			caller.cfa = memory_at(reg_value(RSP, pc) + 160);
			caller.bp = memory_at(reg_value(RSP, pc) + 120);
			caller.ra = memory_at(reg_value(RSP, pc) + 168);
		}
		break;
	case CFI_WIDE:
		apply_wide(&wides[value], pc, &caller);
		break;
	default:
		caller.cfa = reg_value(kind == CFI_SP ? RSP : RBP, pc) +
			     (value >> CFI_CFA_SHIFT) * 8;
		caller.ra = memory_at(caller.cfa - 8);
		if (bp)
			caller.bp = memory_at(caller.cfa - bp * 8);
	}
	return caller;
}

struct comparison {
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_CFI *cfi;
	Dwarf_CFI *debug_cfi;
	struct cfi_rows rows;
	uint64_t same;
	uint64_t differ;
	uint64_t unsupported;
	uint64_t bp_lost;
};

/* Between functions there is no code that runs, so a rule may stay on for some bytes. */
static bool is_padding(const struct comparison *comparison, uint64_t pc)
{
	for (uint64_t at = pc; at > pc - 16; at--) {
		if (ask_libdw(comparison->cfi, at).known ||
		    ask_libdw(comparison->debug_cfi, at).known)
			return true;
	}
	return false;
}

static bool is_same(const struct caller *ours, const struct caller *theirs)
{
	if (ours->outermost || theirs->outermost)
		return ours->outermost == theirs->outermost;
	return ours->cfa == theirs->cfa && ours->ra == theirs->ra &&
	       ours->signal == theirs->signal &&
	       (!ours->has_bp || (theirs->has_bp && ours->bp == theirs->bp));
}

static void compare_rule(struct comparison *comparison, uint32_t rule, uint64_t pc)
{
	struct caller ours = apply(rule, comparison->rows.wides, pc);
	struct caller theirs = ask_libdw(comparison->cfi, pc);

	if (!theirs.known)
		theirs = ask_libdw(comparison->debug_cfi, pc);
	if (ours.known && !ours.supported && theirs.known) {
		comparison->unsupported++;
		return;
	}
	if (ours.known == theirs.known && (!ours.known || is_same(&ours, &theirs))) {
		comparison->same++;
		comparison->bp_lost += ours.known && !ours.has_bp && theirs.has_bp;
		return;
	}
	if (ours.known && !theirs.known && is_padding(comparison, pc))
		return;
	if (!comparison->differ++)
		fprintf(stderr,
			"# at 0x%llx rule 0x%x: known %d %d, cfa %llx %llx, ra %llx %llx, bp %llx "
			"%llx\n",
			(unsigned long long)pc, rule, ours.known, theirs.known,
			(unsigned long long)ours.cfa, (unsigned long long)theirs.cfa,
			(unsigned long long)ours.ra, (unsigned long long)theirs.ra,
			(unsigned long long)ours.bp, (unsigned long long)theirs.bp);
}

static void compare_at(struct comparison *comparison, uint64_t pc)
{
	compare_rule(comparison, cfi_rows__find(&comparison->rows, pc), pc);
}

/* 0, or why there is nothing to compare. */
static int comparison__begin(struct comparison *comparison, Elf *elf)
{
	int err;

	*comparison = (struct comparison){ .elf = elf };
	if (!elf)
		return -ENOENT;
	/* Ours first: libdw's may change the sections that it unpacks. */
	err = cfi_rows__read(&comparison->rows, elf);
	if (err)
		return err;
	comparison->cfi = dwarf_getcfi_elf(elf);
	comparison->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	comparison->debug_cfi = comparison->dwarf ? dwarf_getcfi(comparison->dwarf) : NULL;
	return comparison->cfi || comparison->debug_cfi ? 0 : -EINVAL;
}

static void comparison__end(struct comparison *comparison)
{
	cfi_rows__free(&comparison->rows);
	if (comparison->cfi)
		dwarf_cfi_end(comparison->cfi);
	if (comparison->dwarf)
		dwarf_end(comparison->dwarf);
	elf_end(comparison->elf);
}

static Elf *open_elf(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf;

	elf_version(EV_CURRENT);
	if (fd < 0)
		return NULL;
	elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	if (elf && elf_cntl(elf, ELF_C_FDREAD)) {
		elf_end(elf);
		elf = NULL;
	}
	close(fd);
	return elf;
}

/* At each boundary of rows, on both sides of it, and at some places in between. */
static void compare_all(struct comparison *comparison)
{
	const struct cfi_rows *rows = &comparison->rows;
	uint64_t low = rows->rows[0].pc, high = rows->rows[rows->nr - 1].pc;
	size_t step = rows->nr / 60000 + 1;

	for (size_t i = 0; i < rows->nr; i += step) {
		compare_at(comparison, rows->rows[i].pc);
		compare_at(comparison, rows->rows[i].pc - 1);
	}
	for (int i = 0; i < RANDOM_PCS; i++)
		compare_at(comparison, low + (uint64_t)rand() * 3 % (high - low));
}

/* Machines differ in which of these files they have, but each has some. */
static const char *const files[] = {
	"/lib/x86_64-linux-gnu/libc.so.6",	 "/lib64/libc.so.6",
	"/lib64/ld-linux-x86-64.so.2",		 "/bin/bash",
	"/usr/bin/python3",			 "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/bin/gdb",
	"/usr/bin/perf",			 "/usr/bin/redis-server",
	"/usr/lib/postgresql/15/bin/postgres",	 "/proc/self/exe",
};

TEST(rules_of_the_files_of_this_machine_are_libdws)
{
	struct comparison comparison;
	int compared = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		int err = comparison__begin(&comparison, open_elf(files[i]));

		if (!err) {
			compare_all(&comparison);
			TH_LOG("%s: %zu rows, %zu wide rules; %llu same, %llu unsupported, %llu "
			       "without rbp",
			       files[i], comparison.rows.nr, comparison.rows.nr_wides,
			       (unsigned long long)comparison.same,
			       (unsigned long long)comparison.unsupported,
			       (unsigned long long)comparison.bp_lost);
			EXPECT_EQ(0, comparison.differ);
			/* Code that is written by hand is the exception. */
			EXPECT_LT(comparison.unsupported, comparison.same / 200 + 10);
			EXPECT_LT(comparison.bp_lost, comparison.same / 200 + 10);
			compared++;
		}
		comparison__end(&comparison);
	}
	EXPECT_GE(compared, 3);
}

TEST(the_vdso_has_rules)
{
	const char *base = (const char *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *header = (const void *)base;
	struct comparison comparison;

	if (!base)
		SKIP(return, "there is no vDSO here");
	elf_version(EV_CURRENT);
	ASSERT_EQ(0, comparison__begin(&comparison,
				       elf_memory((char *)(uintptr_t)base,
						  header->e_shoff + header->e_shnum *
									    header->e_shentsize)));
	compare_all(&comparison);
	EXPECT_EQ(0, comparison.differ);
	EXPECT_LT(10, comparison.same);
	comparison__end(&comparison);
}

/* A program that was built for the tests: BUILD/tests/unwind/NAME. */
static const char *built(const char *name)
{
	static char path[4096 + 64];
	char own[4096];
	ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (len < 0)
		return name;
	own[len] = '\0';
	for (int i = 0; i < 2; i++)
		*strrchr(own, '/') = '\0';
	snprintf(path, sizeof(path), "%s/unwind/%s", own, name);
	return path;
}

/* Each byte, since each function was written for some of them. */
static void compare_bytes(struct comparison *comparison)
{
	const struct cfi_rows *rows = &comparison->rows;

	for (uint64_t pc = rows->rows[0].pc - 8; pc <= rows->rows[rows->nr - 1].pc + 8; pc++)
		compare_at(comparison, pc);
}

TEST(rules_of_odd_frames_are_libdws)
{
	struct comparison comparison;
	uint32_t kinds[4] = { 0 }, specials[8] = { 0 };

	ASSERT_EQ(0, comparison__begin(&comparison, open_elf(built("oddcfi.so"))));
	compare_bytes(&comparison);
	EXPECT_EQ(0, comparison.differ);
	EXPECT_EQ(8, comparison.rows.functions);
	/* In r12, an address, at rsp - 16, and an address again: each for an instruction. */
	EXPECT_EQ(4, comparison.bp_lost);
	for (size_t i = 0; i < comparison.rows.nr; i++) {
		uint32_t rule = comparison.rows.rows[i].rule;

		kinds[rule >> CFI_KIND_SHIFT]++;
		if (rule >> CFI_KIND_SHIFT == CFI_SPECIAL && (rule & CFI_VALUE_MASK) < 8)
			specials[rule & CFI_VALUE_MASK]++;
		/* Programs do not follow a short rule whose rbp lies farther away. */
		if (rule >> CFI_KIND_SHIFT == CFI_SP || rule >> CFI_KIND_SHIFT == CFI_BP)
			EXPECT_GE(CFI_BP_FARTHEST, rule % CFI_BP_WORDS);
	}
	/* All kinds of rules that the file was written for are found. */
	EXPECT_LT(5, kinds[CFI_SP]);
	EXPECT_LT(0, kinds[CFI_BP]);
	EXPECT_LT(5, kinds[CFI_WIDE]);
	EXPECT_EQ(1, specials[CFI_OUTERMOST]);
	EXPECT_EQ(1, specials[CFI_SIGNAL]);
	EXPECT_LT(2, specials[CFI_UNSUPPORTED]);
	/* Ranges without any lie before, between and behind the functions. */
	EXPECT_LE(2, specials[CFI_NONE]);
	comparison__end(&comparison);
}

TEST(frames_in_debug_frame_alone_have_rules)
{
	struct comparison comparison;

	ASSERT_EQ(0, comparison__begin(&comparison, open_elf(built("nofp_debug"))));
	compare_bytes(&comparison);
	EXPECT_EQ(0, comparison.differ);
	EXPECT_LT(100, comparison.same);
	comparison__end(&comparison);
}

/* The same file, stripped: it tells of the C library's start alone, the rest is packed. */
TEST(frames_in_gnu_debugdata_have_the_rules_of_debug_frame)
{
	struct cfi_rows rows = { 0 }, packed = { 0 };
	Elf *elf = open_elf(built("nofp_debug")), *stripped = open_elf(built("nofp_mini"));

	if (!stripped) {
		elf_end(elf);
		SKIP(return, "no xz");
	}
	ASSERT_EQ(0, cfi_rows__read(&rows, elf));
	ASSERT_EQ(0, cfi_rows__read(&packed, stripped));
	ASSERT_EQ(rows.nr, packed.nr);
	for (size_t i = 0; i < rows.nr; i++) {
		EXPECT_EQ(rows.rows[i].pc, packed.rows[i].pc);
		EXPECT_EQ(rows.rows[i].rule, packed.rows[i].rule);
	}
	cfi_rows__free(&rows);
	cfi_rows__free(&packed);
	elf_end(elf);
	elf_end(stripped);
}

/* Counts the offsets for which the table and its rows have different rules. */
static uint64_t count_table_errors(const char *path)
{
	struct cfi_table table = { 0 };
	struct cfi_rows rows = { 0 };
	Elf *elf = open_elf(path);
	uint64_t errors = 0;
	GElf_Phdr header;
	size_t nr;

	if (cfi_table__make(&table, elf) || cfi_rows__read(&rows, elf) ||
	    cfi_table__check(&table) || elf_getphdrnum(elf, &nr))
		return UINT64_MAX;
	for (size_t i = 0; i < nr; i++) {
		gelf_getphdr(elf, (int)i, &header);
		if (header.p_type != PT_LOAD || !(header.p_flags & PF_X))
			continue;
		for (uint64_t at = 0; at < header.p_filesz; at++)
			errors += cfi_table__find(&table, header.p_offset + at) !=
				  cfi_rows__find(&rows, header.p_vaddr + at);
	}
	errors += cfi_table__find(&table, table.start - 1) != 0;
	errors += cfi_table__find(&table, UINT64_MAX) != 0;
	cfi_rows__free(&rows);
	cfi_table__free(&table);
	elf_end(elf);
	return errors;
}

TEST(a_table_has_the_rows_of_its_file)
{
	EXPECT_EQ(0, count_table_errors(built("oddcfi.so")));
	EXPECT_EQ(0, count_table_errors("/proc/self/exe"));
	EXPECT_EQ(0, count_table_errors(built("nofp_static")));
}

/* A copy of oddcfi.so in memory whose size is as much. Its descriptor, or -1. */
static int copy_file(uint64_t size)
{
	int from = open(built("oddcfi.so"), O_RDONLY | O_CLOEXEC);
	int fd = memfd_create("copy", MFD_CLOEXEC);
	struct stat st;

	elf_version(EV_CURRENT);
	if (from < 0 || fd < 0 || fstat(from, &st) ||
	    sendfile(fd, from, NULL, (size_t)st.st_size) != st.st_size ||
	    (size && ftruncate(fd, (off_t)size))) {
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	if (from >= 0)
		close(from);
	return fd;
}

/* The program header of a type; executable: of the segment with code. Its place in *at. */
static Elf64_Phdr find_header(int fd, uint32_t type, bool executable, off_t *at)
{
	Elf64_Phdr header = { 0 };
	Elf64_Ehdr elf = { 0 };

	if (pread(fd, &elf, sizeof(elf), 0) != sizeof(elf))
		return header;
	for (int i = 0; i < elf.e_phnum; i++) {
		*at = (off_t)(elf.e_phoff + (uint64_t)i * sizeof(header));
		if (pread(fd, &header, sizeof(header), *at) == sizeof(header) &&
		    header.p_type == type && (!executable || header.p_flags & PF_X))
			break;
	}
	return header;
}

TEST(a_segment_that_claims_more_than_its_file_has_takes_no_more_room)
{
	struct cfi_table honest = { 0 }, table = { 0 };
	int fd = copy_file(0);
	Elf64_Phdr code;
	Elf *elf;
	off_t at;

	ASSERT_LE(0, fd);
	code = find_header(fd, PT_LOAD, true, &at);
	ASSERT_EQ(PT_LOAD, code.p_type);
	code.p_filesz = code.p_memsz = 0x3fe00000;
	ASSERT_EQ(sizeof(code), pwrite(fd, &code, sizeof(code), at));
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	ASSERT_EQ(0, cfi_table__make(&table, elf));
	elf_end(elf);
	close(fd);
	elf = open_elf(built("oddcfi.so"));
	ASSERT_EQ(0, cfi_table__make(&honest, elf));
	elf_end(elf);
	EXPECT_EQ(honest.start, table.start);
	EXPECT_EQ(honest.nr_pages, table.nr_pages);
	EXPECT_EQ(honest.nr_words, table.nr_words);
	cfi_table__free(&honest);
	cfi_table__free(&table);
}

/* It costs nothing to have code at both ends of a file. */
TEST(a_sparse_file_takes_no_more_room_than_a_file_may)
{
	const uint64_t room = (uint64_t)CFI_FILE_WORDS << CFI_PAGE_SHIFT;
	struct cfi_table table = { 0 };
	int fd = copy_file(2 * room);
	Elf64_Phdr code, other;
	off_t at, other_at;
	Elf *elf;

	ASSERT_LE(0, fd);
	code = find_header(fd, PT_LOAD, true, &at);
	other = find_header(fd, PT_NOTE, false, &other_at);
	ASSERT_EQ(PT_LOAD, code.p_type);
	ASSERT_EQ(PT_NOTE, other.p_type);
	code.p_offset = room;
	ASSERT_EQ(sizeof(code), pwrite(fd, &code, sizeof(code), other_at));
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	EXPECT_EQ(-E2BIG, cfi_table__make(&table, elf));
	elf_end(elf);
	cfi_table__free(&table);
	/* Half as far away. */
	code.p_offset = room / 2;
	ASSERT_EQ(sizeof(code), pwrite(fd, &code, sizeof(code), other_at));
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	EXPECT_EQ(0, cfi_table__make(&table, elf));
	EXPECT_EQ(0, cfi_table__check(&table));
	EXPECT_LT(CFI_FILE_WORDS / 2, table.nr_words);
	elf_end(elf);
	close(fd);
	cfi_table__free(&table);
}

TEST(a_table_that_points_beyond_itself_is_refused)
{
	struct cfi_table table = { 0 };
	Elf *elf = open_elf(built("oddcfi.so"));
	uint32_t word;

	ASSERT_EQ(0, cfi_table__make(&table, elf));
	ASSERT_EQ(0, cfi_table__check(&table));
	word = table.words[1];
	table.words[1] = table.nr_words | 1U << 24;
	EXPECT_EQ(-EPROTO, cfi_table__check(&table));
	table.words[1] = 0;
	EXPECT_EQ(-EPROTO, cfi_table__check(&table));
	/* A page without a row. */
	table.words[1] = table.nr_pages;
	EXPECT_EQ(-EPROTO, cfi_table__check(&table));
	/* A page whose rows lie before those of the page before. */
	ASSERT_LT(table.nr_pages + 1, word & CFI_RULE_MASK);
	table.words[1] = table.nr_pages | 1U << 24;
	EXPECT_EQ(-EPROTO, cfi_table__check(&table));
	table.words[1] = word;
	word = table.words[table.nr_pages];
	table.words[table.nr_pages] = CFI_RULE(CFI_WIDE, table.nr_wides);
	EXPECT_EQ(-EPROTO, cfi_table__check(&table));
	table.words[table.nr_pages] = CFI_RULE(CFI_SPECIAL, CFI_NO_FILE);
	EXPECT_EQ(-EPROTO, cfi_table__check(&table));
	table.words[table.nr_pages] = word;
	EXPECT_EQ(0, cfi_table__check(&table));
	cfi_table__free(&table);
	elf_end(elf);
}

TEST(wide_rules_beyond_those_that_a_file_may_have_are_not_supported)
{
	struct cfi_rows rows = { 0 };
	Elf *elf = open_elf(built("widecfi.so"));
	const uint32_t frames = 1100;
	uint64_t pc;

	ASSERT_EQ(0, cfi_rows__read(&rows, elf));
	ASSERT_LT(CFI_WIDES_MAX, frames);
	EXPECT_EQ(CFI_WIDES_MAX, rows.nr_wides);
	pc = rows.rows[0].pc;
	for (uint32_t i = 0; i < frames; i++)
		EXPECT_EQ(i < CFI_WIDES_MAX ? CFI_RULE(CFI_WIDE, i)
					    : CFI_RULE(CFI_SPECIAL, CFI_UNSUPPORTED),
			  cfi_rows__find(&rows, pc + i));
	EXPECT_EQ(CFI_RULE(CFI_WIDE, 0), cfi_rows__find(&rows, pc + frames));
	cfi_rows__free(&rows);
	elf_end(elf);
}

TEST(a_file_without_frame_information_has_no_table)
{
	struct cfi_table table = { 0 };
	Elf *elf = open_elf(built("pause32"));

	if (elf)
		EXPECT_EQ(-ENOEXEC, cfi_table__make(&table, elf));
	elf_end(elf);
	elf = elf_memory((char *)(uintptr_t) "not an ELF file", 15);
	EXPECT_EQ(-ENOEXEC, cfi_table__make(&table, elf));
	cfi_table__free(&table);
	elf_end(elf);
}

/* A figure, not a bound: machines differ. */
TEST(tables_are_made_in_milliseconds)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct cfi_table table = { 0 };
		Elf *elf = open_elf(files[i]);
		uint64_t start = clock__now_ns();
		int err = elf ? cfi_table__make(&table, elf) : -ENOENT;

		if (!err)
			TH_LOG("%s: %llu us, %u KB", files[i],
			       (unsigned long long)(clock__now_ns() - start) / 1000,
			       table.nr_words / 256);
		EXPECT_NE(-ENOMEM, err);
		cfi_table__free(&table);
		if (elf)
			elf_end(elf);
	}
}

#else

TEST(tables_are_for_x86_64)
{
	SKIP(return, "rules of frames are made for x86-64 only");
}

#endif /* __x86_64__ */

TEST_HARNESS_MAIN
