/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_SOCKET_TEXT_H
#define DENET_TOP_SOCKET_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "top/thread_sample.h"

/* The socket of a sample in words. All are empty where its call is about none. */

/* "TCP 10.0.0.1:443->10.0.0.2:51312", "UNIX-STREAM inode=12->inode=13 peerpid=4711". */
void socket_text__put_connection(const struct thread_sample *sample, char *buf, size_t size);

/* The state of TCP, as ss(8) and netstat(8) have it. */
const char *socket_text__state(const struct thread_sample *sample);

/* Members of an object of JSON, each behind a comma: figures of TCP, or the other end. */
void socket_text__print_extra(const struct thread_sample *sample, FILE *out);

#endif /* DENET_TOP_SOCKET_TEXT_H */
