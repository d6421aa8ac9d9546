/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbol/build_id.h"

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/jobs.h"
#include "base/log.h"
#include "host/proc_stat.h"
#include "host/root_open.h"

/* Far more than the notes of any kernel or module; what is behind is not looked at. */
#define NOTES_MAX (64u << 10)
/* Memory limit for reading a file, whatever size its headers give. */
#define QUERY_MAX_BYTES (64u << 20)

static int copy_id(const void *data, size_t size, unsigned char *id)
{
	if (!size)
		return -ENOENT;
	if (size > BUILD_ID_MAX)
		return -EOVERFLOW;
	memcpy(id, data, size);
	return (int)size;
}

/* A file that is no ELF file has no build-id: that is no error of its own. */
int build_id__of_fd(int fd, unsigned char *id)
{
	const void *data = NULL;
	int ret = -ENOENT;
	ssize_t size;
	Elf *elf;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOTSUP;
	/* Not mapped: a file that shrinks meanwhile would kill us with SIGBUS. */
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return -ENOENT;
	if (elf_kind(elf) == ELF_K_ELF) {
		size = dwelf_elf_gnu_build_id(elf, &data);
		if (size > 0)
			ret = copy_id(data, (size_t)size, id);
	}
	elf_end(elf);
	return ret;
}

/* Closes fd, which may be a negative errno. */
static int read_and_close(int fd, unsigned char *id)
{
	int ret;

	if (fd < 0)
		return fd;
	ret = build_id__of_fd(fd, id);
	close(fd);
	return ret;
}

int build_id__of_file(pid_t pid, const char *path, unsigned char *id)
{
	return read_and_close(root_open__file(pid, path), id);
}

/* Notes are padded to four bytes, name and content each. */
static size_t padded(uint32_t size)
{
	return ((size_t)size + 3) & ~(size_t)3;
}

int build_id__of_notes(const void *notes, size_t size, unsigned char *id)
{
	const char *p = notes;
	Elf64_Nhdr note; /* the same in both ELF classes */

	while (size >= sizeof(note)) {
		memcpy(&note, p, sizeof(note));
		p += sizeof(note);
		size -= sizeof(note);
		if (padded(note.n_namesz) > size || note.n_descsz > size - padded(note.n_namesz))
			return -ENOENT;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
		    !memcmp(p, "GNU", sizeof("GNU")))
			return copy_id(p + padded(note.n_namesz), note.n_descsz, id);
		/* The padding of the last note may be missing. */
		if (padded(note.n_namesz) + padded(note.n_descsz) > size)
			return -ENOENT;
		p += padded(note.n_namesz) + padded(note.n_descsz);
		size -= padded(note.n_namesz) + padded(note.n_descsz);
	}
	return -ENOENT;
}

static int read_notes(const char *path, unsigned char *id)
{
	char notes[NOTES_MAX];
	size_t size = 0;
	ssize_t n;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	do {
		n = read(fd, notes + size, sizeof(notes) - size);
		if (n > 0)
			size += (size_t)n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	n = n < 0 ? -errno : 0;
	close(fd);
	return n ? (int)n : build_id__of_notes(notes, size, id);
}

int build_id__of_kernel(unsigned char *id)
{
	return read_notes("/sys/kernel/notes", id);
}

/* The kernel maps the vDSO as a whole file, in order, headers and all. */
int build_id__of_vdso(unsigned char *id)
{
	const char *base = (const char *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *header = (const void *)base;
	const ElfW(Phdr) *segment;
	int ret = -ENOENT;

	if (!base)
		return -ENOENT;
	segment = (const void *)(base + header->e_phoff);
	for (int i = 0; i < header->e_phnum && ret == -ENOENT; i++) {
		if (segment[i].p_type == PT_NOTE)
			ret = build_id__of_notes(base + segment[i].p_offset, segment[i].p_filesz,
						 id);
	}
	return ret;
}

int build_id__of_module(const char *name, unsigned char *id)
{
	char path[256];

	if (!*name || *name == '.' || strchr(name, '/'))
		return -EINVAL;
	if (snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", name) >=
	    (int)sizeof(path))
		return -EINVAL;
	return read_notes(path, id);
}

/* A failure, by the kernel or a library, is only logged: the file is read anyway. */
static int confine(void *ctx)
{
	int err = confine__process(CONFINE_READ, QUERY_MAX_BYTES);

	(void)ctx;
	if (err)
		pr_verbose("the process that reads build-ids is not confined: %s", strerror(-err));
	return 0;
}

/*
 * On an overlay, names and inode numbers do not tell a file from that of another process which has
 * the same PID by now. It is looked at after the file was opened: if it is the one that lived at
 * query->alive, it was then.
 */
static int run_query(void *ctx, size_t index, struct child_out *out)
{
	const struct build_id_query *query = (struct build_id_query *)ctx + index;
	unsigned char id[BUILD_ID_MAX];
	uint64_t born;
	int len, fd;

	if (query->elsewhere)
		fd = root_open__elsewhere(query->pid, query->path, &query->file, query->same_view);
	else
		fd = root_open__inode(query->pid, query->path, query->file.ino);
	len = read_and_close(fd, id);
	if (len >= 0 && query->pid && query->alive &&
	    (proc_stat__born(query->pid, &born) || born > query->alive))
		len = -ESRCH;
	return len < 0 ? len : child_out__put(out, 0, id, (size_t)len);
}

static int take_id(void *ctx, size_t index, const struct child_message *message)
{
	struct build_id_query *query = (struct build_id_query *)ctx + index;

	if (!message->size || message->size > BUILD_ID_MAX)
		return -EPROTO;
	memcpy(query->id, message->data, message->size);
	query->len = (int)message->size;
	return 0;
}

static void finish_query(void *ctx, size_t index, int status)
{
	struct build_id_query *query = (struct build_id_query *)ctx + index;

	if (status)
		query->len = status;
}

int build_id__query(struct build_id_query *queries, size_t nr, int deadline_ms)
{
	const struct jobs jobs = {
		.nr = nr,
		.ctx = queries,
		.enter = confine,
		.run = run_query,
		.answer = take_id,
		.done = finish_query,
	};

	/* Where an error ends it all, those that were not asked say so, too. */
	for (size_t i = 0; i < nr; i++)
		queries[i].len = -ECANCELED;
	return jobs__run(&jobs, deadline_ms);
}
