/* SPDX-License-Identifier: GPL-2.0-only */
#include "input/stream.h"

#include <errno.h>
#include <unistd.h>

#include "base/minmax.h"

/* Read at a time. */
#define CHUNK (256u << 10)

void stream__init(struct stream *stream, int fd)
{
	*stream = (struct stream){
		.fd = fd,
		.is_pipe = lseek(fd, 0, SEEK_CUR) < 0,
		.end = UINT64_MAX,
	};
}

void stream__close(struct stream *stream)
{
	if (stream->fd >= 0)
		close(stream->fd);
	stream->fd = -1;
	buffer__free(&stream->ahead);
}

void stream__seek(struct stream *stream, uint64_t at, uint64_t end)
{
	stream->at = at;
	stream->end = end;
	stream->ahead.len = 0;
	stream->used = 0;
}

static ssize_t read_chunk(const struct stream *stream, void *room, size_t size)
{
	ssize_t len;

	do {
		if (stream->is_pipe)
			len = read(stream->fd, room, size);
		else
			len = pread(stream->fd, room, size, (off_t)stream->at);
	} while (len < 0 && errno == EINTR);
	return len < 0 ? -errno : len;
}

int stream__peek(struct stream *stream, size_t size, const void **data)
{
	while (stream->ahead.len - stream->used < size) {
		size_t most = (size_t)min_u64(CHUNK, stream->end - stream->at);
		char *room;
		ssize_t len;

		buffer__consume(&stream->ahead, stream->used);
		stream->used = 0;
		room = buffer__reserve(&stream->ahead, CHUNK);
		if (!room)
			return -ENOMEM;
		len = most ? read_chunk(stream, room, most) : 0;
		if (len <= 0)
			return (int)len;
		stream->ahead.len += (size_t)len;
		stream->at += (uint64_t)len;
	}
	*data = stream->ahead.data + stream->used;
	return 1;
}

void stream__skip(struct stream *stream, size_t size)
{
	stream->used += size;
}

int stream__read(struct stream *stream, size_t size, struct buffer *out)
{
	const void *data;
	int ret = 1;

	while (size && ret == 1) {
		size_t part = (size_t)min_u64(size, 65536);

		ret = stream__peek(stream, part, &data);
		if (ret != 1)
			break;
		ret = buffer__append(out, data, part) ? -ENOMEM : 1;
		stream__skip(stream, part);
		size -= part;
	}
	return ret;
}
