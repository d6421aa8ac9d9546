/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/csv_archive.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/log.h"
#include "base/units.h"
#include "base/zstd_stream.h"
#include "top/csv_beside.h"
#include "top/csv_dir.h"

#define STEP_BYTES (1024 * 1024)
#define HOUR_LEN 13 /* of "2026-01-31.23" */
#define HOUR_NS (3600 * NSEC_PER_SEC)
#define ENDING ".zst"
#define UNFINISHED ".part"
#define PART ".part" /* and two digits, before ".csv" */

/* A file of ours in the directory. */
struct entry {
	char name[64];
	char hour[HOUR_LEN + 1];
	const char *kind;
	bool is_plain; /* not compressed */
	uint64_t bytes;
};

/* The file that is being compressed. */
struct csv_archive {
	struct csv_archive_options options;
	int dirfd;
	struct entry entry; /* "": none */
	char done[HOUR_LEN + 1]; /* the hour before which no plain file was found; "": not known */
	int in;
	int out;
	struct zstd_writer *writer;
};

/* A name that no pattern for the files of the directory matches. */
static void part_name(const struct csv_archive *archive, char *buf, size_t size)
{
	snprintf(buf, size, ".%s" ENDING UNFINISHED, archive->entry.name);
}

static void close_files(struct csv_archive *archive)
{
	zstd_writer__delete(archive->writer);
	if (archive->out >= 0)
		close(archive->out);
	if (archive->in >= 0)
		close(archive->in);
	archive->writer = NULL;
	archive->in = archive->out = -1;
	archive->entry.name[0] = '\0';
}

/* Leaves the file as it was. */
static void give_up(struct csv_archive *archive)
{
	char name[96];

	if (*archive->entry.name) {
		part_name(archive, name, sizeof(name));
		unlinkat(archive->dirfd, name, 0);
	}
	close_files(archive);
}

void csv_archive__delete(struct csv_archive *archive)
{
	if (!archive)
		return;
	give_up(archive);
	free(archive);
}

/* Whether a text begins with one such as "2026-01-31.23". */
static bool is_hour(const char *text)
{
	static const char form[] = "dddd-dd-dd.dd";

	_Static_assert(sizeof(form) == HOUR_LEN + 1, "the form of an hour");
	for (size_t i = 0; i < HOUR_LEN; i++) {
		if (form[i] == 'd' ? !isdigit((unsigned char)text[i]) : text[i] != form[i])
			return false;
	}
	return true;
}

/* The kind that a name has behind the prefix; NULL: none of ours. */
static const char *kind_of(const char *name)
{
	for (int i = 0; i < CSV_KINDS; i++) {
		const char *kind = csv_kind__name((enum csv_kind)i);

		if (!strncmp(name, kind, strlen(kind)) && name[strlen(kind)] == '_')
			return kind;
	}
	return NULL;
}

/* Whether it is xcapture_KIND_HOUR.csv or a compressed one, KIND one of ours. */
static bool is_ours(const char *name, struct entry *entry)
{
	const size_t size = strlen(name) + 1;
	const char *end;

	if (strncmp(name, CSV_PREFIX, strlen(CSV_PREFIX)) != 0 || size > sizeof(entry->name))
		return false;
	entry->kind = kind_of(name + strlen(CSV_PREFIX));
	if (!entry->kind)
		return false;
	end = name + strlen(CSV_PREFIX) + strlen(entry->kind) + 1;
	if (!is_hour(end))
		return false;
	memcpy(entry->hour, end, HOUR_LEN);
	entry->hour[HOUR_LEN] = '\0';
	end += HOUR_LEN;
	memcpy(entry->name, name, size);
	/* A further part. */
	if (!strncmp(end, PART, strlen(PART)) && isdigit((unsigned char)end[5]) &&
	    isdigit((unsigned char)end[6]))
		end += strlen(PART) + 2;
	entry->is_plain = !strcmp(end, ".csv");
	return entry->is_plain || !strcmp(end, ".csv" ENDING) || !strcmp(end, ".csv.gz");
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->hour, y->hour);

	return order ? order : strcmp(x->name, y->name);
}

static DIR *open_list(const struct csv_archive *archive)
{
	int fd = openat(archive->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* Deletes the unfinished files of a writer that was killed: no two write at the same time. */
static void delete_unfinished(const struct csv_archive *archive)
{
	DIR *dir = open_list(archive);
	struct dirent *found;
	struct entry entry;
	char name[96];
	size_t len;

	while (dir && (found = readdir(dir))) {
		len = strlen(found->d_name);
		if (*found->d_name != '.' || len <= strlen(UNFINISHED) || len > sizeof(name) ||
		    strcmp(found->d_name + len - strlen(UNFINISHED), UNFINISHED) != 0)
			continue;
		snprintf(name, len - strlen(UNFINISHED), "%s", found->d_name + 1);
		if (is_ours(name, &entry))
			unlinkat(archive->dirfd, found->d_name, 0);
	}
	if (dir)
		closedir(dir);
}

struct csv_archive *csv_archive__new(const struct csv_archive_options *options, int dirfd)
{
	struct csv_archive *archive = calloc(1, sizeof(*archive));

	if (!archive)
		return NULL;
	*archive = (struct csv_archive){ .options = *options, .dirfd = dirfd, .in = -1, .out = -1 };
	delete_unfinished(archive);
	return archive;
}

/* Lists our files, the oldest first. */
static int list_files(const struct csv_archive *archive, struct buffer *entries)
{
	DIR *dir = open_list(archive);
	struct dirent *found;
	struct stat stat;
	struct entry entry;
	int err = 0;

	if (!dir)
		return -errno;
	while (!err && (found = readdir(dir))) {
		if (!is_ours(found->d_name, &entry) ||
		    fstatat(archive->dirfd, entry.name, &stat, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(stat.st_mode))
			continue;
		entry.bytes = (uint64_t)stat.st_size;
		err = buffer__append(entries, &entry, sizeof(entry));
	}
	closedir(dir);
	if (!err && entries->len)
		qsort(entries->data, entries->len / sizeof(entry), sizeof(entry), compare_entries);
	return err;
}

/* The hour that was so long ago. */
static void hour_before(uint64_t wall_ns, uint64_t ago_ns, char hour[HOUR_LEN + 1])
{
	time_t seconds = (time_t)((wall_ns > ago_ns ? wall_ns - ago_ns : 0) / NSEC_PER_SEC);
	struct tm local;

	localtime_r(&seconds, &local);
	strftime(hour, HOUR_LEN + 1, "%Y-%m-%d.%H", &local);
}

/*
 * The bytes of all files up to this hour. Files of later hours, which a wrong clock has left, are
 * not deleted before their time: if they counted, all earlier files might be deleted for them.
 */
static uint64_t sum_bytes(const struct entry *all, size_t nr, const char *hour)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < nr && strcmp(all[i].hour, hour) <= 0; i++)
		bytes += all[i].bytes;
	return bytes;
}

static void delete_old(struct csv_archive *archive, const struct buffer *entries, const char *hour,
		       uint64_t wall_ns)
{
	const struct entry *all = (const void *)entries->data;
	size_t nr = entries->len / sizeof(*all);
	char oldest[HOUR_LEN + 1] = "";
	uint64_t bytes = sum_bytes(all, nr, hour);

	/* The last sample of an hour is old enough an hour later. */
	if (archive->options.max_ns)
		hour_before(wall_ns, archive->options.max_ns + HOUR_NS, oldest);
	for (size_t i = 0; i < nr && strcmp(all[i].hour, hour) < 0; i++) {
		bool too_old = *oldest && strcmp(all[i].hour, oldest) <= 0;
		bool too_many = archive->options.max_bytes && bytes > archive->options.max_bytes;

		if (!too_old && !too_many)
			continue;
		if (!strcmp(all[i].name, archive->entry.name))
			give_up(archive);
		if (!unlinkat(archive->dirfd, all[i].name, 0))
			bytes -= all[i].bytes;
	}
}

int csv_archive__retain(struct csv_archive *archive, const char *hour, uint64_t wall_ns)
{
	struct buffer entries = { 0 };
	int err;

	if (!archive->options.max_bytes && !archive->options.max_ns)
		return 0;
	err = list_files(archive, &entries);
	if (!err)
		delete_old(archive, &entries, hour, wall_ns);
	else
		pr_err("cannot list the files of -o: %s", strerror(-err));
	buffer__free(&entries);
	return err;
}

/* Never replaces another file; where the file system cannot guarantee that, checks first. */
static int rename_once(int dirfd, const char *from, const char *to)
{
	if (!renameat2(dirfd, from, dirfd, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL)
		return -errno;
	if (!faccessat(dirfd, to, F_OK, AT_SYMLINK_NOFOLLOW))
		return -EEXIST;
	return renameat(dirfd, from, dirfd, to) ? -errno : 0;
}

/*
 * There is a compressed file of that name: a crash has left the plain one, or the clock was set
 * back, and another recording has written it. Then it becomes a further part of its hour.
 */
static int make_way(const struct csv_archive *archive)
{
	const struct entry *entry = &archive->entry;
	char name[CSV_NAME_LEN];
	int err = -EEXIST;

	if (csv_beside__is_copy(archive->dirfd, entry->name))
		return unlinkat(archive->dirfd, entry->name, 0) ? -errno : 0;
	for (unsigned int part = 2; part <= CSV_MOST_PARTS && err == -EEXIST; part++) {
		csv_part__put_name(entry->kind, entry->hour, part, name);
		if (!csv_part__is_compressed(archive->dirfd, name))
			err = rename_once(archive->dirfd, entry->name, name);
	}
	return err;
}

/* Opens the file and the compressed one that is to become of it. */
static int open_files(struct csv_archive *archive)
{
	char name[96];

	part_name(archive, name, sizeof(name));
	archive->in = openat(archive->dirfd, archive->entry.name,
			     O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (archive->in >= 0)
		archive->out = openat(archive->dirfd, name,
				      O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (archive->out < 0)
		return -errno;
	archive->writer = zstd_writer__new(archive->out);
	return archive->writer ? 0 : -ENOMEM;
}

/*
 * Begins with the oldest plain file. *more: there is one. If there is none, none comes before the
 * next hour: it is not looked for at each look.
 */
static int begin(struct csv_archive *archive, const char *hour, bool *more)
{
	struct buffer entries = { 0 };
	int err = list_files(archive, &entries);

	for (size_t i = 0; i < entries.len / sizeof(struct entry) && !err && !*more; i++) {
		const struct entry *entry = (const struct entry *)(void *)entries.data + i;

		*more = entry->is_plain && strcmp(entry->hour, hour) < 0;
		if (*more)
			archive->entry = *entry;
	}
	buffer__free(&entries);
	if (!err)
		snprintf(archive->done, sizeof(archive->done), "%s", *more ? "" : hour);
	if (err || !*more)
		return err;
	if (!csv_part__is_compressed(archive->dirfd, archive->entry.name))
		return open_files(archive);
	err = make_way(archive);
	if (!err)
		archive->entry.name[0] = '\0';
	return err;
}

/* The compressed file takes the place of the plain one. */
static int finish(struct csv_archive *archive)
{
	char part[96], name[96];
	int err = zstd_writer__finish(archive->writer);

	if (err)
		return err;
	part_name(archive, part, sizeof(part));
	snprintf(name, sizeof(name), "%s" ENDING, archive->entry.name);
	/* The plain file goes once the other one is on the disk. */
	if (fdatasync(archive->out) && errno != EINVAL)
		return -errno;
	err = rename_once(archive->dirfd, part, name);
	if (err)
		return err;
	if (unlinkat(archive->dirfd, archive->entry.name, 0))
		return -errno;
	close_files(archive);
	return 0;
}

static int compress_part(struct csv_archive *archive)
{
	char *room = malloc(STEP_BYTES);
	ssize_t len;
	int err = 0;

	if (!room)
		return -ENOMEM;
	len = read(archive->in, room, STEP_BYTES);
	if (len < 0)
		err = -errno;
	else if (len > 0)
		err = zstd_writer__write(archive->writer, room, (size_t)len);
	free(room);
	return err || len ? err : finish(archive);
}

void csv_archive__step(struct csv_archive *archive, const char *hour, bool *more)
{
	int err = 0;

	*more = false;
	if (!archive->options.compress || !strcmp(archive->done, hour))
		return;
	/* The clock was set back: the file is written to again. */
	if (*archive->entry.name && strcmp(archive->entry.hour, hour) >= 0)
		give_up(archive);
	*more = *archive->entry.name;
	if (!*more)
		err = begin(archive, hour, more);
	else
		err = compress_part(archive);
	if (err) {
		pr_warn("cannot compress %s of -o: %s; files stay as they are from here on",
			archive->entry.name, strerror(-err));
		give_up(archive);
		archive->options.compress = *more = false;
	}
}
