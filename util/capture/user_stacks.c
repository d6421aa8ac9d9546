/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/user_stacks.h"

#include <errno.h>
#include <stdlib.h>

#include "capture/capture.h"
#include "capture/decode.h"

static int grow(struct user_stacks *copies, size_t nr)
{
	struct buffer *of_cpu = reallocarray(copies->of_cpu, nr, sizeof(*of_cpu));

	if (!of_cpu)
		return -ENOMEM;
	copies->of_cpu = of_cpu;
	for (; copies->nr < nr; copies->nr++)
		of_cpu[copies->nr] = (struct buffer){ 0 };
	return 0;
}

int user_stacks__keep(struct user_stacks *copies, unsigned int cpu, struct buffer *record)
{
	struct decoded_copy decoded;
	struct buffer room;

	if (cpu >= CAPTURE_MAX_CPUS || decode__copy(record->data, record->len, &decoded) < 0)
		return -EINVAL;
	if (cpu >= copies->nr && grow(copies, (size_t)cpu + 1))
		return -ENOMEM;
	room = copies->of_cpu[cpu];
	copies->of_cpu[cpu] = *record;
	*record = room;
	return 0;
}

bool user_stacks__find(const struct user_stacks *copies, const struct wire_block *block,
		  struct user_copy *copy)
{
	const struct buffer *record;
	struct decoded_copy decoded;

	if (!block->stack_bytes || block->cpu >= copies->nr)
		return false;
	record = &copies->of_cpu[block->cpu];
	if (decode__copy(record->data, record->len, &decoded) < 0 ||
	    decoded.incarnation != block->incarnation || decoded.time != block->time)
		return false;
	*copy = decoded.copy;
	return true;
}

void user_stacks__free(struct user_stacks *copies)
{
	for (size_t i = 0; i < copies->nr; i++)
		buffer__free(&copies->of_cpu[i]);
	free(copies->of_cpu);
	*copies = (struct user_stacks){ 0 };
}
