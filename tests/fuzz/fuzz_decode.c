/* SPDX-License-Identifier: GPL-2.0-only */
/* The decoders of the wire: whatever the bytes, frames lie inside of them. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/decode.h"
#include "capture/reason.h"
#include "capture/sideband_filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t touch(const struct frames *frames)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < frames->nr; i++)
		sum += frames->ips[i];
	return sum;
}

static uint64_t touch_copy(const struct user_copy *copy)
{
	const unsigned char *bytes = copy->bytes;
	uint64_t sum = copy->regs[0] + copy->regs[USER_COPY_REGS - 1];

	for (uint32_t i = 0; i < copy->nr; i++)
		sum += bytes[i];
	return sum;
}

static void check_sideband(const void *event, size_t size)
{
	struct sideband *all = sideband_filter__new(true, false, 1);
	struct sideband *some = sideband_filter__new(false, false, 1);
	uint64_t time;

	if (all && some && !sideband_filter__add(some, 42, 42)) {
		sideband_filter__wants(all, event, size, &time);
		sideband_filter__wants(some, event, size, &time);
	}
	sideband_filter__delete(all);
	sideband_filter__delete(some);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	volatile uint64_t sum = 0;
	const struct wire_block *block;
	struct decoded_stack stack;
	struct decoded_user user;
	struct decoded_copy stack_copy;
	struct thread_waits thread;
	struct sample sample;
	struct reason reason;
	void *copy = malloc(size ? size : 1);

	if (!copy)
		return 0;
	/* A copy of exactly this size, so that one byte beyond is an error. */
	memcpy(copy, data, size);
	decode__kind(copy, size);
	if (decode__block(copy, size, &sample, &block) > 0)
		sum += touch(&sample.kernel) + touch(&sample.user);
	if (decode__stack(copy, size, &stack) > 0)
		sum += touch(&stack.frames);
	if (decode__user(copy, size, &user) > 0)
		sum += touch(&user.frames);
	if (decode__copy(copy, size, &stack_copy) > 0)
		sum += touch_copy(&stack_copy.copy);
	if (decode__thread(copy, size, &thread) > 0)
		sum += strlen(thread.comm);
	if (reason__decode(copy, size, &reason) > 0)
		sum += strlen(reason.path) + strlen(reason.local) + strlen(reason.remote);
	check_sideband(copy, size);
	(void)sum;
	free(copy);
	return 0;
}
