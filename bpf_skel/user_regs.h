/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user registers that are copied, by DWARF's numbers on the architecture: what kernel and user
 * side agree on. clang -target bpf knows the architecture only by __TARGET_ARCH_.
 */
#ifndef DENET_USER_REGS_H
#define DENET_USER_REGS_H

#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
/* x0 to x30, sp, pc */
#define USER_REG_FP 29
#define USER_REG_LR 30
#define USER_REG_SP 31
#define USER_REG_PC 32
#define USER_REG_RETURN USER_REG_LR /* where call frame information keeps the return address */
#define USER_NR_REGS 33
#else
/* rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, rip */
#define USER_REG_FP 6
#define USER_REG_SP 7
#define USER_REG_PC 16
#define USER_REG_RETURN USER_REG_PC
#define USER_NR_REGS 17
#endif

#endif /* DENET_USER_REGS_H */
