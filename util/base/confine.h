/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CONFINE_H
#define DENET_CONFINE_H

#include <stdint.h>

/* What a child has to do with files that others wrote, and may do nothing else. */
enum confine_kind {
	CONFINE_READ, /* reads files, also below the root of another process */
	CONFINE_COPY, /* copies them as well: makes directories, files and links */
};

/*
 * Takes from this process, for good, what it does not need for parsing files that may be broken on
 * purpose: its capabilities but those for reading, private memory beyond max_bytes more than it
 * has, and, by a seccomp filter, system calls: it cannot start programs, open sockets or write to
 * files (CONFINE_READ). Each of the three is tried whatever becomes of the others, since a kernel
 * may lack one and a container forbid it. Not done in builds with the address sanitizer, which
 * needs more than that. 0 or the first negative errno.
 */
int confine__process(enum confine_kind kind, uint64_t max_bytes);

#endif /* DENET_CONFINE_H */
