/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/zstd_stream.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/fd.h"
#include "base/minmax.h"

#define ROOM (128 * 1024)

struct zstd_writer {
	int fd;
	ZSTD_CCtx *context;
	char room[ROOM];
};

struct zstd_writer *zstd_writer__new(int fd)
{
	struct zstd_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->fd = fd;
	writer->context = ZSTD_createCCtx();
	if (writer->context &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(writer->context, ZSTD_c_checksumFlag, 1)))
		return writer;
	zstd_writer__delete(writer);
	return NULL;
}

void zstd_writer__delete(struct zstd_writer *writer)
{
	if (!writer)
		return;
	ZSTD_freeCCtx(writer->context);
	free(writer);
}

static int compress(struct zstd_writer *writer, const void *data, size_t size,
		    ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = { .src = data, .size = size };
	size_t left;
	int err;

	do {
		ZSTD_outBuffer out = { .dst = writer->room, .size = ROOM };

		left = ZSTD_compressStream2(writer->context, &out, &in, how);
		if (ZSTD_isError(left))
			return -EIO;
		err = fd__write_all(writer->fd, writer->room, out.pos);
	} while (!err && (how == ZSTD_e_end ? left != 0 : in.pos < in.size));
	return err;
}

int zstd_writer__write(struct zstd_writer *writer, const void *data, size_t size)
{
	return compress(writer, data, size, ZSTD_e_continue);
}

int zstd_writer__finish(struct zstd_writer *writer)
{
	return compress(writer, NULL, 0, ZSTD_e_end);
}

struct zstd_reader {
	int fd;
	ZSTD_DCtx *context;
	ZSTD_inBuffer in;
	size_t len, used; /* of text */
	bool between; /* one file has ended, and no other one has begun behind it */
	char room[ROOM];
	char text[ROOM];
};

bool zstd_reader__knows(int fd)
{
	static const unsigned char magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };
	unsigned char found[sizeof(magic)];

	return pread(fd, found, sizeof(found), 0) == (ssize_t)sizeof(found) &&
	       !memcmp(found, magic, sizeof(magic));
}

struct zstd_reader *zstd_reader__new(int fd)
{
	struct zstd_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->fd = fd;
	reader->in.src = reader->room;
	reader->between = true;
	reader->context = ZSTD_createDCtx();
	if (reader->context)
		return reader;
	zstd_reader__delete(reader);
	return NULL;
}

void zstd_reader__delete(struct zstd_reader *reader)
{
	if (!reader)
		return;
	ZSTD_freeDCtx(reader->context);
	free(reader);
}

/* Reads more compressed bytes. 1; 0: there are none; a negative errno. */
static int read_more(struct zstd_reader *reader)
{
	ssize_t len = read(reader->fd, reader->room, ROOM);

	if (len < 0)
		return -errno;
	reader->in.size = (size_t)len;
	reader->in.pos = 0;
	return len != 0;
}

/* More text. 1; 0: there is none; a negative errno. */
static int fill(struct zstd_reader *reader)
{
	ZSTD_outBuffer out = { .dst = reader->text, .size = ROOM };
	size_t left;
	int ret;

	while (!out.pos) {
		if (reader->in.pos == reader->in.size) {
			ret = read_more(reader);
			if (ret <= 0)
				return ret || reader->between ? ret : -EINVAL;
		}
		left = ZSTD_decompressStream(reader->context, &out, &reader->in);
		if (ZSTD_isError(left))
			return -EINVAL;
		reader->between = !left;
	}
	reader->len = out.pos;
	reader->used = 0;
	return 1;
}

ssize_t zstd_reader__read(struct zstd_reader *reader, void *bytes, size_t size)
{
	int ret = reader->used == reader->len ? fill(reader) : 1;
	size_t nr;

	if (ret <= 0)
		return ret;
	nr = (size_t)min_u64(reader->len - reader->used, size);
	memcpy(bytes, reader->text + reader->used, nr);
	reader->used += nr;
	return (ssize_t)nr;
}
