/* SPDX-License-Identifier: GPL-2.0-only */
#include "unwind/data_symbols.h"

#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/bus_guard.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/confine.h"
#include "base/log.h"
#include "base/units.h"
#include "machine/machine.h"
#include "symbol/dso.h"

/* Time without progress after which the child is stuck, and the limit if it lacks a CPU. */
#define STUCK_MS 250
#define DEADLINE_MS 2000
/* Number of files without an answer after which no file is read any more. */
#define MOST_STUCK 2
/* Memory limit for reading one file. */
#define MAX_HEAP (64ULL << 20)
#define MAX_NAME 128
/* Symbols to look back in the table for a larger one that contains the address. */
#define MOST_NESTED 8
/* Symbols that are sent at a time. */
#define BATCH 512

struct data_symbol {
	uint64_t value; /* address in the file */
	uint64_t size;
	char name[MAX_NAME];
};

/* A linker makes four or five. */
#define MAX_SEGMENTS 16

/* The placement of a file in memory. */
struct placement {
	uint64_t shift; /* to be added to start - pgoff of its code for the bias */
	uint64_t nr;	/* of segments; other mappings may lie between them */
	struct {
		uint64_t low, high; /* addresses in the file */
	} segments[MAX_SEGMENTS];
};

enum { TYPE_PLACEMENT = 1, TYPE_SYMBOLS };

struct file_symbols {
	struct placement placement; /* nr is 0: the file cannot be read */
	struct buffer symbols;	    /* struct data_symbol, by value */
	size_t nr;
};

struct question {
	const struct dso_process *process;
	const struct maps_entry *map;
};

/* True for a variable that the file defines at a known address. */
static bool is_variable(const GElf_Sym *symbol)
{
	return GELF_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_size &&
	       symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS;
}

/* In the child: the symbol table; of a stripped file, the dynamic symbols. */
static Elf_Scn *find_table(Elf *elf, GElf_Shdr *header)
{
	static const GElf_Word types[] = { SHT_SYMTAB, SHT_DYNSYM };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		Elf_Scn *section = NULL;

		while ((section = elf_nextscn(elf, section))) {
			if (gelf_getshdr(section, header) && header->sh_type == types[i] &&
			    header->sh_entsize)
				return section;
		}
	}
	return NULL;
}

static int send_symbols(Elf *elf, struct child_out *out)
{
	struct data_symbol *batch = calloc(BATCH, sizeof(*batch));
	size_t nr = 0, sent = 0;
	GElf_Shdr header;
	Elf_Scn *table = find_table(elf, &header);
	Elf_Data *data = table ? elf_getdata(table, NULL) : NULL;
	GElf_Sym symbol;
	int err = batch ? 0 : -ENOMEM;

	for (int i = 0; !err && data && sent < DATA_SYMBOLS_MAX && gelf_getsym(data, i, &symbol);
	     i++) {
		const char *name;

		if (!is_variable(&symbol))
			continue;
		name = elf_strptr(elf, header.sh_link, symbol.st_name);
		batch[nr] = (struct data_symbol){ symbol.st_value, symbol.st_size, "" };
		snprintf(batch[nr++].name, MAX_NAME, "%s", name ? name : "");
		sent++;
		if (nr < BATCH)
			continue;
		err = child_out__put(out, TYPE_SYMBOLS, batch, nr * sizeof(*batch));
		nr = 0;
	}
	if (!err && nr)
		err = child_out__put(out, TYPE_SYMBOLS, batch, nr * sizeof(*batch));
	free(batch);
	return err;
}

/* In the child. */
static void find_segments(Elf *elf, struct placement *placement)
{
	GElf_Phdr segment;
	size_t nr = 0;

	if (elf_getphdrnum(elf, &nr))
		return;
	for (size_t i = 0; i < nr && placement->nr < MAX_SEGMENTS; i++) {
		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD)
			continue;
		placement->segments[placement->nr].low = segment.p_vaddr;
		placement->segments[placement->nr++].high = segment.p_vaddr + segment.p_memsz;
	}
}

/* In the child. */
static int read_file(void *ctx, struct child_out *out)
{
	const struct question *question = ctx;
	const struct maps_entry *map = question->map;
	struct placement placement = { 0 };
	struct dso *dso;
	uint64_t bias;
	int err = bus_guard__install();

	if (!err)
		err = confine__process(CONFINE_READ, MAX_HEAP);
	if (err)
		pr_debug("the process that reads symbols is not confined: %s", strerror(-err));
	dso = dso__open(question->process, map);
	if (!dso)
		return -ENOMEM;
	err = dso->err ? dso->err : dso__bias(dso, map, &bias);
	if (!err) {
		placement.shift = bias - (map->start - map->pgoff);
		find_segments(dso->elf, &placement);
		err = child_out__put(out, TYPE_PLACEMENT, &placement, sizeof(placement));
	}
	if (!err)
		err = send_symbols(dso->elf, out);
	/* A file that shrank meanwhile was read as zeros. */
	return bus_guard__faults() ? -EIO : err;
}

/* In the parent, which checks the sizes of the child's messages. */
static int take_message(struct file_symbols *file, const struct child_message *message)
{
	if (message->type == TYPE_PLACEMENT && message->size == sizeof(file->placement)) {
		memcpy(&file->placement, message->data, sizeof(file->placement));
		return file->placement.nr <= MAX_SEGMENTS ? 0 : -EPROTO;
	}
	if (message->type != TYPE_SYMBOLS || message->size % sizeof(struct data_symbol) ||
	    file->symbols.len > DATA_SYMBOLS_MAX * sizeof(struct data_symbol))
		return -EPROTO;
	return buffer__append(&file->symbols, message->data, message->size);
}

static int by_value(const void *a, const void *b)
{
	const struct data_symbol *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

static void sort(struct file_symbols *file)
{
	file->nr = file->symbols.len / sizeof(struct data_symbol);
	if (file->nr)
		qsort(file->symbols.data, file->nr, sizeof(struct data_symbol), by_value);
}

/* Reads a file's symbols through a process that has it mapped. 0 or a negative errno. */
static int ask(struct file_symbols *file, const struct dso_process *process,
	       const struct maps_entry *map)
{
	const uint64_t latest = clock__now_ns() + DEADLINE_MS * NSEC_PER_MSEC;
	struct question question = { process, map };
	struct child_message message;
	struct child *child;
	int err;

	child = child__new_patiently(read_file, &question, NULL,
				     clock__now_ns() + STUCK_MS * NSEC_PER_MSEC, &err);
	if (!child)
		return err;
	while ((err = child__receive_unless_stuck(child, STUCK_MS * NSEC_PER_MSEC, latest,
						  &message)) == 1) {
		err = take_message(file, &message);
		if (err)
			break;
	}
	child__delete(child);
	if (err) {
		buffer__free(&file->symbols);
		file->placement = (struct placement){ 0 };
	}
	sort(file);
	return err;
}

/* The symbols of the file, read on first use; NULL: none available. */
static const struct file_symbols *get_file(struct data_symbols *symbols,
					   const struct dso_process *process,
					   const struct maps_entry *map)
{
	uint64_t *value = idmap__find(&symbols->files, map->file->id);
	struct file_symbols *file;
	int err;

	if (value)
		return (const struct file_symbols *)(uintptr_t)*value;
	if (symbols->stuck >= MOST_STUCK || symbols->files.used >= DATA_SYMBOLS_FILES)
		return NULL;
	value = idmap__get(&symbols->files, map->file->id);
	file = value ? calloc(1, sizeof(*file)) : NULL;
	if (!file)
		return NULL;
	*value = (uint64_t)(uintptr_t)file;
	err = ask(file, process, map);
	if (err)
		pr_verbose("no names of the variables of %s: %s", map->file->path, strerror(-err));
	symbols->stuck += err == -ETIMEDOUT;
	return file;
}

static const struct data_symbol *find_symbol(const struct file_symbols *file, uint64_t addr)
{
	const struct data_symbol *all = (const void *)file->symbols.data;
	size_t low = 0, high = file->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (all[middle].value <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	/* A symbol may lie within a larger one that begins before it. */
	for (size_t i = low; i > 0 && low - i < MOST_NESTED; i--) {
		if (addr - all[i - 1].value < all[i - 1].size)
			return &all[i - 1];
	}
	return NULL;
}

static bool is_in_segment(const struct placement *placement, uint64_t addr)
{
	for (uint64_t i = 0; i < placement->nr; i++) {
		if (addr >= placement->segments[i].low && addr < placement->segments[i].high)
			return true;
	}
	return false;
}

static void put_name(char *out, size_t size, const char *name, uint64_t offset)
{
	if (offset)
		snprintf(out, size, "%s+0x%" PRIx64, name, offset);
	else
		snprintf(out, size, "%s", name);
}

int data_symbols__find(struct data_symbols *symbols, const struct machine *machine, pid_t pid,
		       uint64_t time, uint64_t addr, char *out, size_t size)
{
	const struct maps *maps =
		process__maps_at(machine__process_at(machine, pid, time), time);
	/* Variables lie behind the code of their file. */
	const struct maps_entry *map = maps ? maps__before(maps, time, addr) : NULL;
	const struct dso_process process = { .pid = pid, .alive = time };
	const struct file_symbols *file = map ? get_file(symbols, &process, map) : NULL;
	const struct data_symbol *symbol;
	const char *slash;
	uint64_t bias;

	if (!file)
		return -ENOENT;
	bias = map->start - map->pgoff + file->placement.shift;
	addr -= bias;
	if (!is_in_segment(&file->placement, addr))
		return -ENOENT;
	symbol = find_symbol(file, addr);
	slash = strrchr(map->file->path, '/');
	if (symbol)
		put_name(out, size, symbol->name, addr - symbol->value);
	else
		put_name(out, size, slash ? slash + 1 : map->file->path, addr);
	return 0;
}

void data_symbols__free(struct data_symbols *symbols)
{
	for (size_t i = 0; i < symbols->files.capacity; i++) {
		const struct idmap_slot *slot = &symbols->files.slots[i];
		struct file_symbols *file = (struct file_symbols *)(uintptr_t)slot->value;

		if (slot->id == IDMAP_NONE || !file)
			continue;
		buffer__free(&file->symbols);
		free(file);
	}
	idmap__free(&symbols->files);
}
