/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CLOCK_H
#define DENET_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of CLOCK_MONOTONIC, the clock of deadlines and of samples. */
static inline uint64_t clock__now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

/* Milliseconds of CLOCK_REALTIME, since 1970. */
static inline uint64_t clock__real_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

#endif /* DENET_CLOCK_H */
