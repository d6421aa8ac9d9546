/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_SYSCALL_NAMES_H
#define DENET_STAT_SYSCALL_NAMES_H

#include <stdint.h>

#include "stat/stat_data.h"

/* Room for the longest name with its NUL. */
#define SYSCALL_NAME_LEN 40

/*
 * Puts the name of a system call into name and returns name. nr is the number in the table of abi,
 * for STAT_ABI_X32 with or without its bit 30. The name comes from libseccomp; from the headers of
 * the build where libseccomp is older than the call; else it is "syscall_N".
 */
const char *syscall_names__put(enum stat_abi abi, uint32_t nr, char name[SYSCALL_NAME_LEN]);

#endif /* DENET_STAT_SYSCALL_NAMES_H */
