/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks that were walked before: when it is not worth it to compare one. */
#ifndef DENET_KNOWN_BPF_H
#define DENET_KNOWN_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#define KNOWN_MISSES 4U /* in a row, after which a stack is left alone for some time */
#define KNOWN_PAUSE 64U

/*
 * Whether a stack is compared with the known one, or else remembered in its place. misses: how many
 * in a row were not recognized. False for KNOWN_PAUSE walks after KNOWN_MISSES of them.
 */
static __always_inline bool is_worth_it(__u32 *misses)
{
	if (*misses < KNOWN_MISSES)
		return true;
	if (++*misses == KNOWN_MISSES + KNOWN_PAUSE)
		*misses = 0;
	return false;
}

#endif /* DENET_KNOWN_BPF_H */
