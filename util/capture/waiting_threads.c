/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/waiting_threads.h"

#include <string.h>

static uint64_t total(const struct thread_waits *thread)
{
	return thread->runnable_ns + thread->throttled_ns;
}

void waiting_threads__add(struct waiting_threads *threads, const struct thread_waits *thread)
{
	size_t at = threads->nr, behind;

	while (at && total(&threads->top[at - 1]) < total(thread))
		at--;
	if (!total(thread) || at == WAITING_THREADS_MAX)
		return;
	if (threads->nr < WAITING_THREADS_MAX)
		threads->nr++;
	behind = threads->nr - at - 1;
	memmove(&threads->top[at + 1], &threads->top[at], behind * sizeof(*thread));
	threads->top[at] = *thread;
}
