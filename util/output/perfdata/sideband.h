/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_PERFDATA_SIDEBAND_H
#define DENET_OUTPUT_PERFDATA_SIDEBAND_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/*
 * Appends a record of the kernel's side band, as task_event__decode() accepts it, with its id
 * replaced. 0, -EINVAL or -ENOMEM.
 */
int sideband__encode(struct buffer *out, uint64_t id, const void *record, size_t size);

#endif /* DENET_OUTPUT_PERFDATA_SIDEBAND_H */
