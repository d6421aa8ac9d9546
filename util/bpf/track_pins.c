/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/track_pins.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "track_wire.h"

/* Others hold the directory for a moment, when they start and end. */
#define LOCK_TRIES 500
#define LOCK_PAUSE_NS 10000000L

struct track_pins {
	char *path;
	int fd;	  /* of the directory */
	int own;  /* of the directory of this sampler in it; -1: none yet */
	int slot; /* its number */
};

static void slot_name(int slot, char *buf, size_t size)
{
	snprintf(buf, size, TRACK_PINS_PREFIX "sampler_%d", slot);
}

int track_pins__lock(struct track_pins *pins)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!flock(pins->fd, LOCK_EX | LOCK_NB))
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			break;
		nanosleep(&pause, NULL);
	}
	pr_err("--pin %s: cannot lock the directory: %s", pins->path, strerror(errno));
	return -errno;
}

void track_pins__unlock(struct track_pins *pins)
{
	flock(pins->fd, LOCK_UN);
}

static int open_dir(struct track_pins *pins)
{
	struct statfs fs;

	pins->fd = open(pins->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (pins->fd < 0 && errno == ENOENT) {
		pr_err("--pin %s: there is no such directory; make it, below /sys/fs/bpf or on "
		       "another BPF file system",
		       pins->path);
		return -ENOENT;
	}
	if (pins->fd < 0 || fstatfs(pins->fd, &fs)) {
		pr_err("--pin %s: cannot open the directory: %s", pins->path, strerror(errno));
		return -errno;
	}
	if ((unsigned long)fs.f_type != BPF_FS_MAGIC) {
		pr_err("--pin %s: this is no BPF file system; give a directory below /sys/fs/bpf, "
		       "or mount one: mount -t bpf bpf DIR",
		       pins->path);
		return -EINVAL;
	}
	if (faccessat(pins->fd, ".", W_OK, AT_EACCESS)) {
		pr_err("--pin %s: cannot write into the directory: %s", pins->path,
		       strerror(errno));
		return -errno;
	}
	return track_pins__lock(pins);
}

struct track_pins *track_pins__open(const char *path, int *err)
{
	struct track_pins *pins = calloc(1, sizeof(*pins));

	*err = -ENOMEM;
	if (!pins)
		return NULL;
	pins->fd = pins->own = -1;
	pins->path = strdup(path);
	if (pins->path)
		*err = open_dir(pins);
	if (!*err)
		return pins;
	track_pins__delete(pins);
	return NULL;
}

void track_pins__delete(struct track_pins *pins)
{
	char name[64];

	if (!pins)
		return;
	if (pins->own >= 0) {
		slot_name(pins->slot, name, sizeof(name));
		unlinkat(pins->fd, name, AT_REMOVEDIR);
		close(pins->own);
	}
	if (pins->fd >= 0)
		close(pins->fd);
	free(pins->path);
	free(pins);
}

/* Locks the directory of a sampler: a descriptor, -EWOULDBLOCK if it lives, or another errno. */
static int lock_slot(const struct track_pins *pins, int slot)
{
	char name[64];
	int fd, err;

	slot_name(slot, name, sizeof(name));
	fd = openat(pins->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

uint32_t track_pins__others(const struct track_pins *pins)
{
	uint32_t others = 0;

	for (int i = 0; i < TRACK_WIRE_SAMPLERS; i++) {
		int fd = i == pins->slot && pins->own >= 0 ? -ENOENT : lock_slot(pins, i);

		if (fd == -EWOULDBLOCK)
			others |= 1U << i;
		else if (fd >= 0)
			close(fd);
	}
	return others;
}

int track_pins__take(struct track_pins *pins)
{
	uint32_t others = track_pins__others(pins);
	char name[64];
	int err;

	for (pins->slot = 0; others >> pins->slot & 1; pins->slot++)
		;
	if (pins->slot >= TRACK_WIRE_SAMPLERS) {
		pr_err("--pin %s: %d denet-top share the tracker there already; give another "
		       "directory",
		       pins->path, TRACK_WIRE_SAMPLERS);
		return -EBUSY;
	}
	slot_name(pins->slot, name, sizeof(name));
	err = mkdirat(pins->fd, name, 0700) && errno != EEXIST ? -errno : 0;
	if (!err)
		pins->own = lock_slot(pins, pins->slot);
	if (!err && pins->own >= 0)
		return pins->slot;
	err = err ? err : pins->own;
	pr_err("--pin %s: cannot make a directory there: %s", pins->path, strerror(-err));
	return err;
}

/* All but the directory of this sampler. */
int track_pins__clear(struct track_pins *pins)
{
	int fd = openat(pins->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	char own[64];

	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	slot_name(pins->own < 0 ? -1 : pins->slot, own, sizeof(own));
	while (!err && (entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (strncmp(name, TRACK_PINS_PREFIX, strlen(TRACK_PINS_PREFIX)) != 0 ||
		    !strcmp(name, own))
			continue;
		if (unlinkat(pins->fd, name, 0) && unlinkat(pins->fd, name, AT_REMOVEDIR)) {
			err = -errno;
			pr_err("--pin %s: cannot remove %s: %s", pins->path, name, strerror(-err));
		}
	}
	closedir(dir);
	return err;
}

static char *path_of(const struct track_pins *pins, const char *name)
{
	char *path;

	return asprintf(&path, "%s/" TRACK_PINS_PREFIX "%s", pins->path, name) < 0 ? NULL : path;
}

int track_pins__add(const struct track_pins *pins, int fd, const char *name)
{
	char *path = path_of(pins, name);
	int err = path ? bpf_obj_pin(fd, path) : -ENOMEM;

	if (err)
		pr_err("--pin %s: cannot pin there: %s", pins->path, strerror(-err));
	free(path);
	return err;
}

int track_pins__publish(const struct track_pins *pins, const char *name)
{
	char *path = path_of(pins, name);
	mode_t mask = umask(0);
	int err = -ENOMEM;

	umask(mask);
	if (path)
		err = chmod(path, 0444 & ~mask) ? -errno : 0;
	if (err)
		pr_err("--pin %s: cannot change the rights of %s: %s", pins->path, name,
		       strerror(-err));
	free(path);
	return err;
}

int track_pins__get(const struct track_pins *pins, const char *name)
{
	char *path = path_of(pins, name);
	int fd = path ? bpf_obj_get(path) : -ENOMEM;

	free(path);
	return fd;
}

const char *track_pins__path(const struct track_pins *pins)
{
	return pins->path;
}
