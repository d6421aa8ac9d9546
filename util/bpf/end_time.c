/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/end_time.h"

#include "base/clock.h"
#include "base/units.h"

/* By then every CPU has seen that there is an end, unless this thread loses its CPU first. */
#define AHEAD_NS (100 * NSEC_PER_USEC)

uint64_t end_time__set(volatile __u64 *end_ns)
{
	uint64_t end;

	/* The page is there when the time counts. */
	*end_ns = 0;
	end = clock__now_ns() + AHEAD_NS;
	*end_ns = end;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	while (clock__now_ns() <= end)
		;
	return end;
}
