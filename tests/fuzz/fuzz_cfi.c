/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Any bytes as the frame information of an ELF file: the table that is made of them refers to
 * nothing outside of itself, and each lookup gives a rule. The first byte chooses the section and
 * the size of the code, and the rest is the section; or it is WHOLE_FILE, and the rest is a file,
 * with segments, packed sections (.gnu_debugdata) and whatever else it says it has.
 */
#include <elf.h>
#include <libelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cfi/cfi_table.h"

#define MAX_SECTION 65536
#define CODE 0x1000ULL
#define WHOLE_FILE 0xff

static const char names[] = "\0.eh_frame\0.debug_frame\0.shstrtab";

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[3];
	char names[sizeof(names)];
	_Alignas(8) uint8_t data[MAX_SECTION];
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fill(struct image *image, uint8_t choice, const uint8_t *data, size_t size)
{
	*image = (struct image){
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = offsetof(struct image, segment),
			.e_shoff = offsetof(struct image, sections),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 3,
			.e_shstrndx = 2,
		},
		.segment = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_vaddr = CODE,
			.p_filesz = (choice >> 1) * 256ULL + 256,
		},
		.sections = {
			[1] = {
				.sh_name = choice & 1 ? 1 : 11,
				.sh_type = SHT_PROGBITS,
				.sh_addr = CODE + offsetof(struct image, data),
				.sh_offset = offsetof(struct image, data),
				.sh_size = size,
			},
			[2] = {
				.sh_name = 24,
				.sh_type = SHT_STRTAB,
				.sh_offset = offsetof(struct image, names),
				.sh_size = sizeof(names),
			},
		},
	};
	memcpy(image->names, names, sizeof(names));
	memcpy(image->data, data, size);
}

/* A section of the code is no larger than this many bytes. */
#define CHECKED (256ULL * 130)

static void check(const struct cfi_table *table)
{
	if (cfi_table__check(table))
		abort();
	for (uint64_t at = table->start; at < table->start + CHECKED; at += 7) {
		uint32_t rule = cfi_table__find(table, at);

		if (rule >> CFI_KIND_SHIFT == CFI_WIDE &&
		    (rule & CFI_VALUE_MASK) >= table->nr_wides)
			abort();
	}
}

static void make_and_check(void *image, size_t size)
{
	struct cfi_table table = { 0 };
	Elf *elf = elf_memory(image, size);

	if (!elf)
		return;
	if (!cfi_table__make(&table, elf))
		check(&table);
	cfi_table__free(&table);
	elf_end(elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct image image;

	if (!size || size > MAX_SECTION)
		return 0;
	elf_version(EV_CURRENT);
	if (data[0] == WHOLE_FILE) {
		/* elf_memory() may write to it. Of its own size, so that reading on is found. */
		void *copy = malloc(size - 1);

		if (!copy)
			return 0;
		memcpy(copy, data + 1, size - 1);
		make_and_check(copy, size - 1);
		free(copy);
		return 0;
	}
	fill(&image, data[0], data + 1, size - 1);
	make_and_check(&image, sizeof(image));
	return 0;
}
