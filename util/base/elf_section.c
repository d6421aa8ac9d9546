/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/elf_section.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Far more than any distribution adds. */
#define MAX_MINIDEBUG (64u << 20)

Elf_Scn *elf_section__find(Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	const char *its_name;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, header) || header->sh_type == SHT_NOBITS)
			continue;
		its_name = elf_strptr(elf, names, header->sh_name);
		if (its_name && !strcmp(its_name, name))
			return section;
	}
	return NULL;
}

int elf_section__minidebug(Elf *elf)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_section__find(elf, ".gnu_debugdata", &header);
	const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	int fd;

	if (!data || !data->d_buf || !data->d_size || data->d_size > MAX_MINIDEBUG)
		return -ENOENT;
	fd = memfd_create("minidebuginfo", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, data->d_buf, data->d_size) == (ssize_t)data->d_size &&
	    !lseek(fd, 0, SEEK_SET))
		return fd;
	close(fd);
	return -EIO;
}
