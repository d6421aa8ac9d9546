/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void *buffer__reserve(struct buffer *buffer, size_t size)
{
	size_t capacity = buffer->capacity ? buffer->capacity : 256;
	char *data;

	if (size > (size_t)-1 / 4 - buffer->len)
		return NULL;
	while (capacity < buffer->len + size)
		capacity *= 2;
	if (capacity != buffer->capacity) {
		data = realloc(buffer->data, capacity);
		if (!data)
			return NULL;
		buffer->data = data;
		buffer->capacity = capacity;
	}
	return buffer->data + buffer->len;
}

int buffer__append(struct buffer *buffer, const void *data, size_t size)
{
	void *room = buffer__reserve(buffer, size);

	if (!room)
		return -ENOMEM;
	if (size)
		memcpy(room, data, size);
	buffer->len += size;
	return 0;
}

int buffer__append_u32(struct buffer *buffer, uint32_t value)
{
	return buffer__append(buffer, &value, sizeof(value));
}

int buffer__append_u64(struct buffer *buffer, uint64_t value)
{
	return buffer__append(buffer, &value, sizeof(value));
}

void buffer__consume(struct buffer *buffer, size_t size)
{
	buffer->len -= size;
	if (buffer->len)
		memmove(buffer->data, buffer->data + size, buffer->len);
}

void buffer__free(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){ 0 };
}
