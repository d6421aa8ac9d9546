/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TESTS_STEAL_H
#define DENET_TESTS_STEAL_H

#include <stdint.h>

/*
 * Time that a virtual machine's CPUs were ready to run and got no real one, by /proc/stat:
 * ns of all CPUs since boot, 0 where nobody tells.
 */
uint64_t steal__so_far(void);

/* What a difference of two may be short of the truth, in ns: they are told in ticks. */
uint64_t steal__grain(void);

#endif /* DENET_TESTS_STEAL_H */
