/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CFI_NAMED_FILE_H
#define DENET_CFI_NAMED_FILE_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Opens the file that a process has mapped from start to end, by the name that /proc/PID/maps shows
 * and below the process's root: for who may not open the mapping itself, which takes
 * CAP_CHECKPOINT_RESTORE. The file that is opened is the one that is mapped, by its device and
 * inode. A descriptor, or a negative errno: -ESTALE if the name leads to another file by now,
 * -ESRCH if the process or its mapping is gone.
 */
int named_file__open(pid_t pid, uint64_t start, uint64_t end);

#endif /* DENET_CFI_NAMED_FILE_H */
