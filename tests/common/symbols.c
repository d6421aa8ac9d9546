/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

struct symbol {
	uint64_t start;
	uint64_t end; /* behind it */
	char *name;
};

struct symbols {
	struct symbol *all;
	size_t nr;
	size_t capacity;
};

static int symbols__add(struct symbols *symbols, uint64_t start, uint64_t end, const char *name)
{
	if (symbols->nr == symbols->capacity) {
		size_t capacity = symbols->capacity ? 2 * symbols->capacity : 256;
		struct symbol *grown = realloc(symbols->all, capacity * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		symbols->all = grown;
		symbols->capacity = capacity;
	}
	symbols->all[symbols->nr].start = start;
	symbols->all[symbols->nr].end = end;
	symbols->all[symbols->nr].name = strdup(name);
	return symbols->all[symbols->nr++].name ? 0 : -ENOMEM;
}

static int compare_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void symbols__sort(struct symbols *symbols)
{
	qsort(symbols->all, symbols->nr, sizeof(*symbols->all), compare_start);
}

const char *symbols__name(const struct symbols *symbols, uint64_t ip)
{
	size_t low = 0, high = symbols->nr;

	ip--;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->all[middle].start <= ip)
			low = middle + 1;
		else
			high = middle;
	}
	return low && ip < symbols->all[low - 1].end ? symbols->all[low - 1].name : NULL;
}

void symbols__free(struct symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->nr; i++)
		free(symbols->all[i].name);
	free(symbols->all);
	free(symbols);
}

static int symbols__add_table(struct symbols *symbols, Elf *elf, Elf_Scn *section,
			      const GElf_Shdr *header, uint64_t bias)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t nr = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
	GElf_Sym symbol;
	int err = 0;

	for (size_t i = 0; data && i < nr && !err; i++) {
		const char *name;

		if (!gelf_getsym(data, (int)i, &symbol) || !symbol.st_size ||
		    GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
			continue;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (name)
			err = symbols__add(symbols, symbol.st_value + bias,
					   symbol.st_value + symbol.st_size + bias, name);
	}
	return err;
}

/* A first mapping at file offset 0 is where a position-independent executable begins. */
static uint64_t base_address(pid_t pid, const char *path)
{
	char maps[64], line[PATH_MAX + 128], name[PATH_MAX];
	uint64_t start, offset, base = 0;
	FILE *file;

	snprintf(maps, sizeof(maps), "/proc/%d/maps", pid);
	file = fopen(maps, "re");
	while (file && !base && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%" SCNx64 "-%*x %*s %" SCNx64 " %*s %*s %4095s", &start, &offset,
			   name) == 3 &&
		    !offset && !strcmp(name, path))
			base = start;
	}
	if (file)
		fclose(file);
	return base;
}

static int symbols__add_elf(struct symbols *symbols, Elf *elf, pid_t pid, const char *path)
{
	Elf_Scn *section = NULL;
	GElf_Ehdr elf_header;
	GElf_Shdr header;
	uint64_t bias = 0;
	int err = 0;

	if (!gelf_getehdr(elf, &elf_header))
		return -EINVAL;
	if (elf_header.e_type == ET_DYN)
		bias = base_address(pid, path);
	while (!err && (section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
			err = symbols__add_table(symbols, elf, section, &header, bias);
	}
	return err;
}

struct symbols *symbols__of_process(pid_t pid)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));
	char link[64], path[PATH_MAX];
	Elf *elf = NULL;
	int fd = -1, err = -ENOENT;
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	len = readlink(link, path, sizeof(path) - 1);
	if (!symbols || len < 0)
		goto out;
	path[len] = '\0';
	fd = open(link, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE)
		goto out;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf)
		err = symbols__add_elf(symbols, elf, pid, path);
	if (!err)
		symbols__sort(symbols);
out:
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	if (err || !symbols->nr) {
		fprintf(stderr, "no symbols of process %d: error %d\n", pid, -err);
		symbols__free(symbols);
		return NULL;
	}
	return symbols;
}

struct symbols *symbols__of_kernel(void)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[1024], name[512], type;
	uint64_t start;
	int err = symbols && file ? 0 : -ENOENT;

	while (!err && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%" SCNx64 " %c %511s", &start, &type, name) == 3 && start &&
		    strchr("tTwW", type))
			err = symbols__add(symbols, start, UINT64_MAX, name);
	}
	if (file)
		fclose(file);
	if (err || !symbols->nr) {
		fprintf(stderr, "no symbols of the kernel: error %d\n", -err);
		symbols__free(symbols);
		return NULL;
	}
	symbols__sort(symbols);
	return symbols;
}
