/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_COMPLETION_H
#define DENET_TOP_COMPLETION_H

#include <stddef.h>

#include "track_wire.h"

/* A call or a request that has ended; one of the two, by kind. */
struct completion {
	enum track_wire_kind kind;
	struct track_wire_call call;
	struct track_wire_done request;
};

/* Decodes a record of the tracker. 0, or -EINVAL if it is cut or none of these. */
int completion__decode(const void *data, size_t size, struct completion *completion);

/* "WRITE|SYNC", of track_wire_request.flags: cut to size. Returns buf. */
char *completion__put_flags(__u32 flags, char *buf, size_t size);

#endif /* DENET_TOP_COMPLETION_H */
