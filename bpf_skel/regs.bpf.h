/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The user registers of a task that is in the kernel: all that differs by architecture. */
#ifndef DENET_REGS_BPF_H
#define DENET_REGS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include "user_regs.h"
#include "wire.h"

#ifdef __TARGET_ARCH_arm64
#define PSTATE_32BIT 0x10U /* arch/arm64/include/uapi/asm/ptrace.h: PSR_MODE32_BIT */

static __always_inline __u64 user_pc(struct pt_regs *regs)
{
	return regs->pc;
}

static __always_inline __u64 user_fp(struct pt_regs *regs)
{
	return regs->regs[USER_REG_FP];
}

/* Whether these are the registers of a 32-bit task. */
static __always_inline bool is_compat(struct pt_regs *regs)
{
	return regs->pstate & PSTATE_32BIT;
}

static __always_inline void copy_user_regs(__u64 *to, struct pt_regs *regs)
{
	for (int i = 0; i <= USER_REG_LR; i++)
		to[i] = regs->regs[i];
	to[USER_REG_SP] = regs->sp;
	to[USER_REG_PC] = regs->pc;
}

/* Whether the call that current is in has a number of the table of 32-bit programs. */
static __always_inline bool is_compat_call(struct task_struct *task, struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, pstate) & PSTATE_32BIT;
}

/* The number of the system call; -1: an exception or an interrupt. */
static __always_inline __s32 user_call_nr(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, syscallno);
}

/* The system call and its arguments; -1: an exception or an interrupt. */
static __always_inline __s32 user_call(struct task_struct *task, __u64 args[6], bool *compat)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	/* The result comes to x0, so what was there is kept apart. */
	args[0] = BPF_CORE_READ(regs, orig_x0);
	for (int i = 1; i < 6; i++)
		args[i] = BPF_CORE_READ(regs, regs[i]);
	*compat = BPF_CORE_READ(regs, pstate) & PSTATE_32BIT;
	return user_call_nr(regs);
}

#else
#define USER32_CS 0x23 /* arch/x86/include/asm/segment.h: __USER32_CS */
#define THREAD_COMPAT 2U /* TS_COMPAT */

static __always_inline __u64 user_pc(struct pt_regs *regs)
{
	return regs->ip;
}

static __always_inline __u64 user_fp(struct pt_regs *regs)
{
	return regs->bp;
}

/* Whether these are the registers of a 32-bit task. */
static __always_inline bool is_compat(struct pt_regs *regs)
{
	return (regs->cs & 0xffff) == USER32_CS;
}

static __always_inline void copy_user_regs(__u64 *to, struct pt_regs *regs)
{
	to[0] = regs->ax;
	to[1] = regs->dx;
	to[2] = regs->cx;
	to[3] = regs->bx;
	to[4] = regs->si;
	to[5] = regs->di;
	to[6] = regs->bp;
	to[7] = regs->sp;
	to[8] = regs->r8;
	to[9] = regs->r9;
	to[10] = regs->r10;
	to[11] = regs->r11;
	to[12] = regs->r12;
	to[13] = regs->r13;
	to[14] = regs->r14;
	to[15] = regs->r15;
	to[16] = regs->ip;
}

/* Whether the call that current is in has a number of the table of 32-bit programs. */
static __always_inline bool is_compat_call(struct task_struct *task, struct pt_regs *regs)
{
	return bpf_core_field_exists(task->thread_info.status) &&
	       task->thread_info.status & THREAD_COMPAT;
}

/* The number of the system call; -1: an exception or an interrupt. */
static __always_inline __s32 user_call_nr(struct pt_regs *regs)
{
	return (__s32)BPF_CORE_READ(regs, orig_ax);
}

/* The system call and its arguments; -1: an exception or an interrupt. */
static __always_inline __s32 user_call(struct task_struct *task, __u64 args[6], bool *compat)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	args[0] = BPF_CORE_READ(regs, di);
	args[1] = BPF_CORE_READ(regs, si);
	args[2] = BPF_CORE_READ(regs, dx);
	args[3] = BPF_CORE_READ(regs, r10);
	args[4] = BPF_CORE_READ(regs, r8);
	args[5] = BPF_CORE_READ(regs, r9);
	*compat = bpf_core_field_exists(task->thread_info.status) &&
		  BPF_CORE_READ(task, thread_info.status) & THREAD_COMPAT;
	return user_call_nr(regs);
}
#endif

#endif /* DENET_REGS_BPF_H */
