/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_ORDER_H
#define DENET_STAT_ORDER_H

#include "stat/stat_data.h"

/* The order in which lists are printed: the greatest times first. */

/* By the time off the CPU; their calls stay as they are. */
void order__tasks(struct stat_task *tasks, size_t nr);

/* By the time in them, or where that is not known by how many there were. */
void order__calls(struct stat_call *calls, size_t nr);

/* By the time of waits for them, and of requests. */
void order__locks(struct stat_lock *locks, size_t nr);
void order__io(struct stat_io *io, size_t nr);

/* By the time of waits in both directions. */
void order__sockets(struct stat_socket *sockets, size_t nr);

/* By the time of waits. */
void order__files(struct stat_file_wait *files, size_t nr);

#endif /* DENET_STAT_ORDER_H */
