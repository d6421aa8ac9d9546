/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/file_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "base/units.h"
#include "cfi/cfi_files.h"
#include "cfi/cfi_walk.h"
#include "machine/mapped_file.h"

/* Tables made at once, and how long a file may take to answer. */
#define BATCH 8
#define PATIENCE_MS 200
/*
 * A table that could not be made, or found no room, is tried again after so long; and so if the
 * process that was asked was no longer there, or not as it had been.
 */
#define AGAIN_NS (60 * NSEC_PER_SEC)
#define SOON_NS (100 * NSEC_PER_MSEC)
/* Of all tables, which are forgotten all at once where there is no room for another. */
#define MAX_BYTES (64UL << 20)
#define MAX_FILES 65536

#define NO_FILE CFI_RULE(CFI_SPECIAL, CFI_NO_FILE)

struct file_table {
	struct cfi_table table; /* no words: there is none, */
	bool is_wanted;		/* and it is to be made, */
	uint64_t again;		/* or not before that time; UINT64_MAX: never */
	uint64_t stamp;		/* of the file when it was made, see stamp_of() */
};

/* A file whose table is wanted, and a mapping of it. */
struct wish {
	size_t nr; /* of the file_table */
	uint64_t stamp;
	pid_t tid; /* 0: the vDSO */
	uint64_t start;
	uint64_t end;
	uint64_t ino;
	uint32_t dev;
};

struct file_tables {
	struct idmap numbers; /* id of a mapped file -> number in all, plus 1 */
	struct buffer all;    /* struct file_table */
	struct buffer wishes; /* struct wish */
	uint64_t bytes;	      /* of all tables */
	uint64_t full;	      /* since when there has been no room; 0: there is */
	struct cfi_making *making; /* of files, for the first nr_making wishes; NULL: of none */
	size_t nr_making;
	struct cfi_file files[BATCH];
};

struct file_tables *file_tables__new(void)
{
	return calloc(1, sizeof(struct file_tables));
}

static struct file_table *table_at(const struct file_tables *tables, size_t nr)
{
	return (struct file_table *)(void *)tables->all.data + nr;
}

static void end_making(struct file_tables *tables)
{
	cfi_files__end(tables->making);
	for (size_t i = 0; i < tables->nr_making; i++)
		cfi_table__free(&tables->files[i].table);
	tables->making = NULL;
	tables->nr_making = 0;
}

static void forget_all(struct file_tables *tables)
{
	size_t nr = tables->all.len / sizeof(struct file_table);

	end_making(tables);
	for (size_t i = 0; i < nr; i++)
		cfi_table__free(&table_at(tables, i)->table);
	tables->all.len = tables->wishes.len = 0;
	idmap__clear(&tables->numbers);
	tables->bytes = tables->full = 0;
}

void file_tables__delete(struct file_tables *tables)
{
	if (!tables)
		return;
	forget_all(tables);
	buffer__free(&tables->all);
	buffer__free(&tables->wishes);
	idmap__free(&tables->numbers);
	free(tables);
}

static uint64_t bytes_of(const struct cfi_table *table)
{
	return table->nr_words * sizeof(*table->words) + table->nr_wides * sizeof(*table->wides);
}

/* The vDSO is no file, but has a table. */
static bool is_vdso(const struct mapped_file *file)
{
	return !file->ino && !strcmp(file->path, "[vdso]");
}

/* NULL: no memory. */
static struct file_table *find_table(struct file_tables *tables, const struct mapped_file *file)
{
	const struct file_table none = { 0 };
	uint64_t *number = idmap__get(&tables->numbers, file->id);

	if (!number)
		return NULL;
	if (!*number) {
		if (buffer__append(&tables->all, &none, sizeof(none)))
			return NULL;
		*number = tables->all.len / sizeof(none);
	}
	return table_at(tables, *number - 1);
}

/*
 * A hash over what is another one once the file has been written, or another file has its inode: a
 * mapping tells only its number. 0: the mapping is gone. No server is asked for the file.
 */
static uint64_t stamp_of(pid_t tid, const struct maps_entry *map)
{
	struct statx file;
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, tid, map->start,
		 map->end);
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT,
		  STATX_CTIME | STATX_SIZE, &file))
		return 0;
	return idmap__mix(idmap__mix((uint64_t)file.stx_ctime.tv_sec, file.stx_ctime.tv_nsec),
			  file.stx_size);
}

void file_tables__check(struct file_tables *tables, pid_t tid, const struct maps_entry *map)
{
	const uint64_t *number = idmap__find(&tables->numbers, map->file->id);
	struct file_table *table = number ? table_at(tables, *number - 1) : NULL;

	if (!table || !table->table.words || is_vdso(map->file) ||
	    table->stamp == stamp_of(tid, map))
		return;
	tables->bytes -= bytes_of(&table->table);
	cfi_table__free(&table->table);
}

static bool want(struct file_tables *tables, struct file_table *table, pid_t tid,
		 const struct maps_entry *map)
{
	struct wish wish = { .nr = (size_t)(table - table_at(tables, 0)),
			     .tid = is_vdso(map->file) ? 0 : tid,
			     .start = map->start,
			     .end = map->end,
			     .ino = map->file->ino,
			     .dev = map->file->maj << 20 | map->file->min };

	if (table->is_wanted)
		return true;
	wish.stamp = wish.tid ? stamp_of(tid, map) : 0;
	table->is_wanted = !buffer__append(&tables->wishes, &wish, sizeof(wish));
	return table->is_wanted;
}

uint32_t file_tables__rule(struct file_tables *tables, pid_t tid, const struct maps_entry *map,
			   uint64_t pc, struct cfi_wide *wide)
{
	struct file_table *table;
	uint32_t rule;

	if (!map->file->ino && !is_vdso(map->file))
		return NO_FILE;
	table = find_table(tables, map->file);
	if (!table)
		return NO_FILE;
	if (!table->table.words) {
		if (table->again == UINT64_MAX)
			return NO_FILE;
		return clock__now_ns() >= table->again && want(tables, table, tid, map)
			       ? CFI_WALK_NO_TABLE : CFI_WALK_LATER;
	}
	rule = cfi_table__find(&table->table, pc - map->start + map->pgoff);
	if (rule >> CFI_KIND_SHIFT == CFI_WIDE)
		*wide = table->table.wides[rule & CFI_VALUE_MASK];
	return rule;
}

/* Whether there has been no room for some time, or too many files were met. */
static bool is_overfull(const struct file_tables *tables)
{
	return (tables->full && clock__now_ns() - tables->full >= AGAIN_NS) ||
	       tables->all.len / sizeof(struct file_table) >= MAX_FILES;
}

/* Begins with the next ones. False: there are none. */
static bool begin(struct file_tables *tables)
{
	const struct wish *wishes = (const void *)tables->wishes.data;
	size_t nr = tables->wishes.len / sizeof(*wishes);

	if (nr > BATCH)
		nr = BATCH;
	for (size_t i = 0; i < nr; i++)
		tables->files[i] = (struct cfi_file){ .pid = wishes[i].tid,
						      .start = wishes[i].start,
						      .end = wishes[i].end,
						      .ino = wishes[i].ino,
						      .dev = wishes[i].dev };
	tables->nr_making = nr;
	if (nr)
		tables->making = cfi_files__begin(tables->files, nr, PATIENCE_MS);
	if (!tables->making)
		tables->nr_making = 0;
	return tables->making;
}

/* When another try may have another result. */
static uint64_t when_again(int err)
{
	switch (err) {
	case -ENOENT:
	case -ENOEXEC:
	case -EPERM:
	case -EACCES:
	case -E2BIG:
		return UINT64_MAX;
	case -ESRCH:
	case -EAGAIN:
	case -ECANCELED:
		return clock__now_ns() + SOON_NS;
	default:
		return clock__now_ns() + AGAIN_NS;
	}
}

static void take(struct file_tables *tables, struct file_table *table, struct cfi_file *file,
		 uint64_t stamp)
{
	uint64_t bytes = bytes_of(&file->table);

	table->is_wanted = false;
	if (file->err) {
		table->again = when_again(file->err);
	} else if (bytes > MAX_BYTES / 2) {
		table->again = when_again(-E2BIG);
	} else if (tables->bytes + bytes > MAX_BYTES) {
		table->again = when_again(-ENOSPC);
		if (!tables->full)
			tables->full = clock__now_ns();
	} else {
		tables->bytes += bytes;
		table->stamp = stamp;
		table->table = file->table;
		file->table = (struct cfi_table){ 0 };
	}
}

static void take_all(struct file_tables *tables)
{
	const struct wish *wishes = (const void *)tables->wishes.data;

	for (size_t i = 0; i < tables->nr_making; i++)
		take(tables, table_at(tables, wishes[i].nr), &tables->files[i], wishes[i].stamp);
	buffer__consume(&tables->wishes, tables->nr_making * sizeof(*wishes));
	end_making(tables);
}

bool file_tables__make(struct file_tables *tables, uint64_t until_ns)
{
	/* Walks that go on then ask for what they need of it. */
	if (!tables->making && is_overfull(tables)) {
		forget_all(tables);
		return true;
	}
	if (!tables->making && !begin(tables))
		return false;
	if (cfi_files__advance(tables->making, until_ns) != 1)
		take_all(tables);
	return true;
}
