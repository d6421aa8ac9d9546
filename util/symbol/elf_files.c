/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbol/elf_files.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/elf_section.h"
#include "host/root_open.h"
#include "machine/machine.h"
#include "symbol/dso.h"

#define DELETED " (deleted)"
#define DEBUG_DIR "/usr/lib/debug"
#define MAX_SEGMENTS 512

/* Takes over fd, also on failure; -1: there is none. */
static int add(struct elf_files *files, Elf *elf, int fd)
{
	if (elf && elf_kind(elf) == ELF_K_ELF && files->nr < ELF_FILES_MAX) {
		files->fds[files->nr] = fd;
		files->all[files->nr++] = elf;
		return 0;
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return -ENOEXEC;
}

static int add_fd(struct elf_files *files, int fd)
{
	return fd < 0 ? fd : add(files, elf_begin(fd, ELF_C_READ_MMAP, NULL), fd);
}

/* Takes the last one out. */
static void drop(struct elf_files *files)
{
	files->nr--;
	elf_end(files->all[files->nr]);
	if (files->fds[files->nr] >= 0)
		close(files->fds[files->nr]);
}

static bool has_id(Elf *elf, const void *id, size_t len)
{
	const void *own;
	ssize_t own_len = dwelf_elf_gnu_build_id(elf, &own);

	/* Records have room for 20 bytes. */
	return own_len >= (ssize_t)len && (own_len == (ssize_t)len || len == BUILD_ID_MAX) &&
	       !memcmp(own, id, len);
}

/* Whether what was opened last is the file that is wanted; it is dropped if not. */
static int check_id(struct elf_files *files, const struct elf_wanted *wanted)
{
	if (!wanted->nr_ids)
		return 0;
	for (size_t i = 0; i < wanted->nr_ids; i++) {
		if (has_id(files->all[files->nr - 1], wanted->ids[i].bytes, wanted->ids[i].len))
			return 0;
	}
	drop(files);
	return -ESTALE;
}

/* The build-id that alone tells which file it was; NULL: there is none, or there are several. */
static const struct elf_build_id *only_id(const struct elf_wanted *wanted)
{
	return wanted->nr_ids == 1 ? &wanted->ids[0] : NULL;
}

/* The file below our own root, which only its build-id can prove. */
static int add_named(struct elf_files *files, const struct elf_wanted *wanted, const char *path)
{
	int err = only_id(wanted) ? add_fd(files, root_open__file(0, path)) : -ENOENT;

	return err ? err : check_id(files, wanted);
}

static int open_symfs(struct elf_files *files, const struct elf_wanted *wanted, const char *symfs)
{
	char path[PATH_MAX];
	int err;

	if (wanted->nr_ids > 1)
		return -ESTALE;
	snprintf(path, sizeof(path), "%s%s", symfs, wanted->file->path);
	err = add_fd(files, open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
	return err ? err : check_id(files, wanted);
}

static int open_for(struct elf_files *files, const struct elf_wanted *wanted,
		    const struct dso_process *process, const struct elf_mapping *mapping)
{
	const struct maps_entry map = {
		.start = mapping->start,
		.end = mapping->end,
		.pgoff = mapping->pgoff,
		.file = (struct mapped_file *)(uintptr_t)wanted->file
	};
	int err = add_fd(files, dso__open_file(process, &map));

	return err ? err : check_id(files, wanted);
}

/* In the place of a process that has ended, by the root of one that it comes from. */
static int open_for_ancestor(struct elf_files *files, const struct elf_wanted *wanted,
			     const struct elf_mapping *mapping)
{
	int err = -ENOENT;

	for (size_t i = 0; i < ELF_MAPPING_ANCESTORS && mapping->ancestors[i] && err; i++) {
		const struct dso_process other = { .pid = mapping->ancestors[i], .other = true };

		err = open_for(files, wanted, &other, mapping);
	}
	return err;
}

/* By the processes that have, or had, the file mapped, the latest one first. */
static int open_mapped(struct elf_files *files, const struct elf_wanted *wanted)
{
	int err = -ENOENT;

	for (size_t i = wanted->nr_mappings; i > 0 && err; i--) {
		const struct elf_mapping *mapping = &wanted->mappings[i - 1];
		const struct dso_process process = { .pid = mapping->pid, .alive = mapping->alive };

		err = open_for(files, wanted, &process, mapping);
	}
	for (size_t i = wanted->nr_mappings; i > 0 && err; i--)
		err = open_for_ancestor(files, wanted, &wanted->mappings[i - 1]);
	return err;
}

static int open_vdso(struct elf_files *files, const struct elf_wanted *wanted)
{
	const struct maps_entry map = { .file = (struct mapped_file *)(uintptr_t)wanted->file };
	const struct dso_process process = { 0 };
	struct dso *dso = dso__open(&process, &map);
	int err = dso ? dso->err : -ENOMEM;

	if (!err)
		err = add(files, dso->elf, -1);
	free(dso);
	return err ? err : check_id(files, wanted);
}

/* "xx/yyyy" of a build-id. */
static void format_id(const void *id, size_t len, char out[2 * BUILD_ID_MAX + 2])
{
	const unsigned char *bytes = id;
	size_t at = 0;

	for (size_t i = 0; i < len && i < BUILD_ID_MAX; i++, at += 2) {
		if (i == 1)
			out[at++] = '/';
		snprintf(out + at, 3, "%02x", bytes[i]);
	}
}

/* Opens the file in the cache that perf and denet-record --buildid-cache fill. */
static int open_cached(struct elf_files *files, const struct elf_wanted *wanted)
{
	char path[PATH_MAX], hex[2 * BUILD_ID_MAX + 2];
	const struct elf_build_id *id = only_id(wanted);
	const char *home = getenv("HOME");

	if (!home || !id)
		return -ENOENT;
	format_id(id->bytes, id->len, hex);
	snprintf(path, sizeof(path), "%s/.debug/.build-id/%s/elf", home, hex);
	return add_named(files, wanted, path);
}

/* The file by its name, which may have been removed and come back. */
static int open_by_name(struct elf_files *files, const struct elf_wanted *wanted)
{
	size_t len = strlen(wanted->file->path), tail = strlen(DELETED);
	char path[PATH_MAX];

	if (len > tail && !strcmp(wanted->file->path + len - tail, DELETED))
		len -= tail;
	snprintf(path, sizeof(path), "%.*s", (int)len, wanted->file->path);
	return add_named(files, wanted, path);
}

static int open_main(struct elf_files *files, const struct elf_wanted *wanted,
		     const struct elf_world *world)
{
	int err = -ENOENT;

	if (!strcmp(wanted->file->path, "[vdso]"))
		return world->elsewhere && !wanted->nr_ids ? -ENOENT : open_vdso(files, wanted);
	/* It was written anew, so that even its inode does not tell. */
	if (wanted->nr_ids > 1 && wanted->nr_ids > wanted->nr_files)
		return -ESTALE;
	if (world->symfs)
		err = open_symfs(files, wanted, world->symfs);
	if (err && !world->elsewhere)
		err = open_mapped(files, wanted);
	if (err)
		err = open_by_name(files, wanted);
	if (err)
		err = open_cached(files, wanted);
	return err && wanted->fetched ? add_named(files, wanted, wanted->fetched) : err;
}

static bool has_crc(int fd, GElf_Word crc)
{
	unsigned char bytes[16384];
	uLong sum = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t got;

	while ((got = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		sum = crc32(sum, bytes, (uInt)got);
		at += got;
	}
	return !got && sum == crc;
}

/* Where a debug file may be, and what proves it. */
struct debug_search {
	const void *id;
	size_t id_len;
	GElf_Word crc;
	pid_t roots[2]; /* below which it is looked for */
	size_t nr_roots;
	const char *symfs;
};

static bool is_debug_of(const struct debug_search *search, Elf *elf, int fd, bool by_crc)
{
	if (search->id_len)
		return has_id(elf, search->id, search->id_len);
	return by_crc && has_crc(fd, search->crc);
}

static int try_debug(struct elf_files *files, const struct debug_search *search, int fd,
		     bool by_crc)
{
	int err = add_fd(files, fd);

	if (err ||
	    is_debug_of(search, files->all[files->nr - 1], files->fds[files->nr - 1], by_crc))
		return err;
	drop(files);
	return -ESTALE;
}

static int try_debug_path(struct elf_files *files, const struct debug_search *search,
			  const char *path, bool by_crc)
{
	char name[PATH_MAX];
	int err = -ENOENT;

	if (search->symfs) {
		snprintf(name, sizeof(name), "%s%s", search->symfs, path);
		err = try_debug(files, search, open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK),
				by_crc);
	}
	for (size_t i = 0; i < search->nr_roots && err; i++)
		err = try_debug(files, search, root_open__file(search->roots[i], path), by_crc);
	return err;
}

static int find_debug_by_link(struct elf_files *files, struct debug_search *search,
			      const char *path)
{
	const char *link = dwelf_elf_gnu_debuglink(files->all[0], &search->crc);
	const char *slash = strrchr(path, '/');
	static const char *const places[][2] = { { "", "" }, { "", "/.debug" }, { DEBUG_DIR, "" } };
	int dir = slash ? (int)(slash - path) : 0, err = -ENOENT;
	char name[PATH_MAX];

	/* A name and nothing else. */
	if (!link || !*link || strchr(link, '/') || !slash)
		return -ENOENT;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && err; i++) {
		snprintf(name, sizeof(name), "%s%.*s%s/%s", places[i][0], dir, path, places[i][1],
			 link);
		err = try_debug_path(files, search, name, true);
	}
	return err;
}

static void find_debug(struct elf_files *files, const struct elf_wanted *wanted,
		       const struct elf_world *world)
{
	struct debug_search search = { .symfs = world->symfs };
	char hex[2 * BUILD_ID_MAX + 2], path[PATH_MAX];
	ssize_t len = dwelf_elf_gnu_build_id(files->all[0], &search.id);

	if (!world->elsewhere && wanted->nr_mappings)
		search.roots[search.nr_roots++] = wanted->mappings[wanted->nr_mappings - 1].pid;
	search.roots[search.nr_roots++] = 0;
	if (len > 0 && len <= BUILD_ID_MAX) {
		search.id_len = (size_t)len;
		format_id(search.id, search.id_len, hex);
		snprintf(path, sizeof(path), DEBUG_DIR "/.build-id/%s.debug", hex);
		if (!try_debug_path(files, &search, path, false))
			return;
		if (wanted->fetched_debug &&
		    !try_debug(files, &search, root_open__file(0, wanted->fetched_debug), false))
			return;
	}
	find_debug_by_link(files, &search, wanted->file->path);
}

static bool has_table(Elf *elf, GElf_Word type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == type)
			return true;
	}
	return false;
}

/* The packed file is the main one's without what that has. */
static void find_minidebug(struct elf_files *files)
{
	int fd = elf_section__minidebug(files->all[0]);

	if (fd >= 0)
		add(files, dwelf_elf_begin(fd), fd);
}

int elf_files__open(struct elf_files *files, const struct elf_wanted *wanted,
		    const struct elf_world *world)
{
	int err;

	*files = (struct elf_files){ 0 };
	elf_version(EV_CURRENT);
	err = open_main(files, wanted, world);
	if (err)
		return err;
	find_debug(files, wanted, world);
	if (files->nr == 1 && !has_table(files->all[0], SHT_SYMTAB))
		find_minidebug(files);
	return 0;
}

int elf_files__address(const struct elf_files *files, uint64_t offset, uint64_t *address)
{
	GElf_Phdr segment;
	size_t nr;

	if (elf_getphdrnum(files->all[0], &nr))
		return -ENOENT;
	for (size_t i = 0; i < nr && i < MAX_SEGMENTS; i++) {
		if (!gelf_getphdr(files->all[0], (int)i, &segment) || segment.p_type != PT_LOAD ||
		    offset < segment.p_offset || offset - segment.p_offset >= segment.p_filesz)
			continue;
		/* Pages are mapped whole, so that a segment's may begin with another one's end. */
		if (!(segment.p_flags & PF_X))
			continue;
		*address = offset - segment.p_offset + segment.p_vaddr;
		return 0;
	}
	return -ENOENT;
}

void elf_files__close(struct elf_files *files)
{
	while (files->nr)
		drop(files);
}
