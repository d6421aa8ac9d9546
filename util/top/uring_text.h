/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_URING_TEXT_H
#define DENET_TOP_URING_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "top/thread_sample.h"

/* The io_uring of a sample in words. Both are empty where its call is about none. */

/* The file of the request that was submitted last: a path, or "[registered 3]". */
void uring_text__put_file(const struct thread_sample *sample, char *buf, size_t size);

/*
 * Members of an object of JSON, each behind a comma: how many requests are not submitted or not
 * taken notice of, and the one that was submitted last.
 */
void uring_text__print_extra(const struct thread_sample *sample, FILE *out);

#endif /* DENET_TOP_URING_TEXT_H */
