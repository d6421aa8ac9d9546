/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/object_table.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "stat/stat_rows.h"

static int end_table(struct stat_rows *rows, const struct stat_form *form, size_t nr, FILE *out)
{
	int err = stat_rows__print(rows, form, nr > form->top ? nr - form->top : 0, out);

	if (!nr)
		fputs("(none)\n", out);
	return err;
}

/* The length of a wait; an interval may have time of waits that began before it, and no others. */
static void put_length(struct stat_rows *rows, const struct stat_times *times, uint64_t ns)
{
	if (times->count)
		stat_rows__put_time(rows, ns);
	else
		stat_rows__fill(rows, 1, "-");
}

/* The waits that have not ended: how many, and how long the longest one is. */
static void put_open(struct stat_rows *rows, const struct stat_lock *lock)
{
	if (!lock->open) {
		stat_rows__fill(rows, 2, "-");
		return;
	}
	stat_rows__put(rows, "%u", lock->open);
	stat_rows__put_time(rows, lock->open_ns);
}

static void put_lock(struct stat_rows *rows, const struct stat_lock *lock)
{
	stat_rows__put(rows, "%s%s0x%" PRIx64 "%s", lock->name, lock->name[0] ? " (" : "",
		       lock->address, lock->name[0] ? ")" : "");
	stat_rows__put(rows, "%d", (int)lock->pid);
	stat_rows__put(rows, "%" PRIu64, lock->waits.count);
	stat_rows__put_time(rows, lock->waits.total_ns);
	put_length(rows, &lock->waits, stat_times__quantile(&lock->waits, 0.99));
	put_length(rows, &lock->waits, lock->waits.max_ns);
	put_open(rows, lock);
	stat_rows__put(rows, "%u", lock->waiters);
	stat_rows__put(rows, "%u", lock->wakers);
	stat_rows__put(rows, "%" PRIu64, lock->wakes);
	if (lock->owner)
		stat_rows__put(rows, "%d", (int)lock->owner);
	else
		stat_rows__fill(rows, 1, "-");
	stat_rows__put(rows, "%s %d", lock->waiter_comm, (int)lock->waiter);
	stat_rows__end_row(rows);
}

static int print_locks(const struct stat_data *data, const struct stat_form *form, FILE *out)
{
	static const struct text_column columns[] = {
		{ "FUTEX", COLUMN_TEXT, 0 },      { "PID", COLUMN_NUMBER, 2 },
		{ "WAITS", COLUMN_NUMBER, 0 },    { "TIME", COLUMN_NUMBER, 0 },
		{ "P99", COLUMN_NUMBER, 5 },      { "LONGEST", COLUMN_NUMBER, 0 },
		{ "OPEN", COLUMN_NUMBER, 3 },     { "FOR", COLUMN_NUMBER, 4 },
		{ "WAITERS", COLUMN_NUMBER, 6 },  { "WAKERS", COLUMN_NUMBER, 7 },
		{ "WAKES", COLUMN_NUMBER, 8 },    { "OWNER", COLUMN_NUMBER, 0 },
		{ "LONGEST BY", COLUMN_TEXT, 1 },
	};
	struct stat_rows rows;

	STAT_ROWS_BEGIN(&rows, columns);
	for (size_t i = 0; i < data->nr_locks && i < form->top; i++)
		put_lock(&rows, &data->locks[i]);
	return end_table(&rows, form, data->nr_locks, out);
}

static const char *const operations[STAT_IO_MAX] = {
	[STAT_IO_READ] = "read",       [STAT_IO_WRITE] = "write", [STAT_IO_FLUSH] = "flush",
	[STAT_IO_DISCARD] = "discard", [STAT_IO_OTHER] = "other",
};

static void put_device(struct stat_rows *rows, const struct stat_io *io)
{
	if (io->device[0])
		stat_rows__put(rows, "%s", io->device);
	else
		stat_rows__put(rows, "%u:%u", io->dev >> 20, io->dev & 0xfffff);
	stat_rows__put(rows, "%s", operations[io->op]);
}

static void put_request(struct stat_rows *rows, const struct stat_io *io, double seconds)
{
	const struct stat_times *times = &io->times;
	char size[32];

	put_device(rows, io);
	stat_rows__put(rows, "%" PRIu64, times->count);
	stat_rows__put(rows, "%.1f", seconds > 0 ? (double)times->count / seconds : 0);
	stat_rows__put(rows, "%s", units__format_size(io->bytes, size, sizeof(size)));
	stat_rows__put_time(rows, times->count ? times->total_ns / times->count : 0);
	stat_rows__put_time(rows, stat_times__quantile(times, 0.5));
	stat_rows__put_time(rows, stat_times__quantile(times, 0.99));
	stat_rows__put_time(rows, times->max_ns);
	stat_rows__put_time(rows, io->waited_ns);
	stat_rows__put(rows, "%" PRIu64, io->errors);
	if (io->waits)
		stat_rows__put(rows, "%s %d", io->waiter_comm, (int)io->waiter);
	stat_rows__end_row(rows);
}

static int print_io(const struct stat_data *data, const struct stat_form *form, FILE *out)
{
	static const struct text_column columns[] = {
		{ "BLOCK DEVICE", COLUMN_TEXT, 0 }, { "REQUESTS", COLUMN_TEXT, 0 },
		{ "COUNT", COLUMN_NUMBER, 0 },      { "PER SEC", COLUMN_NUMBER, 2 },
		{ "BYTES", COLUMN_NUMBER, 0 },      { "AVERAGE", COLUMN_NUMBER, 0 },
		{ "P50", COLUMN_NUMBER, 4 },        { "P99", COLUMN_NUMBER, 3 },
		{ "LONGEST", COLUMN_NUMBER, 0 },    { "WAITED", COLUMN_NUMBER, 0 },
		{ "ERRORS", COLUMN_NUMBER, 1 },     { "LONGEST BY", COLUMN_TEXT, 5 },
	};
	double seconds = (double)(data->end_ns - data->start_ns) / NSEC_PER_SEC;
	struct stat_rows rows;

	STAT_ROWS_BEGIN(&rows, columns);
	for (size_t i = 0; i < data->nr_io && i < form->top; i++)
		put_request(&rows, &data->io[i], seconds);
	return end_table(&rows, form, data->nr_io, out);
}

/* The requests from the bound before on that took less than this one; 0: all others. */
static uint64_t count_below(const struct stat_times *times, uint64_t bound, unsigned int *bucket)
{
	uint64_t nr = 0;

	for (; *bucket < STAT_HIST_BUCKETS; ++*bucket) {
		if (bound && stat_times__bucket_begin(*bucket) >= bound)
			break;
		nr += times->hist[*bucket];
	}
	return nr;
}

/* How many requests took how long. The bounds are powers of two: 2^15 ns, and so on. */
static int print_latencies(const struct stat_data *data, const struct stat_form *form, FILE *out)
{
	static const struct text_column columns[] = {
		{ "BLOCK LATENCY", COLUMN_TEXT, 0 }, { "REQUESTS", COLUMN_TEXT, 0 },
		{ "<33us", COLUMN_NUMBER, 0 },       { "<131us", COLUMN_NUMBER, 0 },
		{ "<524us", COLUMN_NUMBER, 0 },      { "<2ms", COLUMN_NUMBER, 0 },
		{ "<8ms", COLUMN_NUMBER, 0 },        { "<34ms", COLUMN_NUMBER, 0 },
		{ "<134ms", COLUMN_NUMBER, 0 },      { "MORE", COLUMN_NUMBER, 0 },
	};
	struct stat_rows rows;
	size_t i;

	STAT_ROWS_BEGIN(&rows, columns);
	for (i = 0; i < data->nr_io && i < form->top; i++) {
		const struct stat_io *io = &data->io[i];
		unsigned int bucket = 0;

		put_device(&rows, io);
		for (unsigned int bits = 15; bits <= 27; bits += 2)
			stat_rows__put(&rows, "%" PRIu64,
				       count_below(&io->times, 1ULL << bits, &bucket));
		stat_rows__put(&rows, "%" PRIu64, count_below(&io->times, 0, &bucket));
		stat_rows__end_row(&rows);
	}
	return stat_rows__print(&rows, form, data->nr_io - i, out);
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
		snprintf(buf, size, "%s %s %s", local, socket->remote_port ? "to" : "listening",
			 socket->remote_port ? remote : "");
	else
		snprintf(buf, size, "%ssocket:[%" PRIu64 "]",
			 socket->family == AF_UNIX ? "unix " : "", socket->ino);
	return buf;
}

static void put_socket(struct stat_rows *rows, const struct stat_socket *socket)
{
	char name[160];

	stat_rows__put(rows, "%s", format_socket(socket, name, sizeof(name)));
	stat_rows__put(rows, "%" PRIu64, socket->receive.count);
	stat_rows__put_time(rows, socket->receive.total_ns);
	put_length(rows, &socket->receive, socket->receive.max_ns);
	stat_rows__put(rows, "%" PRIu64, socket->send.count);
	stat_rows__put_time(rows, socket->send.total_ns);
	put_length(rows, &socket->send, socket->send.max_ns);
	stat_rows__put(rows, "%s %d", socket->comm, (int)socket->pid);
	stat_rows__end_row(rows);
}

static int print_sockets(const struct stat_data *data, const struct stat_form *form, FILE *out)
{
	static const struct text_column columns[] = {
		{ "SOCKET", COLUMN_PLACE, 0 },   { "RECEIVES", COLUMN_NUMBER, 0 },
		{ "TIME", COLUMN_NUMBER, 0 },    { "LONGEST", COLUMN_NUMBER, 2 },
		{ "SENDS", COLUMN_NUMBER, 0 },   { "TIME", COLUMN_NUMBER, 0 },
		{ "LONGEST", COLUMN_NUMBER, 1 }, { "PROCESS", COLUMN_TEXT, 0 },
	};
	struct stat_rows rows;

	STAT_ROWS_BEGIN(&rows, columns);
	for (size_t i = 0; i < data->nr_sockets && i < form->top; i++)
		put_socket(&rows, &data->sockets[i]);
	return end_table(&rows, form, data->nr_sockets, out);
}

int object_table__print(const struct stat_data *data, const struct stat_form *form, FILE *out)
{
	int err = 0;

	if (data->parts & STAT_PART_LOCKS)
		err = print_locks(data, form, out);
	if (!err && data->parts & STAT_PART_IO)
		err = print_io(data, form, out);
	if (!err && data->nr_io)
		err = print_latencies(data, form, out);
	if (!err && data->parts & STAT_PART_SOCKETS)
		err = print_sockets(data, form, out);
	return err;
}
