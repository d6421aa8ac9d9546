/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_HOST_CPU_WATCH_H
#define DENET_HOST_CPU_WATCH_H

#include <stdbool.h>
#include <stddef.h>

/* CPUs that come online or go offline, from the kernel's uevents. */

/*
 * A descriptor that is readable when a device comes or goes; a negative errno where there
 * is none, as in a container with a network namespace of its own.
 */
int cpu_watch__open(void);

/* Receives each CPU that has come (online) or gone. */
typedef void (*cpu_watch_fn)(void *ctx, unsigned int cpu, bool online);

/* Reads all announcements. True if some may have been missed. */
bool cpu_watch__read(int fd, cpu_watch_fn fn, void *ctx);

/* True if a message of size bytes announces a CPU. The pure part of the above. */
bool cpu_watch__parse(const char *message, size_t size, unsigned int *cpu, bool *online);

#endif /* DENET_HOST_CPU_WATCH_H */
