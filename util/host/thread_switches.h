/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_HOST_THREAD_SWITCHES_H
#define DENET_HOST_THREAD_SWITCHES_H

#include <stdint.h>
#include <sys/types.h>

/* How often a thread has left its CPU; 0: it is gone. Takes no lock of a memory map. */
uint64_t thread_switches__read(pid_t pid, pid_t tid);

#endif /* DENET_HOST_THREAD_SWITCHES_H */
