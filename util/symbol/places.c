/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbol/places.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* So many have room in the key of a frame (symbols.c). */
#define MAX_PLACES 32767u

struct place *places__at(const struct places *places, size_t i)
{
	return (struct place *)places->all.data + i;
}

size_t places__nr(const struct places *places)
{
	return places->all.len / sizeof(struct place);
}

int places__init(struct places *places)
{
	const struct place first[] = {
		[PLACE_UNKNOWN] = { .kind = PLACE_UNKNOWN, .path = "" },
		[PLACE_KERNEL] = { .kind = PLACE_KERNEL, .path = "" },
	};

	return buffer__append(&places->all, first, sizeof(first));
}

/*
 * Code without a file, or whose file is none of code (that memfd is .NET's): runtimes describe it
 * by its addresses.
 */
static bool is_memory(const struct mapped_file *file)
{
	return strcmp(file->path, "[vdso]") &&
	       (file->path[0] != '/' || file->path[1] == '/' || !file->ino ||
		!strncmp(file->path, "/memfd:doublemapper", 19) ||
		!strncmp(file->path, "/dev/", 5) || !strncmp(file->path, "/SYSV", 5) ||
		!strncmp(file->path, "/anon_hugepage", 14));
}

static int fill(struct place *place, struct strings *strings, const struct process *process,
		const struct mapped_file *file)
{
	*place = (struct place){
		.kind = is_memory(file) ? PLACE_MEMORY : PLACE_FILE,
		.path = strings__get(strings, file->path),
		.file = *file,
		.born = process->born,
	};
	place->file.path = (char *)(uintptr_t)place->path;
	place->file.next = NULL;
	return place->path ? 0 : -ENOMEM;
}

int places__find(struct places *places, struct strings *strings, const struct process *process,
		 const struct maps_entry *map)
{
	uint64_t key = map->file->id, *index;
	struct place place;

	if (is_memory(map->file)) {
		key = idmap__mix(idmap__mix(1, (uint64_t)process->pid), process->born);
		key = idmap__mix(key, map->file->id);
	}
	index = idmap__find(&places->by_id, key);
	if (index)
		return (int)*index;
	if (places__nr(places) >= MAX_PLACES)
		return PLACE_UNKNOWN;
	index = idmap__get(&places->by_id, key);
	if (!index || fill(&place, strings, process, map->file))
		return -ENOMEM;
	*index = places__nr(places);
	return buffer__append(&places->all, &place, sizeof(place)) ? -ENOMEM : (int)*index;
}

static void name_ancestors(struct elf_mapping *mapping, const struct machine *machine,
			   const struct process *process)
{
	for (size_t i = 0; i < ELF_MAPPING_ANCESTORS && process && process->parent; i++) {
		mapping->ancestors[i] = process->parent;
		process = machine__process(machine, process->parent);
	}
}

void place__note(struct place *place, const struct machine *machine, const struct process *process,
		 uint64_t time, const struct maps_entry *map)
{
	struct elf_mapping mapping = { .pid = process->pid, .alive = time, .start = map->start,
				       .end = map->end, .pgoff = map->pgoff };
	size_t i = 0;

	while (i < place->nr_mappings && place->mappings[i].pid != process->pid)
		i++;
	if (i < place->nr_mappings)
		memcpy(mapping.ancestors, place->mappings[i].ancestors, sizeof(mapping.ancestors));
	else
		name_ancestors(&mapping, machine, process);
	if (i == ELF_WANTED_MAPPINGS)
		i = 0;
	if (i < place->nr_mappings) {
		memmove(&place->mappings[i], &place->mappings[i + 1],
			(place->nr_mappings - i - 1) * sizeof(mapping));
		place->nr_mappings--;
	}
	place->mappings[place->nr_mappings++] = mapping;
}

void places__free(struct places *places)
{
	buffer__free(&places->all);
	idmap__free(&places->by_id);
}
