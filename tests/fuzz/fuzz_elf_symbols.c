/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Any bytes as the symbol table of an ELF file: the functions are in order, lie in the section of
 * code, and have names that end within the file. The first byte says how many of the bytes are
 * names.
 */
#include <elf.h>
#include <libelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/elf_symbols.h"

#define MAX_DATA 65536
#define CODE 0x1000ULL
#define CODE_SIZE 0x10000ULL

struct image {
	Elf64_Ehdr header;
	Elf64_Shdr sections[4];
	_Alignas(8) uint8_t data[MAX_DATA];
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fill(struct image *image, const uint8_t *data, size_t size, size_t names)
{
	*image = (struct image){
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_shoff = offsetof(struct image, sections),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 4,
		},
		.sections = {
			[1] = { .sh_type = SHT_NOBITS, .sh_flags = SHF_EXECINSTR, .sh_addr = CODE,
				.sh_size = CODE_SIZE },
			[2] = { .sh_type = SHT_SYMTAB, .sh_entsize = sizeof(Elf64_Sym),
				.sh_offset = offsetof(struct image, data), .sh_size = size - names,
				.sh_link = 3 },
			[3] = { .sh_type = SHT_STRTAB,
				.sh_offset = offsetof(struct image, data) + size - names,
				.sh_size = names },
		},
	};
	memcpy(image->data, data, size);
}

static void check(const struct image *image, const struct elf_symbols *symbols)
{
	const char *end = (const char *)(image + 1);

	for (size_t i = 0; i < symbols->nr; i++) {
		const struct elf_symbol *symbol = &symbols->all[i];

		if (symbol->start < CODE || symbol->end > CODE + CODE_SIZE ||
		    (i && symbols->all[i - 1].start >= symbol->start) ||
		    symbol->name + strlen(symbol->name) >= end)
			abort();
	}
	for (uint64_t at = CODE - 1; at <= CODE + CODE_SIZE; at += 97) {
		const struct elf_symbol *symbol = elf_symbols__find(symbols, at);

		if (symbol && (at < symbol->start || at >= symbol->end))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct image image;
	struct elf_symbols symbols = { 0 };
	Elf *elf;

	if (!size || size > MAX_DATA)
		return 0;
	elf_version(EV_CURRENT);
	fill(&image, data + 1, size - 1, (size - 1) * data[0] / 255);
	elf = elf_memory((char *)&image, sizeof(image));
	if (!elf)
		return 0;
	if (!elf_symbols__add(&symbols, elf)) {
		elf_symbols__sort(&symbols);
		check(&image, &symbols);
	}
	elf_symbols__free(&symbols);
	elf_end(elf);
	return 0;
}
