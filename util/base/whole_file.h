/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_WHOLE_FILE_H
#define DENET_WHOLE_FILE_H

#include <stdio.h>

/*
 * A file that has no name, or a temporary one, until it is complete, so that readers see the old
 * file or the new one, also after a failure. Anything but a regular file, such as a pipe or a
 * device, is written directly, and so is standard output, called "-".
 */
struct whole_file {
	FILE *out;
	char *path;   /* NULL: nothing is renamed in the end */
	char *unborn; /* its temporary name; NULL: it has none yet */
};

/* 0 or a negative errno; after 0, whole_file__close() must follow. */
int whole_file__open(struct whole_file *file, const char *path);

/*
 * Renames the file or, if err is not 0, removes it. Returns err, or the negative errno of the
 * rename.
 */
int whole_file__close(struct whole_file *file, int err);

/*
 * The error of a writer that has returned err just now: one that found its stream failed (-EIO) has
 * left to errno why, such as a full disk.
 */
int whole_file__write_error(int err);

#endif /* DENET_WHOLE_FILE_H */
