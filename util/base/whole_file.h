/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_WHOLE_FILE_H
#define DENET_WHOLE_FILE_H

#include <stdio.h>

/*
 * A file that is written under another name until it is whole, so that no reader takes a part for
 * it, and what was there before stays if something fails. What is no regular file, such as a pipe
 * or a device, is written at once, and so is standard output, which is called "-".
 */
struct whole_file {
	FILE *out;
	char *path;   /* NULL: nothing is renamed in the end */
	char *unborn; /* the name until then */
};

/* 0 or a negative errno; after 0, whole_file__close() must follow. */
int whole_file__open(struct whole_file *file, const char *path);

/* Gives the file its name or, if err is not 0, removes it. err, or the negative errno of that. */
int whole_file__close(struct whole_file *file, int err);

#endif /* DENET_WHOLE_FILE_H */
