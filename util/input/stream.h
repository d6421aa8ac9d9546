/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_INPUT_STREAM_H
#define DENET_INPUT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/*
 * The bytes of a file or of a pipe, from the beginning on and, of a file, from wherever one wants.
 */
struct stream {
	int fd;
	bool is_pipe;	 /* cannot be read from another place */
	uint64_t at;	 /* in the file, of what is read next into ahead */
	uint64_t end;	 /* nothing is read from there on */
	struct buffer ahead;
	size_t used;	 /* of ahead */
};

/* The file at fd, which is closed with the stream. */
void stream__init(struct stream *stream, int fd);
void stream__close(struct stream *stream);

/* Goes on at that place of a file, up to an end. */
void stream__seek(struct stream *stream, uint64_t at, uint64_t end);

/*
 * Looks at the next size bytes, at most 64 KB or what is in ahead: *data is valid until the next
 * call. 1; 0: there are fewer; a negative errno.
 */
int stream__peek(struct stream *stream, size_t size, const void **data);

/* Passes over bytes that were looked at. */
void stream__skip(struct stream *stream, size_t size);

/* Reads so many bytes into a buffer. 1; 0: there are fewer; a negative errno. */
int stream__read(struct stream *stream, size_t size, struct buffer *out);

#endif /* DENET_INPUT_STREAM_H */
