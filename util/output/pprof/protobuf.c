/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/pprof/protobuf.h"

#include <string.h>

/* How the value of a field is encoded. */
enum { WIRE_NUMBER = 0, WIRE_BYTES = 2 };

int protobuf__varint(struct buffer *message, uint64_t value, int err)
{
	unsigned char bytes[10];
	size_t nr = 0;

	if (err)
		return err;
	for (; value >= 0x80; value >>= 7)
		bytes[nr++] = (unsigned char)(value | 0x80);
	bytes[nr++] = (unsigned char)value;
	return buffer__append(message, bytes, nr);
}

int protobuf__number(struct buffer *message, unsigned int field, uint64_t value, int err)
{
	err = protobuf__varint(message, field << 3 | WIRE_NUMBER, err);
	return protobuf__varint(message, value, err);
}

int protobuf__bytes(struct buffer *message, unsigned int field, const void *data, size_t size,
		    int err)
{
	err = protobuf__varint(message, field << 3 | WIRE_BYTES, err);
	err = protobuf__varint(message, size, err);
	return err ? err : buffer__append(message, data, size);
}

int protobuf__text(struct buffer *message, unsigned int field, const char *text, int err)
{
	return protobuf__bytes(message, field, text, strlen(text), err);
}
