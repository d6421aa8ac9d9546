/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbol/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/jobs.h"
#include "base/log.h"
#include "base/minmax.h"
#include "host/root_open.h"
#include "symbol/copy_file.h"

/* Memory limit of the process that copies. */
#define COPY_MAX_BYTES (64u << 20)
#define HEX_MAX (2 * BUILD_ID_MAX + 1)

/* File names of entries, by kind; perf looks for these. */
static const char *const entry_names[] = {
	[CACHE_FILE] = "elf",
	[CACHE_MODULE] = "elf",
	[CACHE_KERNEL] = "kallsyms",
	[CACHE_VDSO] = "vdso",
};

int cache__want(struct cache *cache, enum cache_kind kind, pid_t pid, const char *path,
		const unsigned char *id, size_t len)
{
	struct cache_item *items, *item;

	for (size_t i = 0; i < cache->nr; i++) {
		item = &cache->items[i];
		if (item->len == len && !memcmp(item->id, id, len) && !strcmp(item->path, path))
			return 0;
	}
	if (cache->nr == cache->capacity) {
		size_t capacity = cache->capacity ? 2 * cache->capacity : 64;

		items = reallocarray(cache->items, capacity, sizeof(*items));
		if (!items)
			return -ENOMEM;
		cache->items = items;
		cache->capacity = capacity;
	}
	item = &cache->items[cache->nr];
	*item = (struct cache_item){ .kind = kind, .pid = pid, .len = len, .err = -ETIMEDOUT };
	memcpy(item->id, id, len);
	item->path = strdup(path);
	if (!item->path)
		return -ENOMEM;
	cache->nr++;
	return 0;
}

void cache__free(struct cache *cache)
{
	for (size_t i = 0; i < cache->nr; i++)
		free(cache->items[i].path);
	free(cache->items);
	*cache = (struct cache){ 0 };
}

static void format_hex(const struct cache_item *item, char hex[HEX_MAX])
{
	for (size_t i = 0; i < item->len; i++)
		snprintf(hex + 2 * i, 3, "%02x", item->id[i]);
}

/* Opens a folder below another one, if need be made; dir_fd is closed. */
static int enter(int dir_fd, const char *name, bool make)
{
	int fd, err;

	/* The path comes from a process that may mean harm. */
	if (!strcmp(name, "..")) {
		close(dir_fd);
		return -EINVAL;
	}
	if (make && mkdirat(dir_fd, name, 0755) && errno != EEXIST)
		fd = -1;
	else
		fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	err = fd < 0 ? -errno : 0;
	close(dir_fd);
	return err ? err : fd;
}

/* The folder of an entry: PATH/BUILD-ID. */
static int open_entry(int debug_fd, const char *path, const char *hex, bool make)
{
	char parts[PATH_MAX], *rest = NULL;
	int fd = fcntl(debug_fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (snprintf(parts, sizeof(parts), "%s", path) >= (int)sizeof(parts)) {
		close(fd);
		return -ENAMETOOLONG;
	}
	for (char *part = strtok_r(parts, "/", &rest); part && fd >= 0;
	     part = strtok_r(NULL, "/", &rest))
		fd = enter(fd, part, make);
	return fd < 0 ? fd : enter(fd, hex, make);
}

/* .build-id/12/3456… leads to the entry. */
static int write_link(int debug_fd, const char *path, const char *hex)
{
	char target[PATH_MAX + HEX_MAX + 8], first[3] = { hex[0], hex[1], '\0' };
	int fd = fcntl(debug_fd, F_DUPFD_CLOEXEC, 0), err = 0;

	if (fd >= 0)
		fd = enter(fd, ".build-id", true);
	if (fd >= 0)
		fd = enter(fd, first, true);
	if (fd < 0)
		return fd;
	snprintf(target, sizeof(target), "../../%s/%s", path + (*path == '/'), hex);
	if (symlinkat(target, fd, hex + 2) && errno != EEXIST)
		err = -errno;
	close(fd);
	return err;
}

int cache__copy(int debug_fd, const struct cache_item *item, int fd, uint64_t *room)
{
	const char *name = entry_names[item->kind];
	char hex[HEX_MAX] = "";
	int entry_fd, err = 0;

	if (!item->len || item->len > BUILD_ID_MAX)
		return -EINVAL;
	format_hex(item, hex);
	entry_fd = open_entry(debug_fd, item->path, hex, true);
	if (entry_fd < 0)
		return entry_fd;
	if (faccessat(entry_fd, name, F_OK, AT_SYMLINK_NOFOLLOW))
		err = copy_file__into(entry_fd, name, fd, room);
	close(entry_fd);
	return err ? err : write_link(debug_fd, item->path, hex);
}

/* Removes what is left of a copy whose process was killed. */
static void forget_part(int debug_fd, const struct cache_item *item)
{
	char hex[HEX_MAX] = "";
	int entry_fd;

	if (item->len > BUILD_ID_MAX)
		return;
	format_hex(item, hex);
	entry_fd = open_entry(debug_fd, item->path, hex, false);
	if (entry_fd < 0)
		return;
	copy_file__forget(entry_fd, entry_names[item->kind]);
	close(entry_fd);
}

static int open_debug(void)
{
	const char *home = getenv("HOME");
	int fd = home && *home ? open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd < 0)
		return home && *home ? -errno : -ENOENT;
	return enter(fd, ".debug", true);
}

/* The kernel maps the whole of it, the section headers last. */
static int open_vdso(void)
{
	const char *base = (const char *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *header = (const void *)base;
	size_t size;
	int fd;

	if (!base)
		return -ENOENT;
	size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, base, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET)) {
		close(fd);
		return -EIO;
	}
	return fd;
}

static int open_item(const struct cache_item *item)
{
	int fd;

	switch (item->kind) {
	case CACHE_KERNEL:
		fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	case CACHE_VDSO:
		return open_vdso();
	case CACHE_FILE:
	case CACHE_MODULE:
		break;
	}
	fd = root_open__file(item->pid, item->path);
	/* Its process has ended: our own file of that name may be the same. */
	if (fd == -ESRCH)
		fd = root_open__file(0, item->path);
	return fd;
}

/* Whether a file still is the one whose build-id was read, maybe long ago. */
static int check_id(const struct cache_item *item, int fd)
{
	unsigned char id[BUILD_ID_MAX];
	int len;

	if (item->kind != CACHE_FILE)
		return 0;
	len = build_id__of_fd(fd, id);
	if (len != (int)item->len || memcmp(id, item->id, item->len))
		return -ESTALE;
	return lseek(fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

/* In the child. */
static int copy_item(void *ctx, size_t index, struct child_out *out)
{
	struct cache *cache = ctx;
	const struct cache_item *item = &cache->items[index];
	int debug_fd = open_debug(), fd, err;

	if (debug_fd < 0)
		return debug_fd;
	fd = open_item(item);
	err = fd < 0 ? fd : check_id(item, fd);
	if (!err)
		err = cache__copy(debug_fd, item, fd, &cache->room);
	if (fd >= 0)
		close(fd);
	close(debug_fd);
	/* For the parent, whose next child, if this one ends, begins with it. */
	return err ? err : child_out__put(out, 0, &cache->room, sizeof(cache->room));
}

static int take_room(void *ctx, size_t index, const struct child_message *message)
{
	struct cache *cache = ctx;
	uint64_t room;

	(void)index;
	if (message->size != sizeof(room))
		return -EPROTO;
	memcpy(&room, message->data, sizeof(room));
	cache->room = min_u64(cache->room, room);
	return 0;
}

/* A failure, by the kernel or a library, is only logged: files are copied anyway. */
static int confine(void *ctx)
{
	int err = confine__process(CONFINE_COPY, COPY_MAX_BYTES);

	(void)ctx;
	if (err)
		pr_verbose("the process that fills perf's cache is not confined: %s",
			   strerror(-err));
	return 0;
}

static void finish_item(void *ctx, size_t index, int status)
{
	struct cache_item *item = &((struct cache *)ctx)->items[index];
	int debug_fd = status ? open_debug() : -1;

	item->err = status;
	/* Its process may have been killed. */
	if (debug_fd >= 0) {
		forget_part(debug_fd, item);
		close(debug_fd);
	}
}

int cache__fill(struct cache *cache, int deadline_ms)
{
	const struct jobs jobs = {
		.nr = cache->nr,
		.ctx = cache,
		.enter = confine,
		.run = copy_item,
		.answer = take_room,
		.done = finish_item,
	};

	cache->room = CACHE_MAX_BYTES;
	return jobs__run(&jobs, deadline_ms);
}
