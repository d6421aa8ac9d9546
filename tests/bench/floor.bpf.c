/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The floor of the benchmark: the cost of the calls alone. Empty programs on the same hooks as a
 * recording has at each switch.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("tp_btf/sched_switch")
int BPF_PROG(floor_out, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return 0;
}

SEC("tp_btf/sched_exit_tp")
int BPF_PROG(floor_exit_tp, bool is_switch)
{
	return 0;
}

SEC("fentry/__perf_event_task_sched_in")
int BPF_PROG(floor_fentry)
{
	return 0;
}
