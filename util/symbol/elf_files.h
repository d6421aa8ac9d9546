/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SYMBOL_ELF_FILES_H
#define DENET_SYMBOL_ELF_FILES_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "machine/mapped_file.h"
#include "symbol/build_id.h"

#define ELF_MAPPING_ANCESTORS 4

/* A process that had the file mapped, there and at that time (CLOCK_MONOTONIC, ns). */
struct elf_mapping {
	pid_t pid;
	uint64_t alive;
	uint64_t start, end, pgoff;
	/* The nearest first; in a container they usually see the same files. 0: no more. */
	pid_t ancestors[ELF_MAPPING_ANCESTORS];
};

#define ELF_WANTED_MAPPINGS 4
#define ELF_WANTED_IDS 4

struct elf_build_id {
	unsigned char bytes[BUILD_ID_MAX];
	size_t len;
};

/* A mapped file that is wanted. */
struct elf_wanted {
	const struct mapped_file *file;
	struct elf_mapping mappings[ELF_WANTED_MAPPINGS]; /* the latest ones */
	size_t nr_mappings;
	/*
	 * Build-ids that files of that name have had, as many as there is room for; 0: none is
	 * known. Which of them this one had is not known: its inode has to tell.
	 */
	struct elf_build_id ids[ELF_WANTED_IDS];
	size_t nr_ids;
	size_t nr_files; /* of that name that the recording has: inodes */
	/* Paths where copies of the file and of its debug file are, by its build-id, or NULL: */
	const char *fetched;
	const char *fetched_debug;
};

/* Where files are looked for. */
struct elf_world {
	const char *symfs; /* a directory that stands for the root; NULL: none does */
	bool elsewhere;    /* the processes were of another machine, or before its last boot */
};

/* The file and those that have its symbols: debug files, .gnu_debugdata. */
#define ELF_FILES_MAX 4

struct elf_files {
	Elf *all[ELF_FILES_MAX]; /* the file itself first */
	int fds[ELF_FILES_MAX];  /* -1: it needs none */
	size_t nr;
};

/*
 * Opens what can be found of a file: by way of a process that has it mapped, by its name, or by its
 * build-id. Another file is never taken: the build-id tells or, where none is known, device and
 * inode. For a child with base/bus_guard.h, since files may hang, shrink, or be broken on purpose.
 * 0, or a negative errno: none was found.
 */
int elf_files__open(struct elf_files *files, const struct elf_wanted *wanted,
		    const struct elf_world *world);

/* The address that the file's segments have for an offset in it. 0, or -ENOENT: none has it. */
int elf_files__address(const struct elf_files *files, uint64_t offset, uint64_t *address);

void elf_files__close(struct elf_files *files);

#endif /* DENET_SYMBOL_ELF_FILES_H */
