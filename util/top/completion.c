/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/completion.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int take(void *to, size_t wanted, const void *data, size_t size)
{
	struct wire_head head;

	if (size < wanted)
		return -EINVAL;
	memcpy(&head, data, sizeof(head));
	if (head.size != wanted)
		return -EINVAL;
	memcpy(to, data, wanted);
	return 0;
}

int completion__decode(const void *data, size_t size, struct completion *completion)
{
	struct wire_head head;

	*completion = (struct completion){ 0 };
	if (size < sizeof(head))
		return -EINVAL;
	memcpy(&head, data, sizeof(head));
	completion->kind = (enum track_wire_kind)head.kind;
	switch (head.kind) {
	case TRACK_WIRE_CALL:
		return take(&completion->call, sizeof(completion->call), data, size);
	case TRACK_WIRE_REQUEST:
		return take(&completion->request, sizeof(completion->request), data, size);
	default:
		return -EINVAL;
	}
}

/* REQ_OP_* of the kernel, whose numbers are those of its drivers, too. */
static const char *op_name(__u32 op)
{
	switch (op) {
	case 0:
		return "READ";
	case 1:
		return "WRITE";
	case 2:
		return "FLUSH";
	case 3:
		return "DISCARD";
	case 5:
		return "SECURE_ERASE";
	case 7:
		return "ZONE_APPEND";
	case 9:
		return "WRITE_ZEROES";
	case 34:
		return "DRV_IN";
	case 35:
		return "DRV_OUT";
	default:
		return NULL;
	}
}

char *completion__put_flags(__u32 flags, char *buf, size_t size)
{
	static const struct {
		__u32 flag;
		const char *name;
	} names[] = {
		{ TRACK_WIRE_IO_SYNC, "|SYNC" }, { TRACK_WIRE_IO_META, "|META" },
		{ TRACK_WIRE_IO_PRIO, "|PRIO" }, { TRACK_WIRE_IO_FUA, "|FUA" },
		{ TRACK_WIRE_IO_RAHEAD, "|RA" },
	};
	const char *op = op_name(flags & TRACK_WIRE_IO_OP);
	size_t len;

	if (op)
		snprintf(buf, size, "%s", op);
	else
		snprintf(buf, size, "OP_%u", flags & TRACK_WIRE_IO_OP);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		len = strlen(buf);
		if (flags & names[i].flag)
			snprintf(buf + len, size - len, "%s", names[i].name);
	}
	return buf;
}
