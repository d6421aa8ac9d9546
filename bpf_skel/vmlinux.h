/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel types that the programs here touch, and of those only the members that they
 * touch. CO-RE relocates each access to the running kernel's layout, so building needs no
 * kernel's BTF. A ___suffix names a variant that some kernels have; libbpf ignores it.
 */
#ifndef DENET_VMLINUX_H
#define DENET_VMLINUX_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;
typedef int pid_t;
typedef _Bool bool;

enum {
	false = 0,
	true = 1,
};

#define NULL ((void *)0)

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_NO_PREALLOC = 1,
	BPF_F_USER_STACK = 256,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
};

#define BPF_F_CURRENT_CPU 0xffffffffULL

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs {
	unsigned long bp;
	unsigned long ip;
	unsigned long sp;
	unsigned long cs;
};

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	int on_cpu;
	int exit_state;
	pid_t pid;
	pid_t tgid;
	struct task_struct *real_parent;
	__u64 start_boottime;
	char comm[16];
};

/* Before 5.14. */
struct task_struct___before_5_14 {
	volatile long state;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 session_id;
	__u64 seq_num;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

#endif /* DENET_VMLINUX_H */
