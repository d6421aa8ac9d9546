/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/order.h"

#include <stdlib.h>

static int by_time(const void *a, const void *b)
{
	const struct stat_task *left = a, *right = b;

	if (left->offcpu.total_ns != right->offcpu.total_ns)
		return left->offcpu.total_ns < right->offcpu.total_ns ? 1 : -1;
	if (left->pid != right->pid)
		return left->pid > right->pid ? 1 : -1;
	return left->tid > right->tid ? 1 : left->tid < right->tid ? -1 : 0;
}

static int by_call_time(const void *a, const void *b)
{
	const struct stat_call *left = a, *right = b;

	if (left->times.total_ns != right->times.total_ns)
		return left->times.total_ns < right->times.total_ns ? 1 : -1;
	if (left->times.count != right->times.count)
		return left->times.count < right->times.count ? 1 : -1;
	return left->nr > right->nr ? 1 : left->nr < right->nr ? -1 : 0;
}

static int by_lock(const void *a, const void *b)
{
	const struct stat_lock *left = a, *right = b;

	return left->waits.total_ns < right->waits.total_ns   ? 1
	       : left->waits.total_ns > right->waits.total_ns ? -1
							      : 0;
}

static int by_io(const void *a, const void *b)
{
	const struct stat_io *left = a, *right = b;

	return left->times.total_ns < right->times.total_ns   ? 1
	       : left->times.total_ns > right->times.total_ns ? -1
							      : 0;
}

static uint64_t socket_ns(const struct stat_socket *socket)
{
	return socket->receive.total_ns + socket->send.total_ns;
}

static int by_socket(const void *a, const void *b)
{
	return socket_ns(a) < socket_ns(b) ? 1 : socket_ns(a) > socket_ns(b) ? -1 : 0;
}

static int by_file(const void *a, const void *b)
{
	const struct stat_file_wait *left = a, *right = b;

	return left->ns < right->ns ? 1 : left->ns > right->ns ? -1 : 0;
}

/* Lists without entries may be NULL. */
static void sort(void *list, size_t nr, size_t size, int (*compare)(const void *a, const void *b))
{
	if (nr)
		qsort(list, nr, size, compare);
}

void order__tasks(struct stat_task *tasks, size_t nr)
{
	sort(tasks, nr, sizeof(*tasks), by_time);
}

void order__calls(struct stat_call *calls, size_t nr)
{
	sort(calls, nr, sizeof(*calls), by_call_time);
}

void order__locks(struct stat_lock *locks, size_t nr)
{
	sort(locks, nr, sizeof(*locks), by_lock);
}

void order__io(struct stat_io *io, size_t nr)
{
	sort(io, nr, sizeof(*io), by_io);
}

void order__sockets(struct stat_socket *sockets, size_t nr)
{
	sort(sockets, nr, sizeof(*sockets), by_socket);
}

void order__files(struct stat_file_wait *files, size_t nr)
{
	sort(files, nr, sizeof(*files), by_file);
}
