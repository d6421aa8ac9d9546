/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbol/inlines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

struct inlines {
	Dwarf *dwarf;
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
	free(inlines);
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

	if (!dwarf_addrdie(inlines->dwarf, address, &unit))
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
