/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TESTS_SYMBOLS_H
#define DENET_TESTS_SYMBOLS_H

#include <stdint.h>
#include <sys/types.h>

/* Addresses and names of functions: of a process's own executable, or of the kernel. */
struct symbols;

/*
 * The functions of the executable that process pid runs, at their mapped addresses. NULL, with a
 * message on stderr, on failure.
 */
struct symbols *symbols__of_process(pid_t pid);

/* The kernel's and its modules', from /proc/kallsyms. NULL as above. */
struct symbols *symbols__of_kernel(void);

/*
 * The function that the call before ip is in: frames of a chain are return addresses, and
 * one behind a last call already belongs to the next function. NULL: none. Borrowed.
 */
const char *symbols__name(const struct symbols *symbols, uint64_t ip);

/* Accepts NULL. */
void symbols__free(struct symbols *symbols);

#endif /* DENET_TESTS_SYMBOLS_H */
