/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_PERFDATA_FILE_H
#define DENET_OUTPUT_PERFDATA_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Destination of the bytes: a new regular file, or one that can't seek. */
struct file {
	int fd;
	bool pipe;
	bool fifo;   /* a pipe that blocks, written by chunks */
	bool socket;
	bool ending; /* the user wants an end: the wait for a slow reader is limited */
	bool moved;  /* an existing file was renamed to FILE.old */
	bool failed; /* an error has been logged; its consequences are not */
	char *path;  /* for messages */
};

/*
 * Opens path for writing. "-", /dev/stdout and other names of our standard output or error, a FIFO
 * and a character device become pipes; a symbolic link to one is followed if root or we made it.
 * Anything but a regular file must belong to root or to us. Otherwise a new file of mode 0600 is
 * made: an existing one, link or not, becomes PATH.old, an empty one is removed. Terminals,
 * directories and block devices are refused. A FIFO is opened once it has a reader; a SIGINT,
 * SIGTERM or SIGHUP that is blocked, pending and not ignored ends that wait. 0 or a negative errno,
 * logged.
 */
int file__open(struct file *file, const char *path);

/*
 * Appends size bytes, however many writes that takes; *written receives the number written. A pipe
 * whose reader takes nothing for two seconds while such a signal is pending is an error. 0 or a
 * negative errno, logged. SIGPIPE and SIGXFSZ must be ignored.
 */
int file__append(struct file *file, const void *data, size_t size, size_t *written);

/* Overwrites bytes at an offset of a regular file. 0 or a negative errno, logged. */
int file__rewrite(struct file *file, const void *data, size_t size, uint64_t offset);

/* Cuts a regular file at size and appends from there on. 0 or a negative errno, logged. */
int file__truncate(struct file *file, uint64_t size);

/* Closes the file, removes it if it is a regular one that we made, and renames FILE.old back. */
void file__discard(struct file *file);

/* True if a regular file still has its name; always true for a pipe. */
bool file__has_name(const struct file *file);

/* Closes; logs if the name is now another file's. 0 or close()'s error, logged. */
int file__close(struct file *file);

#endif /* DENET_OUTPUT_PERFDATA_FILE_H */
