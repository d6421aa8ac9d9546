/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TESTS_BUILT_H
#define DENET_TESTS_BUILT_H

#include <stddef.h>

/*
 * The path of a file that the build put into a folder beside that of the running test program,
 * such as "workloads". 0, -ENAMETOOLONG, or the errno of access(R_OK).
 */
int built__path(const char *folder, const char *name, char *path, size_t size);

#endif /* DENET_TESTS_BUILT_H */
