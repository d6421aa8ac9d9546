/* SPDX-License-Identifier: GPL-2.0-only */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "output/perfdata/encode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Accepted records are whole and aligned; only their id is changed. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint64_t id = 1;
	struct buffer out = { 0 };
	struct task_event event;

	if (!task_event__decode(data, size, &event)) {
		if (encode__task_event(&out, id, &event))
			return 0;
		assert(out.len == size && size % LAYOUT_ALIGN == 0);
		assert(encode__whole_records(out.data, out.len) == size);
		assert(memcmp(out.data, data, size - sizeof(id)) == 0);
		assert(memcmp(out.data + size - sizeof(id), &id, sizeof(id)) == 0);
	}
	assert(encode__whole_records(data, size) <= size);
	buffer__free(&out);
	return 0;
}
