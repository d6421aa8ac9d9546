/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbol/elf_symbols.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"

/* Functions that one may be behind in the table, and the address yet in it. */
#define MOST_NESTED 32
#define MAX_NAME 65535u

/*
 * The rank of a name, as perf chooses among those of one address: with a size, not weak, not
 * local, few leading underscores, long.
 */
static uint32_t rank_of(const GElf_Sym *symbol, const char *name)
{
	size_t len = strnlen(name, MAX_NAME), underscores = strspn(name, "_");

	return (uint32_t)(!symbol->st_size) << 31 |
	       (uint32_t)(GELF_ST_BIND(symbol->st_info) == STB_WEAK) << 30 |
	       (uint32_t)(GELF_ST_BIND(symbol->st_info) == STB_LOCAL) << 29 |
	       (uint32_t)min_u64(underscores, 1023) << 16 | (uint32_t)(MAX_NAME - len);
}

/* A table and the strings of its names. */
struct table {
	Elf *elf;
	Elf_Data *symbols;
	GElf_Word names; /* index of the section */
};

/* The section that a symbol is in, if there is code in it. */
static bool find_code(const struct table *table, const GElf_Sym *symbol, GElf_Shdr *header)
{
	Elf_Scn *section;

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE)
		return false;
	section = elf_getscn(table->elf, symbol->st_shndx);
	return section && gelf_getshdr(section, header) && header->sh_flags & SHF_EXECINSTR;
}

/* Labels of assembly have no type; those of compilers within a function have odd names. */
static bool is_function(const GElf_Sym *symbol, const char *name)
{
	switch (GELF_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return *name;
	case STT_NOTYPE:
		return *name && *name != '$' && strncmp(name, ".L", 2);
	default:
		return false;
	}
}

static int append(struct elf_symbols *symbols, const struct elf_symbol *symbol)
{
	size_t capacity = symbols->capacity ? symbols->capacity * 2 : 1024;
	struct elf_symbol *all = symbols->all;

	if (symbols->nr == symbols->capacity) {
		all = reallocarray(symbols->all, capacity, sizeof(*all));
		if (!all)
			return -ENOMEM;
		symbols->all = all;
		symbols->capacity = capacity;
	}
	all[symbols->nr++] = *symbol;
	return 0;
}

/* Of a function without a size, end is for now the end of its section. */
static int add_symbol(struct elf_symbols *symbols, const struct table *table, int i)
{
	struct elf_symbol function = { 0 };
	GElf_Shdr section;
	GElf_Sym symbol;
	uint64_t end;

	if (!gelf_getsym(table->symbols, i, &symbol))
		return 0;
	function.name = elf_strptr(table->elf, table->names, symbol.st_name);
	if (!function.name || !is_function(&symbol, function.name) ||
	    !find_code(table, &symbol, &section))
		return 0;
	end = section.sh_addr + section.sh_size;
	if (symbol.st_value < section.sh_addr || symbol.st_value >= end)
		return 0;
	function.start = symbol.st_value;
	function.end = end;
	if (symbol.st_size)
		function.end =
			min_u64(end, symbol.st_value + min_u64(symbol.st_size, section.sh_size));
	function.order = (uint32_t)symbols->nr;
	function.rank = rank_of(&symbol, function.name);
	return append(symbols, &function);
}

static int add_table(struct elf_symbols *symbols, const struct table *table, size_t nr)
{
	int err = 0;

	for (size_t i = 1; i < nr && i < ELF_SYMBOLS_MAX && !err; i++) {
		if (symbols->nr >= ELF_SYMBOLS_MAX)
			return 0;
		err = add_symbol(symbols, table, (int)i);
	}
	return err;
}

int elf_symbols__add(struct elf_symbols *symbols, Elf *elf)
{
	struct table table = { .elf = elf };
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int err = 0;

	while (!err && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || !header.sh_entsize ||
		    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		table.symbols = elf_getdata(section, NULL);
		table.names = header.sh_link;
		if (table.symbols)
			err = add_table(symbols, &table, header.sh_size / header.sh_entsize);
	}
	return err;
}

static int compare(const void *a, const void *b)
{
	const struct elf_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void elf_symbols__sort(struct elf_symbols *symbols)
{
	struct elf_symbol *all = symbols->all;
	size_t nr = 0;

	if (!symbols->nr)
		return;
	qsort(all, symbols->nr, sizeof(*all), compare);
	for (size_t i = 0; i < symbols->nr; i++) {
		if (!nr || all[nr - 1].start != all[i].start)
			all[nr++] = all[i];
	}
	symbols->nr = nr;
	/* A function without a size reaches to the next one. */
	for (size_t i = 0; i + 1 < nr; i++) {
		if (all[i].rank >> 31)
			all[i].end = min_u64(all[i].end, all[i + 1].start);
	}
}

const struct elf_symbol *elf_symbols__find(const struct elf_symbols *symbols, uint64_t address)
{
	size_t low = 0, high = symbols->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->all[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i > 0 && low - i < MOST_NESTED; i--) {
		if (address < symbols->all[i - 1].end)
			return &symbols->all[i - 1];
	}
	return NULL;
}

void elf_symbols__free(struct elf_symbols *symbols)
{
	free(symbols->all);
	*symbols = (struct elf_symbols){ 0 };
}
