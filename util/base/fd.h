/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_FD_H
#define DENET_FD_H

#include <stddef.h>

/* Writes all of size bytes, in as many writes as it takes. 0 or a negative errno. */
int fd__write_all(int fd, const char *data, size_t size);

#endif /* DENET_FD_H */
