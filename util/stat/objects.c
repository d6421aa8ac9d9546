/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/objects.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/minmax.h"
#include "stat/decode_times.h"
#include "stat/holders.h"
#include "stat/order.h"

_Static_assert((int)STAT_IO_READ == STAT_WIRE_IO_READ && (int)STAT_IO_WRITE == STAT_WIRE_IO_WRITE &&
		       (int)STAT_IO_FLUSH == STAT_WIRE_IO_FLUSH &&
		       (int)STAT_IO_DISCARD == STAT_WIRE_IO_DISCARD &&
		       (int)STAT_IO_OTHER == STAT_WIRE_IO_OTHER,
	       "operations have one order");

int objects__note_wait(struct objects *objects, const struct stat_wire_thread *thread)
{
	return thread->wait ? buffer__append(&objects->waits, thread, sizeof(*thread)) : 0;
}

static void put_place(const struct stat_wire_place *place, uint64_t address, char *name,
		      size_t size)
{
	static const char *const kinds[] = {
		[STAT_WIRE_PLACE_HEAP] = "[heap]",
		[STAT_WIRE_PLACE_STACK] = "[stack]",
		[STAT_WIRE_PLACE_ANON] = "[anon]",
	};
	uint64_t offset = address - place->base;

	name[0] = '\0';
	if (place->kind == STAT_WIRE_PLACE_FILE)
		snprintf(name, size, "%.*s+0x%" PRIx64, (int)sizeof(place->file), place->file,
			 offset);
	else if (place->base && place->kind < sizeof(kinds) / sizeof(kinds[0]) &&
		 kinds[place->kind])
		snprintf(name, size, "%s+0x%" PRIx64, kinds[place->kind], offset);
}

static int take_lock(void *ctx, const struct stat_wire_object *key,
		     const struct stat_wire_lock *wire)
{
	struct stat_lock lock = {
		.pid = (pid_t)key->pid,
		.address = key->id,
		.wakes = wire->wakes,
		.last_waker = (pid_t)wire->last_waker,
		.owner = (pid_t)wire->owner,
		.owner_met = wire->owner_met,
		.waiter = (pid_t)wire->waiter,
	};

	decode_times(&lock.waits, &wire->waits);
	for (size_t i = 0; i < sizeof(wire->waiters) / sizeof(wire->waiters[0]); i++) {
		lock.waiters += (uint32_t)__builtin_popcountll(wire->waiters[i]);
		lock.wakers += (uint32_t)__builtin_popcountll(wire->wakers[i]);
	}
	memcpy(lock.waiter_comm, wire->comm, sizeof(lock.waiter_comm));
	lock.waiter_comm[sizeof(lock.waiter_comm) - 1] = '\0';
	put_place(&wire->place, key->id, lock.name, sizeof(lock.name));
	return buffer__append(ctx, &lock, sizeof(lock));
}

static int take_socket(void *ctx, const struct stat_wire_object *key,
		       const struct stat_wire_socket *wire)
{
	struct stat_socket socket = {
		.pid = (pid_t)key->pid,
		.tid = (pid_t)wire->tid,
		.ino = key->id,
		.family = wire->family,
		.protocol = wire->protocol,
		.local_port = wire->local_port,
		.remote_port = ntohs(wire->remote_port),
	};

	decode_times(&socket.receive, &wire->receive);
	decode_times(&socket.send, &wire->send);
	memcpy(socket.local, wire->local, sizeof(socket.local));
	memcpy(socket.remote, wire->remote, sizeof(socket.remote));
	memcpy(socket.comm, wire->comm, sizeof(socket.comm));
	socket.comm[sizeof(socket.comm) - 1] = '\0';
	return buffer__append(ctx, &socket, sizeof(socket));
}

/* The kernel's name of a block device; empty if it has none. */
static void name_device(char *name, size_t size, uint32_t dev)
{
	char path[64], target[256];
	const char *base;
	ssize_t len;

	name[0] = '\0';
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", dev >> 20, dev & 0xfffff);
	len = readlink(path, target, sizeof(target) - 1);
	if (len <= 0)
		return;
	target[len] = '\0';
	base = strrchr(target, '/');
	snprintf(name, size, "%.*s", (int)size - 1, base ? base + 1 : target);
}

static int take_io(void *ctx, const struct stat_wire_io_key *key, const struct stat_wire_io *wire)
{
	struct stat_io io = {
		.dev = key->dev,
		.op = key->op < STAT_IO_MAX ? (enum stat_io_op)key->op : STAT_IO_OTHER,
		.bytes = wire->bytes,
		.errors = wire->errors,
		.waited_ns = wire->waited_ns,
		.waits = wire->waits,
		.longest_ns = wire->longest_ns,
		.waiter = (pid_t)wire->waiter,
	};

	memcpy(io.waiter_comm, wire->comm, sizeof(io.waiter_comm));
	io.waiter_comm[sizeof(io.waiter_comm) - 1] = '\0';
	decode_times(&io.times, &wire->times);
	name_device(io.device, sizeof(io.device), key->dev);
	return buffer__append(ctx, &io, sizeof(io));
}

/* A wait that has not ended counts as far as it went; the lock may be new. */
static int add_lock_wait(struct buffer *buffer, const struct stat_wire_thread *thread)
{
	struct stat_lock *locks = (void *)buffer->data, fresh = { 0 };
	size_t nr = buffer->len / sizeof(*locks), i;

	for (i = 0; i < nr; i++) {
		if (locks[i].pid == (pid_t)thread->pid && locks[i].address == thread->wait_id)
			break;
	}
	if (i == nr) {
		fresh.pid = (pid_t)thread->pid;
		fresh.address = thread->wait_id;
		if (buffer__append(buffer, &fresh, sizeof(fresh)))
			return -ENOMEM;
		locks = (void *)buffer->data;
	}
	if (thread->wait_ns >= locks[i].waits.max_ns) {
		locks[i].waiter = (pid_t)thread->tid;
		memcpy(locks[i].waiter_comm, thread->comm, sizeof(locks[i].waiter_comm));
	}
	stat_times__add(&locks[i].waits, thread->wait_ns);
	locks[i].open++;
	locks[i].open_ns = max_u64(locks[i].open_ns, thread->wait_ns);
	/* The kernel's bits of the threads that have waited know no wait that has not ended. */
	locks[i].waiters = (uint32_t)max_u64(locks[i].waiters, locks[i].open);
	if (thread->owner) {
		locks[i].owner = (pid_t)thread->owner;
		locks[i].owner_met++;
	}
	return 0;
}

static int add_open_wait(struct buffer *buffer, const struct stat_wire_thread *thread)
{
	struct stat_open_wait wait = {
		.pid = (pid_t)thread->pid,
		.tid = (pid_t)thread->tid,
		.owner = (pid_t)thread->owner,
		.address = thread->wait_id,
		.ns = thread->wait_ns,
	};

	memcpy(wait.comm, thread->comm, sizeof(wait.comm));
	wait.comm[sizeof(wait.comm) - 1] = '\0';
	return buffer__append(buffer, &wait, sizeof(wait));
}

static int add_socket_wait(struct buffer *buffer, const struct stat_wire_thread *thread)
{
	struct stat_socket *sockets = (void *)buffer->data, fresh = { 0 };
	size_t nr = buffer->len / sizeof(*sockets), i;

	for (i = 0; i < nr; i++) {
		if (sockets[i].pid == (pid_t)thread->pid && sockets[i].ino == thread->wait_id)
			break;
	}
	if (i == nr) {
		fresh.pid = (pid_t)thread->pid;
		fresh.tid = (pid_t)thread->tid;
		fresh.ino = thread->wait_id;
		memcpy(fresh.comm, thread->comm, sizeof(fresh.comm));
		if (buffer__append(buffer, &fresh, sizeof(fresh)))
			return -ENOMEM;
		sockets = (void *)buffer->data;
	}
	stat_times__add(thread->wait == STAT_WIRE_WAIT_SEND ? &sockets[i].send :
							      &sockets[i].receive,
			thread->wait_ns);
	return 0;
}

static int by_open_wait(const void *a, const void *b)
{
	const struct stat_open_wait *left = a, *right = b;

	return left->ns < right->ns ? 1 : left->ns > right->ns ? -1 : 0;
}

/* A futex has its name from a wait that the filters may leave out. */
static void drop_without_waits(struct buffer *buffer)
{
	struct stat_lock *locks = (void *)buffer->data;
	size_t nr = buffer->len / sizeof(*locks), kept = 0;

	for (size_t i = 0; i < nr; i++) {
		if (locks[i].waits.count)
			locks[kept++] = locks[i];
	}
	buffer->len = kept * sizeof(*locks);
}

/* Hands a list over. */
static void *take(struct buffer *buffer, size_t size, size_t *nr)
{
	void *data = buffer->data;

	*nr = buffer->len / size;
	*buffer = (struct buffer){ 0 };
	return data;
}

static int add_waits(const struct objects *objects, struct buffer *locks, struct buffer *open,
		     struct buffer *sockets)
{
	const struct stat_wire_thread *waits = (const void *)objects->waits.data;
	size_t nr = objects->waits.len / sizeof(*waits);
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (waits[i].wait != STAT_WIRE_WAIT_FUTEX) {
			err = add_socket_wait(sockets, &waits[i]);
			continue;
		}
		err = add_lock_wait(locks, &waits[i]);
		if (!err)
			err = add_open_wait(open, &waits[i]);
	}
	return err;
}

int objects__read(struct objects *objects, const struct stat_programs *programs,
		  struct stat_data *data)
{
	struct buffer locks = { 0 }, open = { 0 }, sockets = { 0 }, io = { 0 };
	int err = stat_programs__read_locks(programs, take_lock, &locks);

	if (!err)
		err = stat_programs__read_sockets(programs, take_socket, &sockets);
	if (!err)
		err = stat_programs__read_io(programs, take_io, &io);
	if (!err)
		err = holders__check(&objects->waits);
	if (!err)
		err = add_waits(objects, &locks, &open, &sockets);
	drop_without_waits(&locks);
	data->locks = take(&locks, sizeof(*data->locks), &data->nr_locks);
	data->open_waits = take(&open, sizeof(*data->open_waits), &data->nr_open_waits);
	data->sockets = take(&sockets, sizeof(*data->sockets), &data->nr_sockets);
	data->io = take(&io, sizeof(*data->io), &data->nr_io);
	order__locks(data->locks, data->nr_locks);
	order__sockets(data->sockets, data->nr_sockets);
	order__io(data->io, data->nr_io);
	if (data->nr_open_waits)
		qsort(data->open_waits, data->nr_open_waits, sizeof(*data->open_waits),
		      by_open_wait);
	return err;
}

void objects__free(struct objects *objects)
{
	buffer__free(&objects->waits);
}
