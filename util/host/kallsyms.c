/* SPDX-License-Identifier: GPL-2.0-only */
#include "host/kallsyms.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/units.h"

#define READ_BYTES 65536 /* the kernel gives a page of lines with each read(2) */

struct symbol {
	uint64_t address;
	uint32_t name; /* where it begins in names */
	uint32_t rank; /* of several with one address, the lowest one is chosen */
};

struct kallsyms {
	struct buffer symbols; /* of struct symbol, sorted by address and rank */
	struct buffer names;   /* each with its NUL */
	size_t nr;
	struct kallsyms_bounds bounds;
	bool hidden;
};

int kallsyms__parse_line(const char *line, size_t len, struct kallsyms_line *out)
{
	const char *p = line, *end = line + len;
	const char *tab;

	out->address = 0;
	for (; p < end && units__hex_digit(*p) >= 0; p++) {
		if (out->address >> 60)
			return -EINVAL;
		out->address = out->address << 4 | (uint64_t)units__hex_digit(*p);
	}
	if (p == line || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return -EINVAL;
	out->type = p[1];
	out->name = p + 3;
	tab = memchr(out->name, '\t', (size_t)(end - out->name));
	out->in_module = tab != NULL;
	out->name_len = (size_t)((tab ? tab : end) - out->name);
	if (!out->name_len || memchr(out->name, '\0', out->name_len))
		return -EINVAL;
	if (tab && (end - tab < 4 || tab[1] != '[' || end[-1] != ']'))
		return -EINVAL;
	return 0;
}

static const struct symbol *symbols_of(const struct kallsyms *kallsyms)
{
	return (const struct symbol *)kallsyms->symbols.data;
}

static const char *name_of(const struct kallsyms *kallsyms, const struct symbol *symbol)
{
	return kallsyms->names.data + symbol->name;
}

/* Global names are preferred to weak ones, and these to local ones. */
static uint32_t rank_of(char type)
{
	if (type == 'T')
		return 0;
	return type == 't' ? 1 : 2;
}

static int add_symbol(struct kallsyms *kallsyms, const struct kallsyms_line *line)
{
	struct symbol symbol = {
		.address = line->address,
		.name = (uint32_t)kallsyms->names.len,
		.rank = rank_of(line->type),
	};
	int err;

	if (kallsyms->names.len + line->name_len + 1 > UINT32_MAX)
		return -EFBIG;
	err = buffer__append(&kallsyms->names, line->name, line->name_len);
	if (!err)
		err = buffer__append(&kallsyms->names, "", 1);
	if (!err)
		err = buffer__append(&kallsyms->symbols, &symbol, sizeof(symbol));
	kallsyms->nr += !err;
	return err;
}

static bool is_named(const struct kallsyms_line *line, const char *name)
{
	return line->name_len == strlen(name) && !memcmp(line->name, name, line->name_len);
}

/* Modules may have names like these of their own. */
static void note_bound(struct kallsyms_bounds *bounds, const struct kallsyms_line *line)
{
	if (line->in_module || line->name[0] != '_')
		return;
	if (is_named(line, "_text"))
		bounds->text = line->address;
	else if (is_named(line, "_stext"))
		bounds->stext = line->address;
	else if (is_named(line, "_etext"))
		bounds->etext = line->address;
	else if (is_named(line, "_edata"))
		bounds->edata = line->address;
	else if (is_named(line, "__start_orc_unwind_ip"))
		bounds->orc_ips = line->address;
	else if (is_named(line, "__stop_orc_unwind_ip"))
		bounds->orc_ips_end = line->address;
	else if (is_named(line, "__start_orc_unwind"))
		bounds->orc_entries = line->address;
}

/*
 * The padding in front of each function, half of all symbols where compilers make it. No chain
 * leads there but by the return address of a last call that does not return, and that belongs to
 * the function before.
 */
static bool is_padding(const struct kallsyms_line *line)
{
	return line->name_len > 6 &&
	       (!memcmp(line->name, "__pfx_", 6) || !memcmp(line->name, "__cfi_", 6));
}

/* An invalid line is skipped: the others are still valid. */
static int read_lines(struct kallsyms *kallsyms, FILE *file)
{
	struct kallsyms_line parsed;
	bool any = false, any_address = false;
	size_t capacity = 0;
	char *line = NULL;
	ssize_t len;
	int err = 0;

	while (!err && (len = getline(&line, &capacity, file)) > 0) {
		if (line[len - 1] == '\n')
			len--;
		if (kallsyms__parse_line(line, (size_t)len, &parsed))
			continue;
		note_bound(&kallsyms->bounds, &parsed);
		if (!strchr("tTwW", parsed.type))
			continue;
		any = true;
		if (!parsed.address)
			continue;
		any_address = true;
		if (is_padding(&parsed))
			continue;
		err = add_symbol(kallsyms, &parsed);
	}
	if (!err && ferror(file))
		err = -EIO;
	if (!err && !any)
		err = -ENODATA;
	kallsyms->hidden = !any_address;
	free(line);
	return err;
}

/* The place in the file, which name is, decides last: the order never depends on qsort. */
static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *l = a, *r = b;

	if (l->address != r->address)
		return l->address < r->address ? -1 : 1;
	if (l->rank != r->rank)
		return l->rank < r->rank ? -1 : 1;
	return l->name < r->name ? -1 : l->name > r->name;
}

static void shrink(struct buffer *buffer)
{
	char *data = buffer->len ? realloc(buffer->data, buffer->len) : NULL;

	if (data) {
		buffer->data = data;
		buffer->capacity = buffer->len;
	}
}

struct kallsyms *kallsyms__new(const char *path, int *err)
{
	struct kallsyms *kallsyms = calloc(1, sizeof(*kallsyms));
	char *room = malloc(READ_BYTES);
	FILE *file = NULL;

	*err = -ENOMEM;
	if (kallsyms && room) {
		file = fopen(path ? path : "/proc/kallsyms", "re");
		/* setvbuf() takes a size for a buffer of ours alone: its own has a kilobyte. */
		if (file)
			setvbuf(file, room, _IOFBF, READ_BYTES);
		*err = file ? read_lines(kallsyms, file) : -errno;
	}
	if (file)
		fclose(file);
	free(room);
	if (*err) {
		kallsyms__delete(kallsyms);
		return NULL;
	}
	if (kallsyms->nr)
		qsort(kallsyms->symbols.data, kallsyms->nr, sizeof(struct symbol), compare_symbols);
	shrink(&kallsyms->symbols);
	shrink(&kallsyms->names);
	return kallsyms;
}

void kallsyms__delete(struct kallsyms *kallsyms)
{
	if (!kallsyms)
		return;
	buffer__free(&kallsyms->symbols);
	buffer__free(&kallsyms->names);
	free(kallsyms);
}

bool kallsyms__hidden(const struct kallsyms *kallsyms)
{
	return kallsyms->hidden;
}

const struct kallsyms_bounds *kallsyms__bounds(const struct kallsyms *kallsyms)
{
	return &kallsyms->bounds;
}

size_t kallsyms__nr(const struct kallsyms *kallsyms)
{
	return kallsyms->nr;
}

size_t kallsyms__memory(const struct kallsyms *kallsyms)
{
	return sizeof(*kallsyms) + kallsyms->symbols.capacity + kallsyms->names.capacity;
}

/* The number of symbols whose address is at most this one. */
static size_t count_up_to(const struct kallsyms *kallsyms, uint64_t address)
{
	const struct symbol *symbols = symbols_of(kallsyms);
	size_t low = 0, high = kallsyms->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The last symbol at or before an address, unless that is too far away. NULL: none. */
static const struct symbol *find(const struct kallsyms *kallsyms, uint64_t address)
{
	size_t i = count_up_to(kallsyms, address);
	const struct symbol *last = i ? symbols_of(kallsyms) + i - 1 : NULL;

	return last && address - last->address < KALLSYMS_OFFSET_MAX ? last : NULL;
}

const char *kallsyms__lookup(const struct kallsyms *kallsyms, uint64_t address, uint64_t *offset)
{
	const struct symbol *first = symbols_of(kallsyms), *symbol = find(kallsyms, address);

	if (!symbol)
		return NULL;
	while (symbol > first && symbol[-1].address == symbol->address)
		symbol--;
	if (offset)
		*offset = address - symbol->address;
	return name_of(kallsyms, symbol);
}

const char *kallsyms__lookup_as_perf(const struct kallsyms *kallsyms, uint64_t address,
				     uint64_t *offset)
{
	const struct symbol *first = symbols_of(kallsyms), *last = find(kallsyms, address);
	const struct symbol *symbol = last;

	if (!last)
		return NULL;
	/* Names are kept in the order of the file. */
	for (const struct symbol *at = last; at >= first && at->address == last->address; at--)
		symbol = at->name > symbol->name ? at : symbol;
	*offset = address - symbol->address;
	return name_of(kallsyms, symbol);
}

const char *kallsyms__name(const struct kallsyms *kallsyms, uint64_t address)
{
	return kallsyms ? kallsyms__lookup(kallsyms, address, NULL) : NULL;
}

int kallsyms__range(const struct kallsyms *kallsyms, const char *name, uint64_t *start,
		    uint64_t *end)
{
	const struct symbol *symbols = symbols_of(kallsyms);
	size_t next;

	for (size_t i = 0; i < kallsyms->nr; i++) {
		const char *own = name_of(kallsyms, &symbols[i]);

		/* Most differ here already, and there are very many. */
		if (*own != *name || strcmp(own, name))
			continue;
		next = count_up_to(kallsyms, symbols[i].address);
		*start = symbols[i].address;
		*end = next < kallsyms->nr ? symbols[next].address : UINT64_MAX;
		return 0;
	}
	return -ENOENT;
}

int kallsyms__each(const struct kallsyms *kallsyms, kallsyms_fn fn, void *ctx)
{
	const struct symbol *symbols = symbols_of(kallsyms);
	size_t next = 0;
	int err = 0;

	for (size_t i = 0; i < kallsyms->nr && !err; i++) {
		if (next <= i)
			for (next = i + 1; next < kallsyms->nr; next++)
				if (symbols[next].address != symbols[i].address)
					break;
		err = fn(ctx, name_of(kallsyms, &symbols[i]), symbols[i].address,
			 next < kallsyms->nr ? symbols[next].address : UINT64_MAX);
	}
	return err;
}
