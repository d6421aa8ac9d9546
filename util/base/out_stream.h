/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUT_STREAM_H
#define DENET_OUT_STREAM_H

#include <stdio.h>

/*
 * Writes what the stream still holds. 0, or a negative errno if this or an earlier write failed:
 * errno as it stands, and -EIO where that is 0.
 */
int out_stream__flush(FILE *out);

#endif /* DENET_OUT_STREAM_H */
