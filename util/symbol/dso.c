/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbol/dso.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <link.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/live_thread.h"
#include "host/proc_stat.h"
#include "host/root_open.h"

#ifdef __aarch64__
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_X86_64
#endif
#define DELETED " (deleted)"
/* Far more than a linker makes; a file that claims more is not looked at. */
#define MAX_SEGMENTS 512
#define PAGE_MASK 4095ULL

static bool has_file(const struct mapped_file *file)
{
	return file->ino && file->path[0] == '/' && file->path[1] != '/';
}

/* By the mapping itself, which needs CAP_CHECKPOINT_RESTORE, and the mapping to be still there. */
static int open_mapping(pid_t pid, const struct maps_entry *map)
{
	struct stat st;
	char name[80];
	int fd, err;
	pid_t other;

	snprintf(name, sizeof(name), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, map->start,
		 map->end);
	/* A mapped file is no FIFO; a device opened here has been opened by the process. */
	if (stat(name, &st)) {
		err = -errno;
		other = err == -ENOENT ? live_thread__other(pid) : 0;
		return other ? open_mapping(other, map) : err;
	}
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = root_open__check(fd, map->file->ino);
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* An inode number that was given to another file since has another generation. */
static int check_generation(int fd, const struct mapped_file *file)
{
	long version = 0;

	if (!file->generation || ioctl(fd, FS_IOC_GETVERSION, &version))
		return fd;
	if ((uint32_t)version == (uint32_t)file->generation)
		return fd;
	close(fd);
	return -ESTALE;
}

static bool has_name(const struct mapped_file *file)
{
	size_t len = strlen(file->path);

	return len <= strlen(DELETED) || strcmp(file->path + len - strlen(DELETED), DELETED);
}

/* Looked at after the file was opened: if it is the one that is meant, it was so then. */
static bool is_younger(const struct dso_process *process)
{
	uint64_t born;

	return process->alive &&
	       (proc_stat__born(process->pid, &born) || born > process->alive);
}

static int open_through(const struct dso_process *process, const struct maps_entry *map)
{
	const struct mapped_file *file = map->file;
	int fd = has_name(file) ? root_open__inode(process->pid, file->path, file->ino) : -ENOENT;

	if (fd < 0 && fd != -ESRCH)
		fd = open_mapping(process->pid, map);
	if (fd < 0 || !is_younger(process))
		return fd;
	close(fd);
	return -ESRCH;
}

int dso__open_file(const struct dso_process *process, const struct maps_entry *map)
{
	const struct mapped_file *file = map->file;
	const struct file_id id = { .ino = file->ino, .maj = file->maj, .min = file->min };
	int fd;

	if (!has_file(file))
		return -ENOENT;
	fd = process->other ? root_open__elsewhere(process->pid, file->path, &id, false)
				: open_through(process, map);

	if (fd == -ESRCH)
		fd = root_open__elsewhere(0, file->path, &id, false);
	return fd < 0 ? fd : check_generation(fd, file);
}

static void set_segments(struct dso *dso, size_t nr)
{
	bool first = true;

	for (size_t i = 0; i < nr; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(dso->elf, (int)i, &segment) || segment.p_type != PT_LOAD)
			continue;
		if (first)
			dso->low = segment.p_align ? segment.p_vaddr & -segment.p_align
						     : segment.p_vaddr;
		first = false;
		if (segment.p_vaddr + segment.p_memsz > dso->high)
			dso->high = segment.p_vaddr + segment.p_memsz;
	}
	dso->high = (dso->high + PAGE_MASK) & ~PAGE_MASK;
	if (dso->high <= dso->low)
		dso->err = -ENOEXEC;
}

/* Takes over elf. */
static void set_elf(struct dso *dso, Elf *elf)
{
	GElf_Ehdr header;
	size_t nr;

	dso->elf = elf;
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) ||
	    elf_getphdrnum(elf, &nr) || nr > MAX_SEGMENTS ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN)) {
		dso->err = -ENOEXEC;
		return;
	}
	dso->is_32bit = gelf_getclass(elf) == ELFCLASS32 &&
			(header.e_machine == EM_386 || header.e_machine == MACHINE ||
			 header.e_machine == EM_ARM);
	if (gelf_getclass(elf) != ELFCLASS64 || header.e_machine != MACHINE)
		dso->err = -ENOEXEC;
	else
		set_segments(dso, nr);
}

static struct dso *finish(struct dso *dso)
{
	if (dso && dso->err && dso->elf) {
		elf_end(dso->elf);
		dso->elf = NULL;
	}
	return dso;
}

/* A file of the size bytes at data, which must outlive it. */
static struct dso *dso__of_memory(const void *data, size_t size)
{
	struct dso *dso = calloc(1, sizeof(*dso));

	if (!dso)
		return NULL;
	if (elf_version(EV_CURRENT) == EV_NONE)
		dso->err = -ENOTSUP;
	else
		set_elf(dso, elf_memory((char *)(uintptr_t)data, size));
	return finish(dso);
}

/* The kernel maps the whole of it, the section headers last; all processes have the same. */
static struct dso *open_vdso(void)
{
	const char *base = (const char *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *header = (const void *)base;

	if (!base)
		return dso__of_memory("", 0);
	return dso__of_memory(base,
				header->e_shoff + (size_t)header->e_shnum * header->e_shentsize);
}

struct dso *dso__open(const struct dso_process *process, const struct maps_entry *map)
{
	struct dso *dso;
	int fd;

	if (!strcmp(map->file->path, "[vdso]"))
		return open_vdso();
	dso = calloc(1, sizeof(*dso));
	if (!dso)
		return NULL;
	fd = dso__open_file(process, map);
	if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE) {
		dso->err = fd < 0 ? fd : -ENOTSUP;
		return dso;
	}
	set_elf(dso, elf_begin(fd, ELF_C_READ_MMAP, NULL));
	/* Many files are kept at a time, and descriptors are few. */
	if (!dso->err && elf_cntl(dso->elf, ELF_C_FDREAD))
		dso->err = -ENOMEM;
	dso = finish(dso);
	close(fd);
	return dso;
}

void dso__delete(struct dso *dso)
{
	if (!dso)
		return;
	if (dso->elf)
		elf_end(dso->elf);
	free(dso);
}

int dso__bias(const struct dso *dso, const struct maps_entry *map, uint64_t *bias)
{
	uint64_t from = map->pgoff, to = map->pgoff + (map->end - map->start);
	size_t nr = 0;

	if (!dso->elf || elf_getphdrnum(dso->elf, &nr))
		return -ENOENT;
	for (size_t i = 0; i < nr; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(dso->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    !(segment.p_flags & PF_X))
			continue;
		if (from < segment.p_offset + segment.p_filesz &&
		    to > (segment.p_offset & ~PAGE_MASK)) {
			*bias = map->start - map->pgoff + segment.p_offset - segment.p_vaddr;
			return 0;
		}
	}
	return -ENOENT;
}
