/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BENCH_OBJECTS_H
#define DENET_BENCH_OBJECTS_H

#include <stdint.h>
#include <sys/types.h>

/*
 * The BPF programs and maps that a process holds by its descriptors, from fdinfo. Works for any
 * tool.
 */
struct objects {
	unsigned int programs;
	unsigned int maps;
	uint64_t run_ns;    /* of all programs, while the statistics were on */
	uint64_t run_count;
	uint64_t map_bytes;
};

/* Looks at pid's descriptors now. 0 or a negative errno, such as when pid has ended. */
int objects__read(struct objects *objects, pid_t pid);

#endif /* DENET_BENCH_OBJECTS_H */
