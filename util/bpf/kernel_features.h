/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_KERNEL_FEATURES_H
#define DENET_BPF_KERNEL_FEATURES_H

#include <stdbool.h>

#include "bpf/orc.h"

/*
 * Features of this kernel that the programs depend on, read from its BTF, never from its version.
 * Whether the kernel then accepts a program is found by loading it.
 */
struct kernel_features {
	bool has_btf;          /* /sys/kernel/btf/vmlinux is there and can be read */
	bool has_scheduler;    /* the tracepoint sched_switch */
	bool has_state;        /* and its argument prev_state */
	bool has_exit_tp;      /* the tracepoint sched_exit_tp */
	bool has_sched_in;     /* __perf_event_task_sched_in, for fentry */
	bool has_task_storage; /* the helper bpf_task_storage_get */
	bool has_user_memory;  /* and bpf_copy_from_user_task */
	bool has_run_delay;    /* the scheduler counts how long tasks wait for a CPU */
	bool has_throttled;    /* and shows which wait for the CPU quota of their cgroup */
	bool has_registers;    /* and bpf_task_pt_regs, of a machine whose registers we know */
	/*
	 * The programs may walk user frames themselves. A limit below ours is the administrator's,
	 * and the kernel's own walk heeds it.
	 */
	bool quick_frames;
	bool has_find_vma; /* the helper bpf_find_vma: they may look for mappings */
	bool has_unmapped_area; /* the tracepoint vm_unmapped_area */
	bool has_modules; /* the tracepoints module_load and module_free */
	/* Tasks may be preempted in programs at the raw tracepoints of system calls. */
	bool has_preempted_calls;
	bool has_kernel_loads; /* they may load from a pointer to anything, as task_struct::stack */
	/* The programs may walk kernel stacks by these tables. */
	struct orc_format orc;
};

/* 0, or a negative errno: there is no BTF, so that no feature is known. */
int kernel_features__read(struct kernel_features *kernel_features);

#endif /* DENET_BPF_KERNEL_FEATURES_H */
