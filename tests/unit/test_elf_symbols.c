/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions of ELF files: aliases, nested symbols, symbols without a size, demangled names. */
#include "symbol/elf_symbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "common/harness.h"
#include "symbol/demangle.h"

#define TEXT 0x1000
#define TEXT_SIZE 0x1000
#define NAMES \
	"\0_alias\0alias\0longer_alias\0weak_is_longest\0outer\0inner\0unsized\0next\0data\0.L1"

enum {
	NAME__ALIAS = 1,
	NAME_ALIAS = 8,
	NAME_LONGER = 14,
	NAME_WEAK = 27,
	NAME_OUTER = 43,
	NAME_INNER = 49,
	NAME_UNSIZED = 55,
	NAME_NEXT = 63,
	NAME_DATA = 68,
	NAME_L1 = 73
};

struct image {
	Elf64_Ehdr header;
	Elf64_Shdr sections[5];
	Elf64_Sym symbols[12];
	char names[sizeof(NAMES)];
};

static const struct image model = {
	.header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_shoff = offsetof(struct image, sections),
		.e_ehsize = sizeof(Elf64_Ehdr), .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 5,
	},
	.sections = {
		[1] = { .sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			.sh_addr = TEXT, .sh_size = TEXT_SIZE },
		[2] = { .sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_WRITE, .sh_addr = 0x5000,
			.sh_size = 0x1000 },
		[3] = { .sh_type = SHT_SYMTAB, .sh_offset = offsetof(struct image, symbols),
			.sh_size = sizeof(model.symbols), .sh_entsize = sizeof(Elf64_Sym),
			.sh_link = 4 },
		[4] = { .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct image, names),
			.sh_size = sizeof(NAMES) },
	},
	.symbols = {
		[1] = { NAME__ALIAS, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0x1000, 0x10 },
		[2] = { NAME_LONGER, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0x1000, 0x10 },
		[3] = { NAME_ALIAS, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0x1000, 0x10 },
		[4] = { NAME_WEAK, ELF64_ST_INFO(STB_WEAK, STT_FUNC), 0, 1, 0x1000, 0x10 },
		[5] = { NAME_OUTER, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 0, 1, 0x1100, 0x100 },
		[6] = { NAME_INNER, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 0, 1, 0x1120, 0x10 },
		[7] = { NAME_UNSIZED, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), 0, 1, 0x1300, 0 },
		[8] = { NAME_NEXT, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0x1400, 0x10 },
		[9] = { NAME_DATA, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, 2, 0x5000, 0x10 },
		[10] = { NAME_L1, ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), 0, 1, 0x1390, 0 },
		[11] = { NAME_DATA, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0x1ff0, UINT64_MAX },
	},
	.names = NAMES,
};

FIXTURE(elf_symbols)
{
	struct image image;
	Elf *elf;
	struct elf_symbols symbols;
};

FIXTURE_SETUP(elf_symbols)
{
	elf_version(EV_CURRENT);
	self->image = model;
	self->elf = elf_memory((char *)&self->image, sizeof(self->image));
	ASSERT_NE(NULL, self->elf);
	self->symbols = (struct elf_symbols){ 0 };
	ASSERT_EQ(0, elf_symbols__add(&self->symbols, self->elf));
	elf_symbols__sort(&self->symbols);
}

FIXTURE_TEARDOWN(elf_symbols)
{
	elf_symbols__free(&self->symbols);
	elf_end(self->elf);
}

static const char *name_at(const struct elf_symbols *symbols, uint64_t address)
{
	const struct elf_symbol *symbol = elf_symbols__find(symbols, address);

	return symbol ? symbol->name : "";
}

TEST_F(elf_symbols, of_several_names_that_which_perf_takes)
{
	EXPECT_STREQ("longer_alias", name_at(&self->symbols, 0x1000));
	EXPECT_STREQ("longer_alias", name_at(&self->symbols, 0x100f));
}

TEST_F(elf_symbols, between_functions_there_is_none)
{
	EXPECT_STREQ("", name_at(&self->symbols, 0xfff));
	EXPECT_STREQ("", name_at(&self->symbols, 0x1010));
	EXPECT_STREQ("", name_at(&self->symbols, 0x1200));
	EXPECT_STREQ("", name_at(&self->symbols, 0x1410));
	EXPECT_STREQ("", name_at(&self->symbols, 0x5000));
}

TEST_F(elf_symbols, a_nested_function_does_not_hide_the_outer_one)
{
	EXPECT_STREQ("outer", name_at(&self->symbols, 0x111f));
	EXPECT_STREQ("inner", name_at(&self->symbols, 0x1120));
	EXPECT_STREQ("outer", name_at(&self->symbols, 0x1130));
	EXPECT_STREQ("outer", name_at(&self->symbols, 0x11ff));
}

TEST_F(elf_symbols, a_function_without_a_size_reaches_to_the_next_one)
{
	EXPECT_STREQ("unsized", name_at(&self->symbols, 0x13ff));
	EXPECT_STREQ("next", name_at(&self->symbols, 0x1400));
}

TEST_F(elf_symbols, none_reaches_beyond_its_section)
{
	EXPECT_STREQ("data", name_at(&self->symbols, 0x1fff));
	EXPECT_STREQ("", name_at(&self->symbols, 0x2000));
}

static int demangles(const char *symbol, const char *name)
{
	char *got = demangle__symbol(symbol);
	int same = got && !strcmp(got, name);

	free(got);
	return same;
}

TEST(symbols_of_cpp_and_of_both_kinds_of_rust_are_demangled)
{
	EXPECT_TRUE(demangles("_ZN3foo3barEi", "foo::bar"));
	EXPECT_TRUE(demangles("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
			      "core::fmt::Write::write_fmt"));
	EXPECT_TRUE(demangles("_RNvC6_123foo3bar", "123foo::bar"));
	EXPECT_EQ(NULL, demangle__symbol("main"));
	EXPECT_EQ(NULL, demangle__symbol("_Z"));
}

TEST_HARNESS_MAIN
