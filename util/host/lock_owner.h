/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_HOST_LOCK_OWNER_H
#define DENET_HOST_LOCK_OWNER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mutex_owner.h"

/*
 * The thread that holds the mutex of a wait for a futex, by the memory of the process at its
 * address: an id of the PID namespace of the process, 0 if it is not known. See mutex_owner.h for
 * what is known, and what is to be checked. May hang where the process holds its mmap_lock.
 */
uint32_t lock_owner__read(pid_t pid, uint64_t address, struct mutex_wait wait, bool *is_shared);

#endif /* DENET_HOST_LOCK_OWNER_H */
