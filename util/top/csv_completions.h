/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_CSV_COMPLETIONS_H
#define DENET_TOP_CSV_COMPLETIONS_H

#include <stdint.h>

#include "base/buffer.h"
#include "top/completion.h"

/*
 * Appends the line that xcapture's file syscend has for a call, or iorqend for a request. lead:
 * what CLOCK_REALTIME is ahead of CLOCK_MONOTONIC. 0 or -ENOMEM.
 */
int csv_completions__add(struct buffer *lines, const struct completion *completion, uint64_t lead);

#endif /* DENET_TOP_CSV_COMPLETIONS_H */
