/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Under a temporary name, where a file system cannot do without. 0 or a negative errno. */
static int create_named(struct whole_file *file)
{
	mode_t mask = umask(0);
	int fd, err = 0;

	umask(mask);
	if (asprintf(&file->unborn, "%s.XXXXXX", file->path) < 0) {
		file->unborn = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(file->unborn, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fchmod(fd, 0666 & ~mask))
		err = -errno;
	if (!err)
		file->out = fdopen(fd, "w");
	if (!err && !file->out)
		err = -errno;
	if (!err)
		return 0;
	close(fd);
	unlink(file->unborn);
	return err;
}

/* Without a name, so that nothing is left of it should we be killed. -1: not possible here. */
static int open_nameless(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
	int fd = dir ? open(*dir ? dir : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;

	free(dir);
	return fd;
}

/* Creates it with the permissions of any new file. 0 or a negative errno. */
static int create(struct whole_file *file)
{
	int fd = open_nameless(file->path), err;

	if (fd < 0)
		return create_named(file);
	file->out = fdopen(fd, "w");
	if (file->out)
		return 0;
	err = -errno;
	close(fd);
	return err;
}

/* Gives a file without a name one that is not taken. 0 or a negative errno. */
static int name_it(struct whole_file *file)
{
	int err = -EEXIST;
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fileno(file->out));
	for (int i = 0; i < 1000 && err == -EEXIST; i++) {
		if (asprintf(&file->unborn, "%s.%d.%d", file->path, getpid(), i) < 0) {
			file->unborn = NULL;
			return -ENOMEM;
		}
		if (!linkat(AT_FDCWD, self, AT_FDCWD, file->unborn, AT_SYMLINK_FOLLOW))
			return 0;
		err = -errno;
		free(file->unborn);
		file->unborn = NULL;
	}
	return err;
}

static void forget(struct whole_file *file)
{
	free(file->path);
	free(file->unborn);
	*file = (struct whole_file){ 0 };
}

int whole_file__open(struct whole_file *file, const char *path)
{
	struct stat stat_of;
	int err;

	*file = (struct whole_file){ 0 };
	if (!strcmp(path, "-")) {
		file->out = stdout;
		return 0;
	}
	if (!stat(path, &stat_of) && !S_ISREG(stat_of.st_mode)) {
		file->out = fopen(path, "we");
		return file->out ? 0 : -errno;
	}
	/* A symbolic link stays; its target is replaced. */
	file->path = realpath(path, NULL);
	if (!file->path)
		file->path = strdup(path);
	err = file->path ? create(file) : -ENOMEM;
	if (err)
		forget(file);
	return err;
}

int whole_file__write_error(int err)
{
	return err == -EIO && errno ? -errno : err;
}

int whole_file__close(struct whole_file *file, int err)
{
	if (fflush(file->out) && !err)
		err = -errno;
	if (file->path && !err && !file->unborn)
		err = name_it(file);
	if (file->out != stdout && fclose(file->out) && !err)
		err = -errno;
	if (file->path && !err && rename(file->unborn, file->path))
		err = -errno;
	if (file->unborn && err)
		unlink(file->unborn);
	forget(file);
	return err;
}
