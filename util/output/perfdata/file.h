/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_PERFDATA_FILE_H
#define DENET_OUTPUT_PERFDATA_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the bytes go: a new regular file, or something that can't seek. */
struct file {
	int fd;
	bool pipe;
	bool fifo;   /* a pipe that blocks: it is written by chunks */
	bool socket;
	bool ending; /* the user wants an end: a reader that takes nothing is not waited for long */
	bool moved;  /* a file of the same name became FILE.old */
	bool failed; /* an error has been logged: those that follow from it are not */
	char *path;  /* for messages */
};

/*
 * Opens path for writing. "-", /dev/stdout and anything else that is our standard output
 * or error, a FIFO and a character device become pipes; a symbolic link to one is followed
 * if root or we made it. What is no regular file must belong to root or to us. Otherwise a new
 * file of mode 0600 is made: one that exists, link or not, becomes PATH.old, an empty one is
 * removed. Terminals, directories and block devices are refused. A FIFO is opened once it has a
 * reader; a SIGINT, SIGTERM or SIGHUP that is blocked, pending and not ignored ends that wait. 0 or
 * a negative errno, logged.
 */
int file__open(struct file *file, const char *path);

/*
 * Appends size bytes, however many writes that takes; *written receives how many arrived.
 * A pipe whose reader takes nothing for two seconds while such a signal is pending is an error.
 * 0 or a negative errno, logged. The caller ignores SIGPIPE and SIGXFSZ, or dies of them.
 */
int file__append(struct file *file, const void *data, size_t size, size_t *written);

/* Overwrites bytes at an offset of a regular file. 0 or a negative errno, logged. */
int file__rewrite(struct file *file, const void *data, size_t size, uint64_t offset);

/* Cuts a regular file at size and appends from there on. 0 or a negative errno, logged. */
int file__truncate(struct file *file, uint64_t size);

/* Closes, removes a regular file that we made, and gives FILE.old its name back. */
void file__discard(struct file *file);

/* Whether a regular file still has the name under which it was made; true for a pipe. */
bool file__has_name(const struct file *file);

/* Closes, and says if the name is now that of another file; 0 or what close() reports, logged. */
int file__close(struct file *file);

#endif /* DENET_OUTPUT_PERFDATA_FILE_H */
