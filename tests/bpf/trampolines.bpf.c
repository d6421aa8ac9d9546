/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Puts other code into the kernel stacks of threads that sleep: a BPF trampoline that called the
 * function below, and a return address that was replaced. See test_left_walks.c.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

volatile __u64 nr_returns;

SEC("fexit/hrtimer_nanosleep")
int BPF_PROG(leave_nanosleep)
{
	__sync_fetch_and_add(&nr_returns, 1);
	return 0;
}

SEC("kretprobe/schedule_hrtimeout_range_clock")
int BPF_KPROBE(leave_timeout)
{
	__sync_fetch_and_add(&nr_returns, 1);
	return 0;
}
