/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_URING_TEXT_H
#define DENET_TOP_URING_TEXT_H

#include <stddef.h>

#include "top/thread_sample.h"

/* The io_uring of a sample in words. Both are empty where its call is about none. */

/* The file of the request that was submitted last: a path, or "[registered 3]". */
void uring_text__put_file(const struct thread_sample *sample, char *buf, size_t size);

/* An object of JSON: the request's kind, and what has not been submitted or taken notice of. */
void uring_text__put_extra(const struct thread_sample *sample, char *buf, size_t size);

#endif /* DENET_TOP_URING_TEXT_H */
