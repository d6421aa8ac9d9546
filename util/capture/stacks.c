/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/stacks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/idmap.h"

/* Larger buffers are freed when a generation has been drained. */
#define KEEP_BYTES (1U << 20)

/* In the arena, each stack is its number of frames and then the frames. */
struct stacks {
	struct idmap offsets;
	struct buffer arena;
};

struct stacks *stacks__new(void)
{
	return calloc(1, sizeof(struct stacks));
}

void stacks__delete(struct stacks *stacks)
{
	if (!stacks)
		return;
	idmap__free(&stacks->offsets);
	buffer__free(&stacks->arena);
	free(stacks);
}

int stacks__add(struct stacks *stacks, uint64_t id, const struct frames *frames)
{
	uint64_t nr = frames->nr, *offset;
	size_t before = stacks->arena.len;

	if (idmap__find(&stacks->offsets, id))
		return 0;
	if (buffer__append(&stacks->arena, &nr, sizeof(nr)) ||
	    buffer__append(&stacks->arena, frames->ips, nr * sizeof(uint64_t)))
		goto no_memory;
	offset = idmap__get(&stacks->offsets, id);
	if (!offset)
		goto no_memory;
	*offset = before;
	return 0;

no_memory:
	stacks->arena.len = before;
	return -ENOMEM;
}

bool stacks__find(const struct stacks *stacks, uint64_t id, struct frames *frames)
{
	const uint64_t *offset = idmap__find(&stacks->offsets, id), *entry;

	if (!offset)
		return false;
	entry = (const uint64_t *)(const void *)(stacks->arena.data + *offset);
	frames->nr = (uint32_t)entry[0];
	frames->ips = entry + 1;
	return true;
}

void stacks__clear(struct stacks *stacks)
{
	idmap__clear(&stacks->offsets);
	stacks->arena.len = 0;
	if (stacks->arena.capacity > KEEP_BYTES)
		buffer__free(&stacks->arena);
}

size_t stacks__count(const struct stacks *stacks)
{
	return stacks->offsets.used;
}
