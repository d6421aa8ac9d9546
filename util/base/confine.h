/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CONFINE_H
#define DENET_CONFINE_H

#include <stdint.h>

/* The work of a child on files that others wrote; everything else is forbidden. */
enum confine_kind {
	CONFINE_READ, /* reads files, also below the root of another process */
	CONFINE_COPY, /* copies them as well: makes directories, files and links */
};

/*
 * Restricts this process, for good, to parsing files that may be broken on purpose. Drops its
 * capabilities but those for reading, limits the growth of its private memory to max_bytes, and
 * filters its system calls with seccomp: it cannot start programs, open sockets or write to files
 * (CONFINE_READ). Each of the three is tried even if another fails, since a kernel may lack it and
 * a container forbid it. Does nothing in builds with the address sanitizer, which needs more. 0 or
 * the first negative errno.
 */
int confine__process(enum confine_kind kind, uint64_t max_bytes);

#endif /* DENET_CONFINE_H */
