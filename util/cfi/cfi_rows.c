/* SPDX-License-Identifier: GPL-2.0-only */
#include "cfi/cfi_rows.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/elf_section.h"
#include "cfi/cfi_program.h"
#include "cfi/cfi_rule.h"

#define NO_RULE CFI_RULE(CFI_SPECIAL, CFI_NONE)
#define UNSUPPORTED CFI_RULE(CFI_SPECIAL, CFI_UNSUPPORTED)
#define DWARF_RA 16
/* Gaps up to this size between functions are padding, which is never run. */
#define PADDING 16
#define POINTER_FORMAT 0x0f
#define POINTER_BASE 0x70
#define WIDE_SLOTS (2 * CFI_WIDES_MAX) /* of the table by which they are found */

/* A CIE: the part common to the functions that refer to it. */
struct common {
	Dwarf_Off offset;
	struct cfi_state initial;
	uint64_t code_factor;
	int64_t data_factor;
	size_t skip; /* bytes before a function's program, unless it tells them itself */
	uint8_t encoding; /* of addresses */
	bool tells_skip;
	bool is_signal;
	bool usable;
};

/* A function (an FDE). */
struct function {
	uint64_t low;
	uint64_t high;
	struct cfi_bytes code;
	size_t common; /* index */
};

struct reader {
	struct cfi_rows *out;
	struct common *commons; /* of the section, by ascending offsets */
	size_t nr_commons;
	size_t capacity_commons;
	size_t first_common; /* of the section at hand */
	struct function *functions; /* of all sections */
	size_t nr;
	size_t capacity;
	uint16_t *slots; /* hash of a wide rule -> its number + 1 */
	Elf *packed; /* what .gnu_debugdata has; functions refer to its content */
	int packed_fd;
	bool full;
};

/* A section at hand. */
struct section {
	const unsigned char *ident;
	Elf_Data *data;
	uint64_t address;
	bool is_eh;
};

/* Room for one more of size bytes. 0 or -ENOMEM. */
static int grow(void *array, size_t nr, size_t *capacity, size_t size)
{
	void *old, *new;

	memcpy(&old, array, sizeof(old));
	if (nr < *capacity)
		return 0;
	new = reallocarray(old, *capacity ? 2 * *capacity : 256, size);
	if (!new)
		return -ENOMEM;
	*capacity = *capacity ? 2 * *capacity : 256;
	memcpy(array, &new, sizeof(new));
	return 0;
}

/* An address or, with an encoding of the format alone, a length. False: it cannot be known. */
static bool take_pointer(const struct section *section, struct cfi_bytes *bytes, uint8_t encoding,
			 uint64_t *value)
{
	const uint8_t *start = bytes->at;
	bool there;

	switch (encoding & POINTER_FORMAT) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		there = cfi_bytes__take(bytes, 8, value);
		break;
	case DW_EH_PE_udata4:
		there = cfi_bytes__take(bytes, 4, value);
		break;
	case DW_EH_PE_sdata4:
		there = cfi_bytes__take(bytes, 4, value);
		*value = (uint64_t)(int32_t)*value;
		break;
	default:
		return false;
	}
	if (!(encoding & (POINTER_BASE | DW_EH_PE_indirect)))
		return there;
	if ((encoding & (POINTER_BASE | DW_EH_PE_indirect)) != DW_EH_PE_pcrel)
		return false;
	*value += section->address + (uint64_t)(start - (const uint8_t *)section->data->d_buf);
	return there;
}

/* Reads the letters of a CIE's augmentation. False: one of them is not known. */
static bool read_augmentation(const struct section *section, const Dwarf_CIE *cie,
			      struct common *common)
{
	struct cfi_bytes data = { cie->augmentation_data,
				  cie->augmentation_data + cie->augmentation_data_size };
	uint64_t value;

	for (const char *letter = cie->augmentation; letter && *letter; letter++) {
		switch (*letter) {
		case 'z':
			common->tells_skip = true;
			break;
		case 'S':
			common->is_signal = true;
			break;
		case 'R':
		case 'L':
		case 'P':
			if (data.at >= data.end)
				return false;
			value = *data.at++;
			if (*letter == 'R')
				common->encoding = (uint8_t)value;
			if (*letter == 'P' &&
			    !take_pointer(section, &data, value & POINTER_FORMAT, &value))
				return false;
			break;
		default:
			return false;
		}
	}
	return true;
}

static bool read_common(const struct section *section, const Dwarf_CIE *cie, struct common *common)
{
	struct cfi_program program = {
		.code = { cie->initial_instructions, cie->initial_instructions_end },
		.code_factor = cie->code_alignment_factor,
		.data_factor = cie->data_alignment_factor,
	};
	uint64_t next;

	common->code_factor = cie->code_alignment_factor;
	common->data_factor = cie->data_alignment_factor;
	common->skip = cie->fde_augmentation_data_size;
	common->encoding = DW_EH_PE_absptr;
	if (cie->return_address_register != DWARF_RA ||
	    !read_augmentation(section, cie, common) || cfi_program__step(&program, &next))
		return false;
	common->initial = program.state;
	return true;
}

static int add_common(struct reader *reader, const struct section *section, Dwarf_Off offset,
		      const Dwarf_CIE *cie)
{
	struct common *common;

	if (grow(&reader->commons, reader->nr_commons, &reader->capacity_commons, sizeof(*common)))
		return -ENOMEM;
	common = &reader->commons[reader->nr_commons++];
	*common = (struct common){ .offset = offset };
	common->usable = read_common(section, cie, common);
	return 0;
}

static size_t find_common(const struct reader *reader, Dwarf_Off offset)
{
	size_t low = reader->first_common, high = reader->nr_commons;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (reader->commons[middle].offset == offset)
			return middle;
		if (reader->commons[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return reader->nr_commons;
}

static int add_function(struct reader *reader, const struct section *section,
			const Dwarf_FDE *fde)
{
	struct cfi_bytes bytes = { fde->start, fde->end };
	size_t at = find_common(reader, fde->CIE_pointer);
	uint64_t low, length, skip;
	const struct common *common;

	if (at == reader->nr_commons)
		return 0;
	common = &reader->commons[at];
	if (!take_pointer(section, &bytes, common->encoding, &low) ||
	    !take_pointer(section, &bytes, common->encoding & POINTER_FORMAT, &length))
		return 0;
	skip = common->tells_skip ? cfi_bytes__uleb(&bytes) : common->skip;
	/* Functions discarded by the linker begin at 0. */
	if (!low || !length || low + length < low || skip > (uint64_t)(bytes.end - bytes.at))
		return 0;
	if (grow(&reader->functions, reader->nr, &reader->capacity, sizeof(*reader->functions)))
		return -ENOMEM;
	bytes.at += skip;
	reader->functions[reader->nr++] = (struct function){ low, low + length, bytes, at };
	return 0;
}

/* One pass over a section: over the CIEs, or over the FDEs. 0 or -ENOMEM. */
static int read_entries(struct reader *reader, const struct section *section, bool commons)
{
	Dwarf_Off offset = 0, next = 0;
	Dwarf_CFI_Entry entry;
	int ret, err = 0;

	for (; !err; offset = next) {
		ret = dwarf_next_cfi(section->ident, section->data, section->is_eh, offset, &next,
				     &entry);
		if (ret > 0 || next == (Dwarf_Off)-1 || next <= offset)
			return 0;
		if (ret < 0)
			continue;
		if (dwarf_cfi_cie_p(&entry))
			err = commons ? add_common(reader, section, offset, &entry.cie) : 0;
		else
			err = commons ? 0 : add_function(reader, section, &entry.fde);
	}
	return err;
}

static int read_section(struct reader *reader, const struct section *section)
{
	int err;

	reader->first_common = reader->nr_commons;
	err = read_entries(reader, section, true);
	return err ? err : read_entries(reader, section, false);
}

static int append(struct reader *reader, uint64_t pc, uint32_t rule)
{
	struct cfi_rows *out = reader->out;
	struct cfi_row *last = out->nr ? &out->rows[out->nr - 1] : NULL;

	if (last && last->rule == rule)
		return 0;
	if (last && last->pc == pc) {
		last->rule = rule;
		return 0;
	}
	if (out->nr >= CFI_ROWS_MAX) {
		last->rule = NO_RULE;
		reader->full = true;
		return 0;
	}
	if (grow(&out->rows, out->nr, &out->capacity, sizeof(*out->rows)))
		return -ENOMEM;
	out->rows[out->nr++] = (struct cfi_row){ pc, rule };
	return 0;
}

static uint32_t hash_of(const struct cfi_wide *wide)
{
	const unsigned char *bytes = (const unsigned char *)wide;
	uint32_t hash = 2166136261U;

	for (size_t i = 0; i < sizeof(*wide); i++)
		hash = (hash ^ bytes[i]) * 16777619U;
	return hash;
}

/* The rule of a wide one, which is kept once. One that finds no room is not supported. */
static uint32_t number_wide(struct reader *reader, const struct cfi_wide *wide)
{
	struct cfi_rows *out = reader->out;
	uint32_t slot = hash_of(wide) % WIDE_SLOTS;

	for (; reader->slots[slot]; slot = (slot + 1) % WIDE_SLOTS) {
		if (!memcmp(&out->wides[reader->slots[slot] - 1], wide, sizeof(*wide)))
			return CFI_RULE(CFI_WIDE, reader->slots[slot] - 1);
	}
	if (out->nr_wides == CFI_WIDES_MAX)
		return UNSUPPORTED;
	out->wides[out->nr_wides++] = *wide;
	reader->slots[slot] = (uint16_t)out->nr_wides;
	return CFI_RULE(CFI_WIDE, out->nr_wides - 1);
}

static uint32_t rule_of(struct reader *reader, const struct cfi_program *program, bool is_signal)
{
	struct cfi_wide wide;
	uint32_t rule = cfi_rule__of(&program->state, is_signal, &wide);

	return rule >> CFI_KIND_SHIFT == CFI_WIDE ? number_wide(reader, &wide) : rule;
}

/* The rows of a function from an address on. 0 or -ENOMEM. */
static int run_function(struct reader *reader, const struct function *function, uint64_t from)
{
	const struct common *common = &reader->commons[function->common];
	struct cfi_program program = {
		.code = function->code,
		.code_factor = common->code_factor,
		.data_factor = common->data_factor,
		.initial = &common->initial,
		.state = common->initial,
		.pc = function->low,
	};
	uint64_t next;
	int ret = 1, err = 0;

	if (!common->usable)
		return append(reader, from, UNSUPPORTED);
	while (ret > 0 && !err && program.pc < function->high) {
		next = function->high;
		ret = cfi_program__step(&program, &next);
		if (ret < 0)
			return append(reader, program.pc > from ? program.pc : from, UNSUPPORTED);
		/* Empty rows, and rows before from, are left out. */
		if (next > from && next > program.pc)
			err = append(reader, program.pc > from ? program.pc : from,
				     rule_of(reader, &program, common->is_signal));
		program.pc = next;
	}
	return err;
}

static int by_address(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	/* Of two descriptions of the same, the section that was read first has it. */
	return x->common < y->common ? -1 : x->common > y->common;
}

static int run_functions(struct reader *reader)
{
	uint64_t end = 0;
	int err = 0;

	if (reader->nr)
		qsort(reader->functions, reader->nr, sizeof(*reader->functions), by_address);
	for (size_t i = 0; i < reader->nr && !err && !reader->full; i++) {
		const struct function *function = &reader->functions[i];

		if (function->high <= end)
			continue;
		if (end && function->low >= end + PADDING)
			err = append(reader, end, NO_RULE);
		if (!err)
			err = run_function(reader, function,
					   function->low > end ? function->low : end);
		end = function->high;
		reader->out->functions++;
	}
	if (!err && end && !reader->full)
		err = append(reader, end, NO_RULE);
	return err;
}

/* A section by its name; false: the file has none with content. */
static bool find_section(Elf *elf, const char *name, struct section *out)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_section__find(elf, name, &header);

	if (!section || (header.sh_flags & SHF_COMPRESSED && elf_compress(section, 0, 0) < 0))
		return false;
	out->data = header.sh_flags & SHF_COMPRESSED ? elf_getdata(section, NULL)
						     : elf_rawdata(section, NULL);
	out->address = header.sh_addr;
	return out->data && out->data->d_buf && out->data->d_size;
}

/* True if the functions that were read are less than half of the file's code. */
static bool knows_little(const struct reader *reader, Elf *elf)
{
	uint64_t code = 0, known = 0;
	GElf_Phdr segment;
	size_t nr = 0;

	if (elf_getphdrnum(elf, &nr))
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
		    segment.p_flags & PF_X)
			code += segment.p_filesz;
	}
	for (size_t i = 0; i < reader->nr; i++)
		known += reader->functions[i].high - reader->functions[i].low;
	return known < code / 2;
}

/* The .debug_frame of what .gnu_debugdata packs; false: there is none. */
static bool find_packed(struct reader *reader, Elf *elf, struct section *out)
{
	reader->packed_fd = elf_section__minidebug(elf);
	if (reader->packed_fd < 0)
		return false;
	reader->packed = dwelf_elf_begin(reader->packed_fd);
	return reader->packed && find_section(reader->packed, ".debug_frame", out);
}

/*
 * .eh_frame and .debug_frame. Unpacking takes time, and distributions pack symbols alone: only what
 * tells of little of its code is unpacked, as what was built without .eh_frame.
 */
static int read_sections(struct reader *reader, Elf *elf, const GElf_Ehdr *header)
{
	struct section section = { .ident = header->e_ident, .is_eh = true };
	bool has_eh = find_section(elf, ".eh_frame", &section);
	int err = has_eh ? read_section(reader, &section) : 0;
	bool has_debug;

	if (err)
		return err;
	section.is_eh = false;
	has_debug = find_section(elf, ".debug_frame", &section) ||
		    (knows_little(reader, elf) && find_packed(reader, elf, &section));
	if (!has_eh && !has_debug)
		return -ENOENT;
	return has_debug ? read_section(reader, &section) : 0;
}

int cfi_rows__read(struct cfi_rows *rows, Elf *elf)
{
	struct reader reader = { .out = rows, .packed_fd = -1 };
	GElf_Ehdr header;
	int err = -ENOMEM;

	if (!gelf_getehdr(elf, &header) || header.e_machine != EM_X86_64 ||
	    gelf_getclass(elf) != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOEXEC;
	rows->wides = calloc(CFI_WIDES_MAX, sizeof(*rows->wides));
	reader.slots = calloc(WIDE_SLOTS, sizeof(*reader.slots));
	if (rows->wides && reader.slots)
		err = read_sections(&reader, elf, &header);
	if (!err)
		err = run_functions(&reader);
	if (!err && !rows->nr)
		err = -ENOENT;
	free(reader.slots);
	free(reader.commons);
	free(reader.functions);
	elf_end(reader.packed);
	if (reader.packed_fd >= 0)
		close(reader.packed_fd);
	return err;
}

uint32_t cfi_rows__find(const struct cfi_rows *rows, uint64_t pc)
{
	size_t low = 0, high = rows->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (rows->rows[middle].pc <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? rows->rows[low - 1].rule : NO_RULE;
}

void cfi_rows__free(struct cfi_rows *rows)
{
	free(rows->rows);
	free(rows->wides);
	*rows = (struct cfi_rows){ 0 };
}
