/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbol/inlines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdlib.h>

/* Code of a unit. */
struct unit_code {
	Dwarf_Addr start, end;
	Dwarf_Off die;
};

struct inlines {
	Dwarf *dwarf;
	struct unit_code *code; /* sorted by start; of all units, once one was looked for */
	size_t nr_code, code_capacity;
	bool has_code;
};

/* A place in the source. */
struct source {
	const char *file;
	int line;
};

struct inlines *inlines__new(Elf *elf)
{
	struct inlines *inlines = calloc(1, sizeof(*inlines));

	if (!inlines)
		return NULL;
	inlines->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (inlines->dwarf)
		return inlines;
	free(inlines);
	return NULL;
}

void inlines__delete(struct inlines *inlines)
{
	if (!inlines)
		return;
	dwarf_end(inlines->dwarf);
	free(inlines->code);
	free(inlines);
}

/* Whether there was memory. */
static bool add_code(struct inlines *inlines, const struct unit_code *code)
{
	if (inlines->nr_code == inlines->code_capacity) {
		size_t capacity = inlines->code_capacity ? 2 * inlines->code_capacity : 64;
		struct unit_code *grown = reallocarray(inlines->code, capacity, sizeof(*grown));

		if (!grown)
			return false;
		inlines->code = grown;
		inlines->code_capacity = capacity;
	}
	inlines->code[inlines->nr_code++] = *code;
	return true;
}

static bool add_unit(struct inlines *inlines, Dwarf_Off offset)
{
	struct unit_code code = { .die = offset };
	Dwarf_Addr base;
	ptrdiff_t next = 0;
	Dwarf_Die unit;

	if (!dwarf_offdie(inlines->dwarf, offset, &unit))
		return true;
	while ((next = dwarf_ranges(&unit, next, &base, &code.start, &code.end)) > 0)
		if (code.start < code.end && !add_code(inlines, &code))
			return false;
	return true;
}

static int compare_code(const void *a, const void *b)
{
	const struct unit_code *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* What there was no memory for is missing. */
static void read_code(struct inlines *inlines)
{
	Dwarf_Off offset = 0, next;
	size_t header;

	while (!dwarf_nextcu(inlines->dwarf, offset, &next, &header, NULL, NULL, NULL) &&
	       add_unit(inlines, offset + header))
		offset = next;
	if (inlines->nr_code)
		qsort(inlines->code, inlines->nr_code, sizeof(*inlines->code), compare_code);
	inlines->has_code = true;
}

/*
 * The unit by .debug_aranges, else by what the units themselves say: LLVM writes no .debug_aranges
 * by default, and libdw looks nowhere else before elfutils 0.192.
 */
static bool find_unit(struct inlines *inlines, uint64_t address, Dwarf_Die *unit)
{
	size_t low = 0, high;

	if (dwarf_addrdie(inlines->dwarf, address, unit))
		return true;
	if (!inlines->has_code)
		read_code(inlines);
	high = inlines->nr_code;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (inlines->code[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < inlines->code[low - 1].end &&
	       dwarf_offdie(inlines->dwarf, inlines->code[low - 1].die, unit);
}

static const char *symbol_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ? name : dwarf_diename(die);
}

static int number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value))
		return 0;
	return (int)value;
}

/* Where an inlined function was called. */
static struct source call_of(Dwarf_Die *unit, Dwarf_Die *die)
{
	struct source source = { .line = number_of(die, DW_AT_call_line) };
	Dwarf_Files *files;
	size_t nr;

	if (!dwarf_getsrcfiles(unit, &files, &nr))
		source.file =
			dwarf_filesrc(files, (size_t)number_of(die, DW_AT_call_file), NULL, NULL);
	return source;
}

static struct source code_at(Dwarf_Die *unit, uint64_t address)
{
	struct source source = { 0 };
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);

	if (!line || dwarf_lineno(line, &source.line))
		return (struct source){ 0 };
	source.file = dwarf_linesrc(line, NULL, NULL);
	return source;
}

/* Scopes from the innermost one outwards, up to the function. */
static int each_scope(Dwarf_Die *unit, Dwarf_Die *scopes, int nr, struct source source,
		      inlines_fn fn, void *ctx)
{
	int err = 0;

	for (int i = 0; i < nr && !err; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag == DW_TAG_subprogram)
			break;
		if (tag != DW_TAG_inlined_subroutine || !symbol_of(&scopes[i]))
			continue;
		err = fn(ctx, symbol_of(&scopes[i]), source.file, source.line);
		source = call_of(unit, &scopes[i]);
	}
	return err ? err : fn(ctx, NULL, source.file, source.line);
}

int inlines__each(struct inlines *inlines, uint64_t address, inlines_fn fn, void *ctx)
{
	Dwarf_Die unit, *scopes = NULL, *around = NULL;
	int nr, err;

	if (!find_unit(inlines, address, &unit))
		return 0;
	nr = dwarf_getscopes(&unit, address, &scopes);
	/* Behind an inlined function these go on where it is defined, not where it is called. */
	if (nr > 0)
		nr = dwarf_getscopes_die(&scopes[0], &around);
	err = each_scope(&unit, around, nr, code_at(&unit, address), fn, ctx);
	free(scopes);
	free(around);
	return err;
}
