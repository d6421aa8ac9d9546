/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/object_table.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"

static void print_time(uint64_t ns, FILE *out)
{
	char text[32];

	fprintf(out, " %10s", units__format_time(ns, text, sizeof(text)));
}

static void print_more(size_t nr, unsigned int top, FILE *out)
{
	if (!nr)
		fputs("(none)\n", out);
	if (nr > top)
		fprintf(out, "(%zu more: --top)\n", nr - top);
}

/* The waits that have not ended: how many, and how long the longest one is. */
static void print_open(const struct stat_lock *lock, FILE *out)
{
	char time[32];

	if (lock->open)
		fprintf(out, " %4u %10s", lock->open,
			units__format_time(lock->open_ns, time, sizeof(time)));
	else
		fprintf(out, " %4s %10s", "-", "-");
}

static void print_lock(const struct stat_lock *lock, FILE *out)
{
	char name[sizeof(lock->name) + 32], comm[4 * STAT_COMM_LEN], id[32];

	snprintf(name, sizeof(name), "%s%s0x%" PRIx64 "%s", lock->name, lock->name[0] ? " (" : "",
		 lock->address, lock->name[0] ? ")" : "");
	log__escape(comm, sizeof(comm), lock->waiter_comm);
	fprintf(out, "%-38s %7d %8" PRIu64, name, (int)lock->pid, lock->waits.count);
	print_time(lock->waits.total_ns, out);
	print_time(stat_times__quantile(&lock->waits, 0.99), out);
	print_time(lock->waits.max_ns, out);
	print_open(lock, out);
	fprintf(out, " %7u %6u %8" PRIu64, lock->waiters, lock->wakers, lock->wakes);
	snprintf(id, sizeof(id), "%d", (int)lock->owner);
	fprintf(out, " %7s", lock->owner ? id : "-");
	fprintf(out, "  %s %d\n", comm, (int)lock->waiter);
}

static void print_locks(const struct stat_data *data, unsigned int top, FILE *out)
{
	fprintf(out, "\n%-38s %7s %8s %10s %10s %10s %4s %10s %7s %6s %8s %7s  %s\n", "FUTEX",
		"PID", "WAITS", "TIME", "P99", "LONGEST", "OPEN", "FOR", "WAITERS", "WAKERS",
		"WAKES", "OWNER", "LONGEST BY");
	for (size_t i = 0; i < data->nr_locks && i < top; i++)
		print_lock(&data->locks[i], out);
	print_more(data->nr_locks, top, out);
}

static const char *const operations[STAT_IO_MAX] = {
	[STAT_IO_READ] = "read", [STAT_IO_WRITE] = "write", [STAT_IO_FLUSH] = "flush",
	[STAT_IO_DISCARD] = "discard", [STAT_IO_OTHER] = "other",
};

static void print_request(const struct stat_io *io, double seconds, FILE *out)
{
	const struct stat_times *times = &io->times;
	char device[64], size[32];

	snprintf(device, sizeof(device), "%u:%u", io->dev >> 20, io->dev & 0xfffff);
	fprintf(out, "%-16s %-8s %9" PRIu64 " %9.1f %10s", io->device[0] ? io->device : device,
		operations[io->op], times->count,
		seconds > 0 ? (double)times->count / seconds : 0,
		units__format_size(io->bytes, size, sizeof(size)));
	print_time(times->count ? times->total_ns / times->count : 0, out);
	print_time(stat_times__quantile(times, 0.5), out);
	print_time(stat_times__quantile(times, 0.99), out);
	print_time(times->max_ns, out);
	print_time(io->waited_ns, out);
	fprintf(out, " %7" PRIu64 "\n", io->errors);
}

static void print_io(const struct stat_data *data, unsigned int top, FILE *out)
{
	double seconds = (double)(data->end_ns - data->start_ns) / NSEC_PER_SEC;

	fprintf(out, "\n%-16s %-8s %9s %9s %10s %10s %10s %10s %10s %10s %7s\n", "BLOCK DEVICE",
		"REQUESTS", "COUNT", "PER SEC", "BYTES", "AVERAGE", "P50", "P99", "LONGEST",
		"WAITED", "ERRORS");
	for (size_t i = 0; i < data->nr_io && i < top; i++)
		print_request(&data->io[i], seconds, out);
	print_more(data->nr_io, top, out);
}

static void format_end(const struct stat_socket *socket, const uint8_t *address, uint16_t port,
		       char *buf, size_t size)
{
	char text[INET6_ADDRSTRLEN];

	if (socket->family == AF_INET && inet_ntop(AF_INET, address, text, sizeof(text)))
		snprintf(buf, size, "%s:%u", text, port);
	else if (socket->family == AF_INET6 && inet_ntop(AF_INET6, address, text, sizeof(text)))
		snprintf(buf, size, "[%s]:%u", text, port);
	else
		buf[0] = '\0';
}

/* Without addresses, as of Unix sockets, the inode tells which one, as in /proc/PID/fd. */
static char *format_socket(const struct stat_socket *socket, char *buf, size_t size)
{
	char local[64], remote[64];

	format_end(socket, socket->local, socket->local_port, local, sizeof(local));
	format_end(socket, socket->remote, socket->remote_port, remote, sizeof(remote));
	if (local[0])
		snprintf(buf, size, "%s %s %s", local,
			 socket->remote_port ? "to" : "listening",
			 socket->remote_port ? remote : "");
	else
		snprintf(buf, size, "%ssocket:[%" PRIu64 "]",
			 socket->family == AF_UNIX ? "unix " : "", socket->ino);
	return buf;
}

static void print_socket(const struct stat_socket *socket, FILE *out)
{
	char name[160], comm[4 * STAT_COMM_LEN];

	log__escape(comm, sizeof(comm), socket->comm);
	fprintf(out, "%-46s %8" PRIu64, format_socket(socket, name, sizeof(name)),
		socket->receive.count);
	print_time(socket->receive.total_ns, out);
	print_time(socket->receive.max_ns, out);
	fprintf(out, " %8" PRIu64, socket->send.count);
	print_time(socket->send.total_ns, out);
	print_time(socket->send.max_ns, out);
	fprintf(out, "  %s %d\n", comm, (int)socket->pid);
}

static void print_sockets(const struct stat_data *data, unsigned int top, FILE *out)
{
	fprintf(out, "\n%-46s %8s %10s %10s %8s %10s %10s  %s\n", "SOCKET", "RECEIVES", "TIME",
		"LONGEST", "SENDS", "TIME", "LONGEST", "PROCESS");
	for (size_t i = 0; i < data->nr_sockets && i < top; i++)
		print_socket(&data->sockets[i], out);
	print_more(data->nr_sockets, top, out);
}

void object_table__print(const struct stat_data *data, unsigned int top, FILE *out)
{
	if (data->parts & STAT_PART_LOCKS)
		print_locks(data, top, out);
	if (data->parts & STAT_PART_IO)
		print_io(data, top, out);
	if (data->parts & STAT_PART_SOCKETS)
		print_sockets(data, top, out);
}
