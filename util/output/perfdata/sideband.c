/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/perfdata/sideband.h"

#include <string.h>

#include "machine/task_event.h"

int sideband__encode(struct buffer *out, uint64_t id, const void *record, size_t size)
{
	struct task_event event;
	int err;

	/* Other kinds are refused: an old reader dies of a record that it does not know. */
	err = task_event__decode(record, size, &event);
	if (!err)
		err = buffer__append(out, record, size);
	if (err)
		return err;
	/* The id is the last field of the trailer, whatever else the event asks for. */
	memcpy(out->data + out->len - sizeof(id), &id, sizeof(id));
	return 0;
}
