/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/kernel_stacks.h"

#include <errno.h>

/* More than this is forgotten all at once. */
#define MAX_BYTES (16UL << 20)

uint32_t kernel_stacks__begin(struct kernel_stacks *stacks)
{
	if (stacks->frames.len < MAX_BYTES)
		return stacks->generation + 1;
	idmap__clear(&stacks->offsets);
	stacks->frames.len = 0;
	stacks->generation++;
	return stacks->generation + 1;
}

static uint64_t key_of(const struct thread_sample *sample)
{
	uint64_t key = idmap__mix(idmap__mix(sample->tid, sample->start), sample->switches);

	return key == IDMAP_NONE ? 0 : key;
}

static int keep(struct kernel_stacks *stacks, const struct thread_sample *sample)
{
	const uint64_t nr = sample->kernel.nr;
	uint64_t *offset = idmap__get(&stacks->offsets, key_of(sample));

	if (!offset)
		return -ENOMEM;
	*offset = stacks->frames.len;
	if (buffer__append(&stacks->frames, &nr, sizeof(nr)) ||
	    buffer__append(&stacks->frames, sample->kernel.ips, nr * sizeof(uint64_t)))
		return -ENOMEM;
	return 0;
}

int kernel_stacks__take(struct kernel_stacks *stacks, struct thread_sample *sample)
{
	const uint64_t *offset, *frames;

	if (sample->kernel.nr)
		return keep(stacks, sample);
	offset = sample->same_kernel ? idmap__find(&stacks->offsets, key_of(sample)) : NULL;
	if (!offset)
		return 0;
	frames = (const uint64_t *)(const void *)(stacks->frames.data + *offset);
	sample->kernel = (struct frames){ .ips = frames + 1, .nr = (uint32_t)frames[0] };
	sample->kernel_id = thread_sample__hash(&sample->kernel);
	return 0;
}

void kernel_stacks__free(struct kernel_stacks *stacks)
{
	idmap__free(&stacks->offsets);
	buffer__free(&stacks->frames);
}
