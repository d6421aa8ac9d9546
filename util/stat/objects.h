/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_OBJECTS_H
#define DENET_STAT_OBJECTS_H

#include "base/buffer.h"
#include "bpf/stat.h"
#include "stat/stat_data.h"

/*
 * The objects that threads wait for: futexes, block devices, sockets. Zero-initialised is empty.
 * Functions return 0 or a negative errno.
 */
struct objects {
	struct buffer waits; /* of threads that still wait: struct stat_wire_thread, without sums */
};

/* Notes that a thread still waits, if it does; before objects__read(). */
int objects__note_wait(struct objects *objects, const struct stat_wire_thread *thread);

/* Reads all objects into data, the greatest times first. */
int objects__read(struct objects *objects, const struct stat_programs *programs,
		  struct stat_data *data);

void objects__free(struct objects *objects);

#endif /* DENET_STAT_OBJECTS_H */
