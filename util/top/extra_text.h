/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_EXTRA_TEXT_H
#define DENET_TOP_EXTRA_TEXT_H

#include <stddef.h>

#include "top/thread_sample.h"

/*
 * Writes the column extra_info: an object of JSON with the keys of xcapture's EXTRA_INFO as far as
 * their values are known, and keys of our own. "": there is nothing to write.
 */
void extra_text__put(const struct thread_sample *sample, char *buf, size_t size);

#endif /* DENET_TOP_EXTRA_TEXT_H */
