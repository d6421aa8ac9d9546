/* SPDX-License-Identifier: GPL-2.0-only */
#include "cfi/cfi_table.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "cfi/cfi_rows.h"

#define NO_RULE CFI_RULE(CFI_SPECIAL, CFI_NONE)
/* Executable segments of a file: linkers make one. */
#define MAX_SEGMENTS 16

struct segment {
	uint64_t offset;
	uint64_t size;
	uint64_t address;
};

struct packer {
	struct segment segments[MAX_SEGMENTS]; /* by ascending offsets */
	size_t nr_segments;
	struct cfi_row *rows; /* whose pc are offsets in the file */
	size_t nr;
};

static int by_offset(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* The executable segments, up to the end of the file: what is mapped behind it has no code. */
static int read_segments(struct packer *packer, Elf *elf)
{
	GElf_Phdr header;
	size_t nr, size;

	if (elf_getphdrnum(elf, &nr) || !elf_rawfile(elf, &size))
		return -ENOEXEC;
	for (size_t i = 0; i < nr && packer->nr_segments < MAX_SEGMENTS; i++) {
		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
		    !(header.p_flags & PF_X) || !header.p_filesz || header.p_offset >= size)
			continue;
		packer->segments[packer->nr_segments++] = (struct segment){
			header.p_offset, min_u64(header.p_filesz, size - header.p_offset),
			header.p_vaddr
		};
	}
	return 0;
}

/* Where the file's code is. Of segments that overlap, what lies behind the one before counts. */
static int find_segments(struct packer *packer, Elf *elf)
{
	int err = read_segments(packer, elf);
	uint64_t end = 0;
	size_t kept = 0;

	if (err)
		return err;
	qsort(packer->segments, packer->nr_segments, sizeof(packer->segments[0]), by_offset);
	for (size_t i = 0; i < packer->nr_segments; i++) {
		struct segment segment = packer->segments[i];
		uint64_t skip = segment.offset < end ? end - segment.offset : 0;

		if (skip >= segment.size)
			continue;
		segment.offset += skip;
		segment.address += skip;
		segment.size -= skip;
		end = segment.offset + segment.size;
		packer->segments[kept++] = segment;
	}
	packer->nr_segments = kept;
	return kept ? 0 : -ENOENT;
}

static void put_row(struct packer *packer, uint64_t offset, uint32_t rule)
{
	if (packer->nr && packer->rows[packer->nr - 1].rule == rule)
		return;
	packer->rows[packer->nr++] = (struct cfi_row){ offset, rule };
}

/* The rows of a segment, then none up to the next. */
static void put_segment(struct packer *packer, const struct segment *segment,
			const struct cfi_rows *rows)
{
	uint64_t end = segment->address + segment->size;
	size_t low = 0, high = rows->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (rows->rows[middle].pc <= segment->address)
			low = middle + 1;
		else
			high = middle;
	}
	put_row(packer, segment->offset, cfi_rows__find(rows, segment->address));
	for (; low < rows->nr && rows->rows[low].pc < end; low++)
		put_row(packer, rows->rows[low].pc - segment->address + segment->offset,
			rows->rows[low].rule);
	put_row(packer, segment->offset + segment->size, NO_RULE);
}

static int to_offsets(struct packer *packer, const struct cfi_rows *rows)
{
	/* Segments may have the same addresses: each has the rows of all in the worst case. */
	packer->rows = calloc((rows->nr + 2) * packer->nr_segments, sizeof(*packer->rows));
	if (!packer->rows)
		return -ENOMEM;
	for (size_t i = 0; i < packer->nr_segments; i++)
		put_segment(packer, &packer->segments[i], rows);
	return 0;
}

/* The rows of all pages, behind the index. A page begins with the row that holds at its start. */
static void pack(struct cfi_table *table, const struct packer *packer)
{
	uint32_t *rows = table->words + table->nr_pages;
	size_t next = 0;

	for (size_t i = 0; i < packer->nr; i++)
		rows[i] = (uint32_t)(packer->rows[i].pc & (CFI_PAGE_SIZE - 1)) << 24 |
			  packer->rows[i].rule;
	for (uint32_t page = 0; page < table->nr_pages; page++) {
		uint64_t start = table->start + (uint64_t)page * CFI_PAGE_SIZE;
		size_t first;

		while (next < packer->nr && packer->rows[next].pc <= start)
			next++;
		first = next ? next - 1 : 0;
		while (next < packer->nr && packer->rows[next].pc < start + CFI_PAGE_SIZE)
			next++;
		table->words[page] = (uint32_t)(table->nr_pages + first) |
				     (uint32_t)min_u64(next - first, CFI_PAGE_ROWS) << 24;
	}
}

/* The index is for the code from the first function with a rule to the last one. */
static int pack_rows(struct cfi_table *table, const struct packer *packer)
{
	const struct cfi_row *rows = packer->rows;
	uint64_t start, nr_pages, nr_words;

	/* The last row says that none follows. */
	if (packer->nr < 2)
		return -ENOENT;
	start = rows[rows[0].rule == NO_RULE ? 1 : 0].pc & ~(uint64_t)(CFI_PAGE_SIZE - 1);
	nr_pages = (rows[packer->nr - 1].pc - start + CFI_PAGE_SIZE - 1) >> CFI_PAGE_SHIFT;
	nr_words = nr_pages + packer->nr;
	if (nr_words > CFI_FILE_WORDS)
		return -E2BIG;
	table->start = start;
	table->nr_pages = (uint32_t)nr_pages;
	table->nr_words = (uint32_t)nr_words;
	table->words = calloc(nr_words, sizeof(*table->words));
	if (!table->words)
		return -ENOMEM;
	pack(table, packer);
	return 0;
}

int cfi_table__make(struct cfi_table *table, Elf *elf)
{
	struct packer packer = { .nr = 0 };
	struct cfi_rows rows = { 0 };
	int err = cfi_rows__read(&rows, elf);

	if (!err)
		err = find_segments(&packer, elf);
	if (!err)
		err = to_offsets(&packer, &rows);
	if (!err)
		err = pack_rows(table, &packer);
	if (!err) {
		table->wides = rows.wides;
		table->nr_wides = (uint32_t)rows.nr_wides;
		rows.wides = NULL;
	}
	free(packer.rows);
	cfi_rows__free(&rows);
	return err;
}

static bool is_sound(uint32_t rule, uint32_t nr_wides)
{
	uint32_t value = rule & CFI_VALUE_MASK;

	if ((rule & CFI_RULE_MASK) >> CFI_KIND_SHIFT == CFI_WIDE)
		return value < nr_wides;
	return (rule & CFI_RULE_MASK) >> CFI_KIND_SHIFT != CFI_SPECIAL || value <= CFI_UNSUPPORTED;
}

int cfi_table__check(const struct cfi_table *table)
{
	uint32_t least;

	if (table->nr_pages > table->nr_words || table->nr_words > CFI_TABLE_WORDS ||
	    table->nr_wides > CFI_WIDES_MAX)
		return -EPROTO;
	least = table->nr_pages;
	for (uint32_t page = 0; page < table->nr_pages; page++) {
		uint32_t first = table->words[page] & CFI_RULE_MASK;
		uint32_t nr = table->words[page] >> 24;

		/*
		 * Pages follow each other, and may share the row between them: what copies the
		 * table relies on it. The row that holds at the start of a page is there in any
		 * case.
		 */
		if (first < least || !nr || first + nr > table->nr_words)
			return -EPROTO;
		least = first + nr - 1;
	}
	for (uint32_t i = table->nr_pages; i < table->nr_words; i++) {
		if (!is_sound(table->words[i], table->nr_wides))
			return -EPROTO;
	}
	return 0;
}

uint32_t cfi_table__find(const struct cfi_table *table, uint64_t offset)
{
	uint64_t page = (offset - table->start) >> CFI_PAGE_SHIFT;
	uint32_t at, nr, byte = offset & (CFI_PAGE_SIZE - 1);

	if (offset < table->start || page >= table->nr_pages)
		return NO_RULE;
	at = table->words[page] & CFI_RULE_MASK;
	nr = table->words[page] >> 24;
	while (nr > 1) {
		uint32_t half = nr / 2;

		if (table->words[at + half] >> 24 <= byte) {
			at += half;
			nr -= half;
		} else {
			nr = half;
		}
	}
	return table->words[at] & CFI_RULE_MASK;
}

void cfi_table__free(struct cfi_table *table)
{
	free(table->words);
	free(table->wides);
	*table = (struct cfi_table){ 0 };
}
