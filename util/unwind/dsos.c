/* SPDX-License-Identifier: GPL-2.0-only */
#include "unwind/dsos.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

/* Attempts to open a file, each through another process, since processes end. */
#define MAX_TRIES 32
/* Maximum number of ancestors to try. */
#define MAX_ANCESTORS 8
/* Fault addresses are rounded to pages, but a file may begin anywhere in a page. */
#define PAGE_MAX 4096

struct dso_entry {
	struct dso *dso; /* NULL: not opened yet */
	pid_t tried;	     /* the process through which it was opened last */
	unsigned int tries;
	bool avoid;
};

static struct dso_entry *entry_of(struct dsos *dsos, uint64_t id)
{
	uint64_t *value = idmap__get(&dsos->by_file, id);
	struct dso_entry *entry;

	if (!value)
		return NULL;
	if (*value)
		return (struct dso_entry *)(uintptr_t)*value;
	entry = calloc(1, sizeof(*entry));
	if (!entry) {
		idmap__remove(&dsos->by_file, id);
		return NULL;
	}
	*value = (uint64_t)(uintptr_t)entry;
	return entry;
}

static bool is_worth_a_try(const struct dso_entry *entry, pid_t pid)
{
	const struct dso *dso = entry->dso;

	if (entry->avoid)
		return !dso;
	if (!dso)
		return true;
	return dso->err && dso->err != -ENOEXEC && entry->tried != pid &&
	       entry->tries < MAX_TRIES;
}

static struct dso *avoided(void)
{
	struct dso *dso = calloc(1, sizeof(*dso));

	if (dso)
		dso->err = -EIO;
	return dso;
}

static struct dso *open_dso(struct dsos *dsos, const struct dso_process *process,
			    const struct maps_entry *map)
{
	struct dso *dso;

	if (dsos->opening)
		*dsos->opening = map->file->id;
	dso = dso__open(process, map);
	if (dsos->opening)
		*dsos->opening = 0;
	return dso;
}

static const struct dso *get_dso(struct dsos *dsos, const struct dso_process *process,
				 const struct maps_entry *map)
{
	struct dso_entry *entry = entry_of(dsos, map->file->id);
	struct dso *dso;

	if (!entry)
		return NULL;
	if (!is_worth_a_try(entry, process->pid))
		return entry->dso;
	dso = entry->avoid ? avoided() : open_dso(dsos, process, map);
	if (!dso)
		return NULL;
	if (!entry->dso) {
		dsos->nr++;
		entry->dso = dso;
	} else {
		/* Without an elf, but callers may hold its address. */
		*entry->dso = *dso;
		free(dso);
	}
	if (!entry->dso->err)
		dsos->opened++;
	else if (!entry->tries)
		dsos->refused++;
	entry->tried = process->pid;
	entry->tries++;
	return entry->dso;
}

static bool has_ended(pid_t pid)
{
	return kill(pid, 0) && errno == ESRCH;
}

/* The nearest ancestor of a process that is still alive; 0: none is known. */
static pid_t living_ancestor(const struct machine *machine, pid_t pid)
{
	for (int i = 0; i < MAX_ANCESTORS && pid; i++) {
		const struct process *process = machine__process(machine, pid);

		pid = process ? process->parent : 0;
		if (pid && !has_ended(pid))
			return pid;
	}
	return 0;
}

/* A process loses its root when it ends. In a container, its ancestors usually have the same. */
const struct dso *dsos__get(struct dsos *dsos, const struct machine *machine,
			    const struct dso_process *process, const struct maps_entry *map)
{
	const struct dso *dso = get_dso(dsos, process, map);
	struct dso_process other = { .other = true };

	if (!dso || !dso->err || dso->err == -ENOEXEC || !has_ended(process->pid))
		return dso;
	other.pid = living_ancestor(machine, process->pid);
	return other.pid ? get_dso(dsos, &other, map) : dso;
}

int dsos__avoid(struct dsos *dsos, uint64_t file_id)
{
	struct dso_entry *entry = entry_of(dsos, file_id);

	if (!entry)
		return -ENOMEM;
	entry->avoid = true;
	return 0;
}

/* True if the address is in the file, which is mapped as a whole. */
static bool lies_in(const struct dso *dso, uintptr_t address)
{
	const char *base;
	size_t size;

	if (!dso || !dso->elf)
		return false;
	base = elf_rawfile(dso->elf, &size);
	return base && address + PAGE_MAX > (uintptr_t)base && address < (uintptr_t)base + size;
}

bool dsos__spoil(struct dsos *dsos, uintptr_t address)
{
	for (size_t i = 0; i < dsos->by_file.capacity; i++) {
		struct dso_entry *entry =
			(struct dso_entry *)(uintptr_t)dsos->by_file.slots[i].value;

		if (dsos->by_file.slots[i].id == IDMAP_NONE || !lies_in(entry->dso, address))
			continue;
		elf_end(entry->dso->elf);
		entry->dso->elf = NULL;
		entry->dso->err = -ESTALE;
		return true;
	}
	return false;
}

static void clear(struct dsos *dsos, bool all)
{
	struct idmap old = dsos->by_file;

	dsos->by_file = (struct idmap){ 0 };
	dsos->nr = 0;
	for (size_t i = 0; i < old.capacity; i++) {
		struct dso_entry *entry = (struct dso_entry *)(uintptr_t)old.slots[i].value;
		uint64_t *value;

		if (old.slots[i].id == IDMAP_NONE)
			continue;
		dso__delete(entry->dso);
		entry->dso = NULL;
		value = entry->avoid && !all ? idmap__get(&dsos->by_file, old.slots[i].id) : NULL;
		if (value)
			*value = (uint64_t)(uintptr_t)entry;
		else
			free(entry);
	}
	idmap__free(&old);
}

void dsos__clear(struct dsos *dsos)
{
	clear(dsos, false);
}

void dsos__free(struct dsos *dsos)
{
	clear(dsos, true);
}
