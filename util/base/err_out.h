/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_ERR_OUT_H
#define DENET_ERR_OUT_H

#include <stddef.h>

/*
 * Standard error, written without ever blocking: a stopped terminal (Ctrl-S, a dead ssh) or a pipe
 * without a reader must not stop the program. Text that finds no room waits in a queue of
 * ERR_OUT_QUEUE bytes; lines beyond that are dropped and counted. The flags of the descriptor,
 * which other processes share, stay as they are. For one thread.
 */
#define ERR_OUT_QUEUE (64u << 10)

/* Writes whole lines, or queues the rest; drops a line if the queue is full. */
void err_out__write(const char *text, size_t size);

/* The same for short-lived text such as a status line: dropped unless there is room. */
void err_out__transient(const char *text, size_t size);

/* Writes the queue as far as there is room. Returns the bytes that are still queued. */
size_t err_out__flush(void);

/* At the end of the program: waits until the queue is written, for timeout_ms at most. */
void err_out__finish(int timeout_ms);

/* In a signal handler: writes at once as much as there is room for. */
void err_out__in_handler(const char *text, size_t size);

/* In a forked child: empties the queue, which the parent writes. */
void err_out__after_fork(void);

#endif /* DENET_ERR_OUT_H */
