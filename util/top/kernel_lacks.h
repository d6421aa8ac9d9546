/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_KERNEL_LACKS_H
#define DENET_TOP_KERNEL_LACKS_H

#include <stddef.h>

#include "bpf/vmlinux_btf.h"

#define KERNEL_LACKS_MOST 4

/*
 * Which data for columns a kernel does not have, by its types: the ends of sentences, such as
 * "peers of Unix sockets: ...". Returns how many there are, KERNEL_LACKS_MOST at most.
 */
size_t kernel_lacks__list(const struct vmlinux_btf *btf, const char *texts[KERNEL_LACKS_MOST]);

/* Warns of those of the running kernel. */
void kernel_lacks__warn(void);

#endif /* DENET_TOP_KERNEL_LACKS_H */
