/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SYMBOL_CACHE_H
#define DENET_SYMBOL_CACHE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbol/build_id.h"

/*
 * perf's cache of files by build-id, $HOME/.debug: what lies there is found by perf report
 * wherever the file itself has gone, and is what `perf archive` packs.
 */
enum cache_kind {
	CACHE_FILE,
	CACHE_MODULE,
	CACHE_KERNEL, /* its symbols: a copy of /proc/kallsyms */
	CACHE_VDSO,
};

struct cache_item {
	enum cache_kind kind;
	pid_t pid;  /* below whose root the file is; 0: our own */
	char *path; /* as in the mapping */
	unsigned char id[BUILD_ID_MAX];
	size_t len;
	int err; /* 0: it is in the cache now */
};

/* Files to be copied. Zero-initialised is empty; free with cache__free(). */
struct cache {
	struct cache_item *items;
	size_t nr;
	size_t capacity;
	uint64_t room; /* bytes that may still be written */
};

/* Limit of the bytes that one recording copies. */
#define CACHE_MAX_BYTES (2ULL << 30)

/* Adds an item unless it is there; path is copied, len at most BUILD_ID_MAX. 0 or -ENOMEM. */
int cache__want(struct cache *cache, enum cache_kind kind, pid_t pid, const char *path,
		const unsigned char *id, size_t len);

/*
 * Copies what is not there yet, in a child that can be killed, deadline_ms in all. A file that
 * cannot be copied has its err and costs no other one. 0 or a negative errno.
 */
int cache__fill(struct cache *cache, int deadline_ms);
void cache__free(struct cache *cache);

/*
 * Copies one file that is open at fd into the cache at the directory debug_fd, under the
 * build-id and path given. Never through a link. *room is reduced, see symbol/copy_file.h. 0, also
 * if it is there, or a negative errno.
 */
int cache__copy(int debug_fd, const struct cache_item *item, int fd, uint64_t *room);

#endif /* DENET_SYMBOL_CACHE_H */
