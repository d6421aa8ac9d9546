/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_END_TIME_H
#define DENET_END_TIME_H

#include <linux/types.h>
#include <stdint.h>

struct bpf_program;

/*
 * Writes the end of a recording, a moment ahead, to a variable that BPF programs compare with their
 * clock, and returns it once it is over. Programs that read their clock before may still run,
 * see window_maps__wait(). In ns of CLOCK_MONOTONIC.
 *
 * An end that is written when it has come is too late: a switch on another CPU, or of this thread,
 * may come between the clock and the write, and counts as one before the end. So set_end writes it,
 * a program that no switch of this CPU can interrupt. Where the kernel does not run it, this thread
 * does, which may lose its CPU in between.
 */
uint64_t end_time__set(volatile __u64 *end_ns, const struct bpf_program *set_end);

#endif /* DENET_END_TIME_H */
