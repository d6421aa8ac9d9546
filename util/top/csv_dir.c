/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/csv_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/units.h"
#include "top/csv_text.h"

#define HOUR_LEN 32
#define TAIL 65536

/* Order, names and units are xcapture's, which readers know; columns of ours come behind them. */
static const struct {
	const char *name;
	const char *header;
} kinds[CSV_KINDS] = {
	[CSV_SAMPLES] = { "samples",
			  "TIMESTAMP,WEIGHT_US,TID,TGID,PIDNS,CGROUP_ID,STATE,USERNAME,EXE,COMM,"
			  "SYSCALL,SYSCALL_ACTIVE,SYSC_ENTRY_TIME,SYSC_NS_SO_FAR,SYSC_SEQ_NUM,"
			  "IORQ_SEQ_NUM,SYSC_ARG1,SYSC_ARG2,SYSC_ARG3,SYSC_ARG4,SYSC_ARG5,"
			  "SYSC_ARG6,FILENAME,CONNECTION,CONN_STATE,EXTRA_INFO,KSTACK_HASH,"
			  "USTACK_HASH,STATE_NS,CPU,WCHAN,LOCK,CGROUP,CONTAINER,"
			  "AIOFILENAME,URINGFILENAME,STATE_SINCE,WAKER,WAKER_TID,LOCK_OWNER,"
			  "IORQ_IN_FLIGHT" },
	[CSV_SYSCEND] = { "syscend", "TYPE,TID,TGID,SYSCALL_NAME,DURATION_NS,SYSC_RET_VAL,"
				     "SYSC_SEQ_NUM,SYSC_ENTER_TIME" },
	[CSV_IORQEND] = { "iorqend",
			  "TYPE,INSERT_TID,INSERT_TGID,ISSUE_TID,ISSUE_TGID,COMPLETE_TID,"
			  "COMPLETE_TGID,DEV_MAJ,DEV_MIN,SECTOR,BYTES,IORQ_FLAGS,IORQ_SEQ_NUM,"
			  "DURATION_NS,SERVICE_NS,QUEUED_NS,ISSUE_TIMESTAMP,ERROR" },
	[CSV_KSTACKS] = { "kstacks", "KSTACK_HASH,KSTACK_SYMS" },
	[CSV_USTACKS] = { "ustacks", "USTACK_HASH,USTACK_SYMS" },
	[CSV_CGROUPS] = { "cgroups", "CGROUP_ID,CGROUP_PATH" },
};

struct csv_file {
	int fd;	     /* -1: not open */
	char name[CSV_NAME_LEN];
	off_t size;  /* of what is whole */
	struct buffer lines;
};

struct csv_dir {
	char *path;
	int fd;
	uint32_t kinds;
	char hour[HOUR_LEN]; /* "": none is open */
	struct csv_file files[CSV_KINDS];
};

const char *csv_kind__name(enum csv_kind kind)
{
	return kinds[kind].name;
}

void csv_part__put_name(const char *kind, const char *hour, unsigned int part,
			char name[CSV_NAME_LEN])
{
	char suffix[16] = "";

	if (part > 1)
		snprintf(suffix, sizeof(suffix), ".part%02u", part);
	snprintf(name, CSV_NAME_LEN, CSV_PREFIX "%s_%s%s.csv", kind, hour, suffix);
}

bool csv_part__is_compressed(int dirfd, const char *name)
{
	static const char *const endings[] = { "zst", "gz" };
	char compressed[CSV_NAME_LEN + 8];

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		snprintf(compressed, sizeof(compressed), "%s.%s", name, endings[i]);
		if (!faccessat(dirfd, compressed, F_OK, AT_SYMLINK_NOFOLLOW))
			return true;
	}
	return false;
}

/* The maker of a link chooses the directory that root writes into. Who calls sudo may do so. */
static bool is_foreign(const struct stat *link)
{
	const char *sudo = getenv("SUDO_UID");

	return !geteuid() && link->st_uid && (!sudo || link->st_uid != strtoul(sudo, NULL, 10));
}

static int open_dir(struct csv_dir *dir, const char *path)
{
	struct stat stat;
	int follow = 0;

	if (mkdir(path, 0777) && errno != EEXIST)
		return -errno;
	if (lstat(path, &stat))
		return -errno;
	if (!S_ISLNK(stat.st_mode))
		follow = O_NOFOLLOW;
	else if (is_foreign(&stat))
		return -EPERM;
	dir->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow);
	if (dir->fd < 0)
		return -errno;
	if (!flock(dir->fd, LOCK_EX | LOCK_NB))
		return 0;
	return errno == EWOULDBLOCK ? -EBUSY : -errno;
}

struct csv_dir *csv_dir__open(const char *path, uint32_t wanted, int *err)
{
	struct csv_dir *dir = calloc(1, sizeof(*dir));

	*err = -ENOMEM;
	if (!dir)
		return NULL;
	dir->fd = -1;
	dir->kinds = wanted;
	for (int i = 0; i < CSV_KINDS; i++)
		dir->files[i].fd = -1;
	dir->path = strdup(path);
	if (dir->path)
		*err = open_dir(dir, path);
	if (!*err)
		return dir;
	if (*err == -EBUSY)
		pr_err("%s: another denet-top writes there; give each a directory of its own",
		       path);
	else if (*err == -EPERM)
		pr_err("%s is a link that another user has made: name the directory itself", path);
	else
		pr_err("cannot write into the directory %s: %s", path, strerror(-*err));
	csv_dir__close(dir);
	return NULL;
}

static int write_all(struct csv_file *file)
{
	size_t done = 0;

	while (done < file->lines.len) {
		ssize_t len = pwrite(file->fd, file->lines.data + done, file->lines.len - done,
				     file->size + (off_t)done);

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return -errno;
		done += (size_t)len;
	}
	file->size += (off_t)done;
	file->lines.len = 0;
	return 0;
}

/* What was written in part is taken back. */
static int flush_file(struct csv_file *file)
{
	int err = write_all(file);

	if (err && ftruncate(file->fd, file->size))
		return -errno;
	return err;
}

int csv_dir__flush(struct csv_dir *dir)
{
	int err = 0;

	for (int i = 0; i < CSV_KINDS && !err; i++) {
		if (dir->files[i].fd < 0)
			continue;
		err = flush_file(&dir->files[i]);
		if (err)
			pr_err("cannot write %s/%s: %s", dir->path, dir->files[i].name,
			       strerror(-err));
	}
	return err;
}

static void close_file(struct csv_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

static void close_files(struct csv_dir *dir)
{
	for (int i = 0; i < CSV_KINDS; i++) {
		close_file(&dir->files[i]);
		buffer__free(&dir->files[i].lines);
	}
}

int csv_dir__close(struct csv_dir *dir)
{
	int err;

	if (!dir)
		return 0;
	err = csv_dir__flush(dir);
	close_files(dir);
	if (dir->fd >= 0)
		close(dir->fd);
	free(dir->path);
	free(dir);
	return err;
}

/* Where the last whole line ends; a file of another form is left alone. */
static int find_end(struct csv_file *file, const char *header)
{
	size_t len = strlen(header);
	char room[TAIL];
	ssize_t got = pread(file->fd, room, len + 1, 0);
	off_t begin;

	if (got < 0)
		return -errno;
	if (got != (ssize_t)len + 1 || memcmp(room, header, len) || room[len] != '\n')
		return -EEXIST;
	/* After a power failure the end may be any number of NULs. The first line has an end. */
	do {
		begin = file->size > TAIL ? file->size - TAIL : 0;
		got = pread(file->fd, room, (size_t)(file->size - begin), begin);
		if (got < 0)
			return -errno;
		while (got > 0 && room[got - 1] != '\n')
			got--;
		file->size = begin + got;
	} while (!got && begin);
	return ftruncate(file->fd, file->size) ? -errno : 0;
}

/* -EEXIST: what is there is not to be appended to. */
static int open_part(struct csv_dir *dir, enum csv_kind kind, unsigned int part)
{
	struct csv_file *file = &dir->files[kind];
	const char *name = file->name;
	struct stat stat;
	int err = 0;

	csv_part__put_name(kinds[kind].name, dir->hour, part, file->name);
	if (csv_part__is_compressed(dir->fd, name))
		return -EEXIST;
	/* Nobody waits for a reader of a FIFO. */
	file->fd = openat(dir->fd, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
			  0666);
	if (file->fd < 0 || fstat(file->fd, &stat))
		err = errno == ELOOP ? -EEXIST : -errno;
	else if (!S_ISREG(stat.st_mode))
		err = -EEXIST;
	if (!err) {
		file->size = stat.st_size;
		err = file->size ? find_end(file, kinds[kind].header)
				 : csv_text__add(&file->lines, "%s\n", kinds[kind].header);
	}
	if (err)
		close_file(file);
	return err;
}

static int open_file(struct csv_dir *dir, enum csv_kind kind)
{
	int err = -EEXIST;

	for (unsigned int part = 1; part <= CSV_MOST_PARTS && err == -EEXIST; part++)
		err = open_part(dir, kind, part);
	if (err)
		pr_err("cannot write %s/%s: %s", dir->path, dir->files[kind].name, strerror(-err));
	return err;
}

int csv_dir__turn(struct csv_dir *dir, uint64_t wall_ns, bool *is_new)
{
	time_t seconds = (time_t)(wall_ns / NSEC_PER_SEC);
	char hour[HOUR_LEN];
	struct tm local;
	int err;

	localtime_r(&seconds, &local);
	strftime(hour, sizeof(hour), "%Y-%m-%d.%H", &local);
	*is_new = strcmp(hour, dir->hour) != 0;
	if (!*is_new)
		return 0;
	err = csv_dir__flush(dir);
	close_files(dir);
	memcpy(dir->hour, hour, sizeof(hour));
	for (int i = 0; i < CSV_KINDS && !err; i++) {
		if (dir->kinds >> i & 1)
			err = open_file(dir, (enum csv_kind)i);
	}
	return err;
}

struct buffer *csv_dir__lines(struct csv_dir *dir, enum csv_kind kind)
{
	return &dir->files[kind].lines;
}

int csv_dir__fd(const struct csv_dir *dir)
{
	return dir->fd;
}

const char *csv_dir__hour(const struct csv_dir *dir)
{
	return dir->hour;
}
