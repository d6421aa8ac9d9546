/* SPDX-License-Identifier: GPL-2.0-only */
/* The decoders of the wire: frames lie inside of any input that is accepted. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/decode.h"
#include "capture/reason.h"
#include "capture/sideband_filter.h"
#include "machine/machine.h"

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

static void check_sideband(const void *record, size_t size, bool all)
{
	const struct task_event target = { .kind = TASK_EVENT_FORK, .pid = 42, .tid = 42 };
	struct machine *machine = machine__new();
	struct sideband_filter filter;
	struct task_event event;

	if (machine && !machine__handle(machine, &target) &&
	    !sideband_filter__init(&filter, machine, 1, all)) {
		for (int i = 0; i < 2; i++) {
			if (sideband_filter__decode(&filter, record, size, &event))
				sideband_filter__take(&filter, &event);
		}
		machine__forget(machine, UINT64_MAX - 1);
	}
	machine__delete(machine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	volatile uint64_t sum = 0;
	const struct wire_block *block;
	struct decoded_stack stack;
	struct decoded_user user;
	struct decoded_copy stack_copy;
	struct decoded_cgroup cgroup;
	struct wire_run run;
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
	if (decode__run(copy, size, &run) > 0)
		sum += run.run_ns;
	if (decode__cgroup(copy, size, &cgroup) > 0)
		sum += strlen(cgroup.path);
	if (reason__decode(copy, size, &reason) > 0)
		sum += strlen(reason.path) + strlen(reason.local) + strlen(reason.remote);
	check_sideband(copy, size, true);
	check_sideband(copy, size, false);
	(void)sum;
	free(copy);
	return 0;
}
