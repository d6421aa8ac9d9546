/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_PPROF_PROTOBUF_H
#define DENET_OUTPUT_PPROF_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/*
 * Fields of protocol buffers, appended to a message. Results are 0 or -ENOMEM; err, the result of
 * the field before, is returned where it is not 0, so that only the last one is to be checked.
 */
int protobuf__number(struct buffer *message, unsigned int field, uint64_t value, int err);
int protobuf__bytes(struct buffer *message, unsigned int field, const void *data, size_t size,
		    int err);
int protobuf__text(struct buffer *message, unsigned int field, const char *text, int err);

/* A number alone, as packed fields have them. */
int protobuf__varint(struct buffer *message, uint64_t value, int err);

#endif /* DENET_OUTPUT_PPROF_PROTOBUF_H */
