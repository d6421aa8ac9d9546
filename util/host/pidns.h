/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_HOST_PIDNS_H
#define DENET_HOST_PIDNS_H

#include <stdint.h>

/*
 * The inode that stands for our PID namespace, or 0 in the first one, where the kernel's own
 * ids are ours. 0 or a negative errno.
 */
int pidns__inode(uint32_t *inode);

/*
 * Whether /proc shows the processes of our namespace, so that what is typed, what is read
 * there and what is recorded are the same ids. 0 or -EXDEV (logged).
 */
int pidns__check_proc(void);

#endif /* DENET_HOST_PIDNS_H */
