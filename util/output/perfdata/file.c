/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/perfdata/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

/* A pipe that poll(2) reports as writable has room for so much: the write does not block. */
#define CHUNK PIPE_BUF
/* Interval of checks while waiting for a reader, and the limit of that wait at the end. */
#define LOOK_UP_MS 50
#define LAST_WAIT_MS 2000

static const char *remedy(int error)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT:
		return "free some space, or choose another place with -o";
	case EFBIG:
		return "the limit on file sizes (ulimit -f) is reached";
	case EACCES:
	case EPERM:
	case EROFS:
		return "choose a place that can be written with -o";
	case ENOENT:
	case ENOTDIR:
		return "make the directory first, or choose another with -o";
	case ETIMEDOUT:
		return "nobody reads the pipe";
	case EPIPE:
		return "whoever read the pipe has gone";
	default:
		return "try another place with -o";
	}
}

static int fail(const char *what, const char *path, int error)
{
	pr_err("cannot %s %s: %s; %s", what, path, strerror(error), remedy(error));
	return -error;
}

static bool is_pipe_like(const struct stat *st)
{
	return S_ISFIFO(st->st_mode) || S_ISCHR(st->st_mode) || S_ISSOCK(st->st_mode);
}

/*
 * Opens a pipe anew without blocking: its descriptor may be shared with processes that need it to
 * block. Where that is not allowed, the pipe is written by chunks. Each of them wakes the reader,
 * which costs more.
 */
static bool stop_blocking(struct file *file)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", file->fd);
	fd = open(name, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return false;
	close(file->fd);
	file->fd = fd;
	return true;
}

/* Takes over fd. Terminals are refused: binary data would garble them. */
static int use_pipe(struct file *file, int fd, const char *name)
{
	struct stat st;

	if (isatty(fd)) {
		pr_err("refusing to write a recording to the terminal %s; redirect it, or name a "
		       "file with -o",
		       name);
		close(fd);
		return -EINVAL;
	}
	file->fd = fd;
	file->pipe = true;
	if (fstat(fd, &st))
		return 0;
	file->socket = S_ISSOCK(st.st_mode);
	file->fifo = S_ISFIFO(st.st_mode) && !stop_blocking(file);
	return 0;
}

static int use_own_fd(struct file *file, int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	if (copy < 0)
		return fail("write to", file->path, errno);
	return use_pipe(file, copy, file->path);
}

/*
 * /dev/stdout may lead to a regular file: that is written, since renaming would replace the
 * system's link. Returns the descriptor or -1.
 */
static int own_fd_behind(const struct stat *target)
{
	struct stat st;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fstat(fd, &st) == 0 && st.st_dev == target->st_dev &&
		    st.st_ino == target->st_ino)
			return fd;
	}
	return -1;
}

/* Another user's link may point at a device that must not be written. */
static bool link_is_trusted(const struct stat *link)
{
	return !S_ISLNK(link->st_mode) || link->st_uid == 0 || link->st_uid == geteuid();
}

/*
 * A FIFO, device or socket that another user put under the name would receive the recording. True
 * if it is root's or ours; else logs that.
 */
static bool is_trusted(const char *path, const struct stat *st)
{
	if (st->st_uid == 0 || st->st_uid == geteuid())
		return true;
	pr_err("refusing to write to %s: it belongs to user %u, who would get the recording; "
	       "redirect to it (-o - >FILE), or name another file with -o",
	       path, st->st_uid);
	return false;
}

/*
 * The recorder blocks its signals and reads them in its loop. A wait for a reader outside of that
 * loop must check them itself. A blocked signal becomes pending even if its disposition is SIG_IGN,
 * as under nohup(1).
 */
static bool end_is_wanted(void)
{
	struct sigaction hangup;
	sigset_t set;

	if (sigpending(&set))
		return false;
	return sigismember(&set, SIGINT) || sigismember(&set, SIGTERM) ||
	       (sigismember(&set, SIGHUP) && !sigaction(SIGHUP, NULL, &hangup) &&
		hangup.sa_handler != SIG_IGN);
}

static bool is_fifo(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISFIFO(st.st_mode);
}

/* Waits for a FIFO's reader until the user interrupts. */
static int open_for_reader(const char *path)
{
	int fd;

	while ((fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)) < 0) {
		/* A socket gives ENXIO, too, for good. */
		if (errno != ENXIO || !is_fifo(path))
			return -errno;
		if (end_is_wanted())
			return -ETIMEDOUT;
		poll(NULL, 0, LOOK_UP_MS);
	}
	return fd;
}

static int open_pipe(struct file *file)
{
	int fd = open_for_reader(file->path);
	struct stat st;

	if (fd < 0)
		return fail("open", file->path, -fd);
	/* The file may have been replaced since its check. */
	if (fstat(fd, &st) || !is_pipe_like(&st)) {
		close(fd);
		return fail("write to", file->path, EINVAL);
	}
	if (!is_trusted(file->path, &st)) {
		close(fd);
		return -EPERM;
	}
	return use_pipe(file, fd, file->path);
}

/* Makes room for a new file: an existing one becomes PATH.old. */
static int move_away(const char *path, const struct stat *st)
{
	char old[PATH_MAX];
	int len;

	if (S_ISREG(st->st_mode) && !st->st_size)
		return unlink(path) ? fail("replace", path, errno) : 0;
	len = snprintf(old, sizeof(old), "%s.old", path);
	if (len < 0 || (size_t)len >= sizeof(old))
		return fail("rename", path, ENAMETOOLONG);
	return rename(path, old) ? fail("rename to FILE.old the file", path, errno) : 0;
}

static int create(struct file *file)
{
	file->fd = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return file->fd < 0 ? fail("create", file->path, errno) : 0;
}

static int open_path(struct file *file)
{
	struct stat link, target;
	bool exists = lstat(file->path, &link) == 0;
	bool leads = exists && stat(file->path, &target) == 0;
	int fd;
	int err;

	if (!exists)
		return create(file);
	if (leads && S_ISLNK(link.st_mode) && link_is_trusted(&link)) {
		fd = own_fd_behind(&target);
		if (fd >= 0)
			return use_own_fd(file, fd);
	}
	if (leads && is_pipe_like(&target) && link_is_trusted(&link)) {
		/* Checked before the open, which a FIFO's reader would notice. */
		if (!is_trusted(file->path, &target))
			return -EPERM;
		return open_pipe(file);
	}
	if (S_ISDIR(link.st_mode))
		return fail("write to", file->path, EISDIR);
	if (S_ISBLK(link.st_mode))
		return fail("write to", file->path, EINVAL);
	err = move_away(file->path, &link);
	if (err)
		return err;
	file->moved = !S_ISREG(link.st_mode) || link.st_size;
	return create(file);
}

int file__open(struct file *file, const char *path)
{
	bool dash = strcmp(path, "-") == 0;
	int err;

	*file = (struct file){ .fd = -1, .path = strdup(dash ? "standard output" : path) };
	if (!file->path)
		return -ENOMEM;
	err = dash ? use_own_fd(file, STDOUT_FILENO) : open_path(file);
	if (err) {
		free(file->path);
		file->path = NULL;
	}
	return err;
}

/* Logs the first failed write only: the others follow from it. */
static int fail_write(struct file *file, const char *what, int error)
{
	if (file->failed)
		return -error;
	file->failed = true;
	return fail(what, file->path, error);
}

/* Waits until there is room or, once the user wants an end, for LAST_WAIT_MS. */
static int wait_writable(const struct file *file)
{
	struct pollfd pollfd = { .fd = file->fd, .events = POLLOUT };
	int ready, waited = 0;

	do {
		ready = poll(&pollfd, 1, LOOK_UP_MS);
		if (ready < 0 && errno != EINTR)
			return -errno;
		waited += !ready && (file->ending || end_is_wanted()) ? LOOK_UP_MS : 0;
	} while (ready <= 0 && waited < LAST_WAIT_MS);
	return ready > 0 ? 0 : -ETIMEDOUT;
}

/* Avoids a write(2) that blocks while the reader takes nothing: no signal would end it. */
static ssize_t write_some(const struct file *file, const char *data, size_t size)
{
	int err = file->fifo ? wait_writable(file) : 0;

	if (err) {
		errno = -err;
		return -1;
	}
	if (file->socket)
		return send(file->fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	return write(file->fd, data, file->fifo && size > CHUNK ? CHUNK : size);
}

int file__append(struct file *file, const void *data, size_t size, size_t *written)
{
	int err;

	*written = 0;
	while (*written < size) {
		ssize_t n = write_some(file, (const char *)data + *written, size - *written);

		if (n >= 0) {
			*written += (size_t)n;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return fail_write(file, "write to", errno);
		err = wait_writable(file);
		if (err)
			return fail_write(file, "write to", -err);
	}
	return 0;
}

int file__rewrite(struct file *file, const void *data, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pwrite(file->fd, (const char *)data + done, size - done,
				   (off_t)(offset + done));

		if (n < 0 && errno != EINTR)
			return fail_write(file, "write to", errno);
		if (n > 0)
			done += (size_t)n;
	}
	return 0;
}

int file__truncate(struct file *file, uint64_t size)
{
	if (ftruncate(file->fd, (off_t)size) || lseek(file->fd, (off_t)size, SEEK_SET) < 0)
		return fail_write(file, "cut", errno);
	return 0;
}

static bool is_same(const struct stat *ours, const char *path)
{
	struct stat named;

	return !lstat(path, &named) && named.st_dev == ours->st_dev &&
	       named.st_ino == ours->st_ino;
}

bool file__has_name(const struct file *file)
{
	struct stat ours;

	return file->pipe || (!fstat(file->fd, &ours) && is_same(&ours, file->path));
}

/* Other recordings may have taken the name and FILE.old meanwhile. */
static void check_name(const struct file *file)
{
	char old[PATH_MAX];
	struct stat ours;

	if (file->fd < 0 || file->pipe || fstat(file->fd, &ours) || is_same(&ours, file->path))
		return;
	snprintf(old, sizeof(old), "%s.old", file->path);
	if (is_same(&ours, old))
		pr_loss("another recording has taken the name %s: this one is %s", file->path, old);
	else if (ours.st_nlink)
		pr_loss("%s was renamed meanwhile: this recording has another name", file->path);
	else
		pr_loss("%s was removed meanwhile: this recording is lost", file->path);
}

static int release(struct file *file)
{
	int err = 0;

	/* EINTR of close() leaves the descriptor closed on Linux: no second try. */
	if (file->fd >= 0 && close(file->fd) && errno != EINTR)
		err = fail_write(file, "finish", errno);
	free(file->path);
	*file = (struct file){ .fd = -1 };
	return err;
}

void file__discard(struct file *file)
{
	char old[PATH_MAX];
	struct stat ours;

	/* A file that has replaced ours since is left alone. */
	if (!file->pipe && !fstat(file->fd, &ours) && is_same(&ours, file->path)) {
		snprintf(old, sizeof(old), "%s.old", file->path);
		if (file->moved ? rename(old, file->path) : unlink(file->path))
			pr_warn("cannot remove %s: %s", file->path, strerror(errno));
	}
	release(file);
}

int file__close(struct file *file)
{
	check_name(file);
	return release(file);
}
