/* SPDX-License-Identifier: GPL-2.0-only */
#include "cfi/cfi_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/bus_guard.h"
#include "base/confine.h"
#include "base/jobs.h"
#include "base/log.h"
#include "base/minmax.h"
#include "cfi/cfi_rows.h"
#include "cfi/named_file.h"

/* Rows of the largest programs, and what libelf unpacks for them. */
#define MAKE_MAX_BYTES (UINT64_C(1) << 30)
/* No kernel's vDSO is longer, and what follows it is never read: headers tell its end. */
#define VDSO_BYTES 8192

enum {
	TYPE_HEAD,
	TYPE_WORDS,
	TYPE_WIDES,
};

struct head {
	uint64_t start;
	uint32_t nr_pages;
	uint32_t nr_words;
	uint32_t nr_wides;
	uint32_t reserved;
};

/* A failure, as on a kernel without seccomp, is only logged: files are read anyway. */
static int enter(void *ctx)
{
	int err = confine__process(CONFINE_READ, MAKE_MAX_BYTES);

	(void)ctx;
	if (err)
		pr_verbose("the process that reads call frame information is not confined: %s",
			   strerror(-err));
	elf_version(EV_CURRENT);
	return bus_guard__install();
}

/* The files, and how much of the current one's table has come. */
struct cfi_making {
	struct jobs_task *task;
	struct cfi_file *files;
	size_t words; /* bytes */
	size_t wides;
};

/*
 * The process may have mapped another file in the place of the wanted one. On btrfs, stat() reports
 * another device than the kernel's inode has; on an overlay, another inode as well.
 */
static bool is_another(int fd, const struct cfi_file *file)
{
	struct statfs fs;
	struct stat st;

	if (!file->dev || fstat(fd, &st) || fstatfs(fd, &fs))
		return false;
	if (fs.f_type == OVERLAYFS_SUPER_MAGIC)
		return false;
	if ((major(st.st_dev) << 20 | minor(st.st_dev)) != file->dev &&
	    fs.f_type != BTRFS_SUPER_MAGIC)
		return true;
	return st.st_ino != file->ino;
}

/*
 * Through the mapping itself, which leads to the file whatever has become of its name, but takes
 * CAP_CHECKPOINT_RESTORE; else by its name. -1 with errno.
 */
static int open_mapped(const struct cfi_file *file)
{
	char path[96];
	int fd, named;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, file->pid,
		 file->start, file->end);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 || errno != EPERM)
		return fd;
	named = named_file__open(file->pid, file->start, file->end);
	/* That the file could be opened through its mapping is what can be helped. */
	errno = named == -ESRCH ? ENOENT : EPERM;
	return named < 0 ? -1 : named;
}

/* NULL: *fd is -1 with errno set, or that of a file which is none. */
static Elf *open_elf(const struct cfi_file *file, int *fd)
{
	*fd = -1;
	if (!file->pid)
		return elf_memory((char *)getauxval(AT_SYSINFO_EHDR), VDSO_BYTES);
	*fd = open_mapped(file);
	if (*fd >= 0 && is_another(*fd, file)) {
		close(*fd);
		*fd = -1;
		errno = ENOENT;
	}
	return *fd < 0 ? NULL : elf_begin(*fd, ELF_C_READ_MMAP, NULL);
}

/* errno of an open. */
static int open_error(void)
{
	return errno == ENOENT ? -ESRCH : -errno;
}

/* Arrays may be longer than a message. */
static int put_array(struct child_out *out, uint32_t type, const void *data, size_t bytes)
{
	int err = 0;

	for (size_t at = 0; at < bytes && !err; at += CHILD_MESSAGE_MAX)
		err = child_out__put(out, type, (const char *)data + at,
				     min_u64(bytes - at, CHILD_MESSAGE_MAX));
	return err;
}

static int put_table(struct child_out *out, const struct cfi_table *table)
{
	const struct head head = { .start = table->start, .nr_pages = table->nr_pages,
				   .nr_words = table->nr_words, .nr_wides = table->nr_wides };
	int err = child_out__put(out, TYPE_HEAD, &head, sizeof(head));

	if (!err)
		err = put_array(out, TYPE_WORDS, table->words,
				table->nr_words * sizeof(*table->words));
	return err ? err : put_array(out, TYPE_WIDES, table->wides,
				     table->nr_wides * sizeof(*table->wides));
}

static int make_one(void *ctx, size_t index, struct child_out *out)
{
	const struct cfi_file *file = ((struct cfi_making *)ctx)->files + index;
	uint64_t faults = bus_guard__faults();
	struct cfi_table table = { 0 };
	int fd, err;
	Elf *elf = open_elf(file, &fd);

	if (elf)
		err = cfi_table__make(&table, elf);
	else
		err = file->pid && fd < 0 ? open_error() : -ENOEXEC;
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	/* It was truncated meanwhile: what was read are zeros. */
	if (!err && bus_guard__faults() != faults)
		err = -ESTALE;
	if (!err)
		err = put_table(out, &table);
	cfi_table__free(&table);
	/* jobs.h: these two have a meaning of their own. */
	return err == -EAGAIN || err == -ECANCELED ? -EIO : err;
}

static int take_head(struct cfi_file *file, const struct child_message *message)
{
	struct cfi_table *table = &file->table;
	struct head head;

	if (message->size != sizeof(head) || table->words)
		return -EPROTO;
	memcpy(&head, message->data, sizeof(head));
	if (head.nr_words > CFI_FILE_WORDS)
		return -E2BIG;
	if (head.nr_wides > CFI_WIDES_MAX)
		return -EPROTO;
	table->words = calloc(head.nr_words + 1, sizeof(*table->words));
	table->wides = calloc(head.nr_wides + 1, sizeof(*table->wides));
	if (!table->words || !table->wides)
		return -ENOMEM;
	table->start = head.start;
	table->nr_pages = head.nr_pages;
	table->nr_words = head.nr_words;
	table->nr_wides = head.nr_wides;
	return 0;
}

/* Adds a piece to an array of which have bytes are there. */
static int take_piece(void *array, size_t bytes, size_t *have, const struct child_message *message)
{
	if (!array || message->size > bytes - *have)
		return -EPROTO;
	memcpy((char *)array + *have, message->data, message->size);
	*have += message->size;
	return 0;
}

/* An invalid answer is the fault of the file that was read: the others go on. */
static int take_answer(void *ctx, size_t index, const struct child_message *message)
{
	struct cfi_making *making = ctx;
	struct cfi_file *file = &making->files[index];
	struct cfi_table *table = &file->table;
	int err = -EPROTO;

	if (message->type == TYPE_HEAD)
		err = take_head(file, message);
	else if (message->type == TYPE_WORDS)
		err = take_piece(table->words, table->nr_words * sizeof(*table->words),
				 &making->words, message);
	else if (message->type == TYPE_WIDES)
		err = take_piece(table->wides, table->nr_wides * sizeof(*table->wides),
				 &making->wides, message);
	if (err)
		file->err = err;
	return err == -ENOMEM ? err : 0;
}

static void finish(void *ctx, size_t index, int status)
{
	struct cfi_making *making = ctx;
	struct cfi_file *file = &making->files[index];
	struct cfi_table *table = &file->table;

	if (file->err == -ECANCELED)
		file->err = status;
	if (!file->err && (making->words != table->nr_words * sizeof(*table->words) ||
			   making->wides != table->nr_wides * sizeof(*table->wides) ||
			   cfi_table__check(table)))
		file->err = -EPROTO;
	if (file->err)
		cfi_table__free(table);
	making->words = making->wides = 0;
}

static struct jobs make_jobs(struct cfi_making *making, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		making->files[i].err = -ECANCELED;
		making->files[i].table = (struct cfi_table){ 0 };
	}
	return (struct jobs){
		.nr = nr,
		.ctx = making,
		.enter = enter,
		.run = make_one,
		.answer = take_answer,
		.done = finish,
	};
}

int cfi_files__make(struct cfi_file *files, size_t nr, int deadline_ms)
{
	struct cfi_making making = { .files = files };
	const struct jobs jobs = make_jobs(&making, nr);

	return jobs__run(&jobs, deadline_ms);
}

struct cfi_making *cfi_files__begin(struct cfi_file *files, size_t nr, int patience_ms)
{
	struct cfi_making *making = calloc(1, sizeof(*making));
	struct jobs jobs;

	if (!making)
		return NULL;
	making->files = files;
	jobs = make_jobs(making, nr);
	making->task = jobs__begin(&jobs, patience_ms);
	if (making->task)
		return making;
	free(making);
	return NULL;
}

int cfi_files__advance(struct cfi_making *making, uint64_t until_ns)
{
	return jobs__advance(making->task, until_ns);
}

int cfi_files__fd(const struct cfi_making *making)
{
	return jobs__fd(making->task);
}

void cfi_files__end(struct cfi_making *making)
{
	if (making)
		jobs__end(making->task);
	free(making);
}
