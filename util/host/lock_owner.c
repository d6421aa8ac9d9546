/* SPDX-License-Identifier: GPL-2.0-only */
#include "host/lock_owner.h"

#include <sys/uio.h>

/* A mutex that would cross the end of a mapping may be the word of a bare futex. */
uint32_t lock_owner__read(pid_t pid, uint64_t address, struct mutex_wait wait, bool *is_shared)
{
	struct mutex_words words = { 0 };
	const struct iovec to = { &words, sizeof(words) };
	const struct iovec from = { (void *)(uintptr_t)address, sizeof(words) };
	uint8_t shared = 0;
	uint32_t owner = 0;

	if (process_vm_readv(pid, &to, 1, &from, 1, 0) >= (ssize_t)sizeof(words.lock))
		owner = mutex_owner__of(&words, wait.op, wait.value, &shared);
	*is_shared = shared;
	return owner;
}
