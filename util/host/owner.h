/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_HOST_OWNER_H
#define DENET_HOST_OWNER_H

#include <stdint.h>
#include <sys/types.h>

/* The real user of a process, as /proc/PID/status tells; UINT32_MAX: not known. Never blocks. */
uint32_t owner__of_process(pid_t pid);

#endif /* DENET_HOST_OWNER_H */
