/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/bottlenecks.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/units.h"
#include "stat/behaviour.h"
#include "stat/syscall_names.h"

/* A cause: a call that blocks the thread, or (call is NULL) the lack of a CPU. */
struct cause {
	const struct stat_task *thread;
	const struct stat_call *call;
	uint64_t ns;
};

static bool is_waiting(const struct stat_data *data, const struct stat_call *call)
{
	char name[SYSCALL_NAME_LEN];
	enum behaviour_time time =
		behaviour__of_call(syscall_names__put(call->abi, call->nr, name), call->file);

	/* Without locks, the waits of a condition variable cannot be told from those of a mutex. */
	if (time == BEHAVIOUR_LOCK)
		return !(data->parts & STAT_PART_LOCKS);
	return time == BEHAVIOUR_IDLING;
}

static const struct stat_lock *worst_lock(const struct stat_data *data, pid_t pid)
{
	const struct stat_lock *worst = NULL;

	for (size_t i = 0; i < data->nr_locks; i++) {
		const struct stat_lock *lock = &data->locks[i];

		if (lock->pid == pid && lock->owner_met &&
		    (!worst || lock->waits.total_ns > worst->waits.total_ns))
			worst = lock;
	}
	return worst;
}

static bool is_lock_call(const struct stat_call *call)
{
	char name[SYSCALL_NAME_LEN];

	return behaviour__of_call(syscall_names__put(call->abi, call->nr, name), call->file) ==
	       BEHAVIOUR_LOCK;
}

static uint64_t percent(uint64_t part, uint64_t whole)
{
	return whole ? (uint64_t)((double)part * 100 / (double)whole + 0.5) : 0;
}

/* The greatest cause of a thread; ns is 0 if there is none. */
static struct cause cause_of(const struct stat_data *data, const struct stat_task *thread)
{
	struct cause cause = { .thread = thread };

	for (size_t i = 0; i < thread->nr_calls; i++) {
		const struct stat_call *call = &thread->calls[i];
		bool counts = is_lock_call(call) ? worst_lock(data, thread->pid) != NULL
						 : !is_waiting(data, call);

		if (counts && call->blocked_ns > cause.ns &&
		    percent(call->blocked_ns, thread->wall_ns) >= BOTTLENECK_BLOCKED_FROM) {
			cause.call = call;
			cause.ns = call->blocked_ns;
		}
	}
	if (thread->runnable_ns > cause.ns &&
	    percent(thread->runnable_ns, thread->wall_ns) >= BOTTLENECK_RUNNABLE_FROM) {
		cause.call = NULL;
		cause.ns = thread->runnable_ns;
	}
	return cause;
}

/* " on PEER", of the connection that the thread, or else its process, waits for the longest. */
static void put_peer(const struct stat_data *data, const struct stat_task *thread, char *out,
		     size_t size)
{
	const struct stat_socket *worst = NULL;
	char address[INET6_ADDRSTRLEN];
	uint64_t longest = 0;

	for (size_t i = 0; i < data->nr_sockets; i++) {
		const struct stat_socket *socket = &data->sockets[i];
		uint64_t ns = socket->receive.total_ns + socket->send.total_ns;

		if (socket->pid == thread->pid && (!socket->tid || socket->tid == thread->tid) &&
		    ns > longest) {
			worst = socket;
			longest = ns;
		}
	}
	if (!worst || (worst->family != AF_INET && worst->family != AF_INET6) ||
	    !inet_ntop(worst->family, worst->remote, address, sizeof(address)))
		return;
	snprintf(out, size, worst->family == AF_INET6 ? " from or to [%s]:%u" : " from or to %s:%u",
		 address, worst->remote_port);
}

static void put_lock(const struct stat_data *data, const struct stat_task *thread, char *out,
		     size_t size)
{
	const struct stat_lock *lock = worst_lock(data, thread->pid);
	char owner[48] = "";

	if (!lock)
		return;
	if (lock->owner)
		snprintf(owner, sizeof(owner), ", held by thread %d", lock->owner);
	if (*lock->name)
		snprintf(out, size, " for %s%s", lock->name, owner);
	else
		snprintf(out, size, " for 0x%" PRIx64 "%s", lock->address, owner);
}

static void put_sentence(const struct stat_data *data, const struct cause *cause, char *text)
{
	const struct stat_task *thread = cause->thread;
	char name[SYSCALL_NAME_LEN], time[32], count[32], detail[200] = "";
	const struct stat_call *call = cause->call;

	units__format_time(cause->ns, time, sizeof(time));
	if (!call) {
		snprintf(text, BOTTLENECK_LEN,
			 "thread %d (%s): %" PRIu64 " %% of its time waiting for a CPU (%s)",
			 thread->tid, thread->comm, percent(cause->ns, thread->wall_ns), time);
		return;
	}
	syscall_names__put(call->abi, call->nr, name);
	if (behaviour__of_call(name, call->file) == BEHAVIOUR_NETWORK)
		put_peer(data, thread, detail, sizeof(detail));
	else if (is_lock_call(call))
		put_lock(data, thread, detail, sizeof(detail));
	snprintf(text, BOTTLENECK_LEN,
		 "thread %d (%s): %" PRIu64 " %% of its blocked time in %s%s (%s in %s calls)",
		 thread->tid, thread->comm, percent(cause->ns, thread->blocked_ns), name, detail,
		 time, units__format_count(call->times.count, count, sizeof(count)));
}

void bottlenecks__find(const struct stat_data *data, struct bottlenecks *bottlenecks)
{
	struct cause worst[BOTTLENECKS_MAX] = { 0 };

	bottlenecks->nr = 0;
	for (size_t i = 0; i < data->nr_threads; i++) {
		struct cause cause = cause_of(data, &data->threads[i]);
		size_t at = bottlenecks->nr;

		if (!cause.ns)
			continue;
		while (at && worst[at - 1].ns < cause.ns) {
			if (at < BOTTLENECKS_MAX)
				worst[at] = worst[at - 1];
			at--;
		}
		if (at < BOTTLENECKS_MAX)
			worst[at] = cause;
		if (bottlenecks->nr < BOTTLENECKS_MAX)
			bottlenecks->nr++;
	}
	for (size_t i = 0; i < bottlenecks->nr; i++)
		put_sentence(data, &worst[i], bottlenecks->text[i]);
}
