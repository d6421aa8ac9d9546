/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/json_stat.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <sys/socket.h>

#include "base/json_text.h"
#include "stat/behaviour.h"
#include "stat/syscall_category.h"
#include "stat/syscall_names.h"

/* Raised when a key changes its meaning; new keys do not. */
#define VERSION 1

static const char *const abi_names[STAT_ABI_MAX] = { "native", "compat", "x32" };
static const char *const file_names[STAT_FILE_MAX] = { "none", "regular", "socket", "pipe",
						       "other" };
static const char *const op_names[STAT_IO_MAX] = { "read", "write", "flush", "discard", "other" };

static void put_text(const char *key, const char *text, FILE *out)
{
	fprintf(out, ",\"%s\":", key);
	json_text__print(text, out);
}

static void put_number(const char *key, uint64_t number, FILE *out)
{
	fprintf(out, ",\"%s\":%" PRIu64, key, number);
}

/* The fields without braces; unknown extremes and quantiles, as of /proc, are null. */
static void put_times(const struct stat_times *times, bool known, FILE *out)
{
	fprintf(out, "\"count\":%" PRIu64 ",\"total_ns\":%" PRIu64, times->count, times->total_ns);
	if (!known) {
		fputs(",\"min_ns\":null,\"max_ns\":null,\"p50_ns\":null,\"p99_ns\":null", out);
		return;
	}
	put_number("min_ns", times->min_ns, out);
	put_number("max_ns", times->max_ns, out);
	put_number("p50_ns", stat_times__quantile(times, 0.5), out);
	put_number("p99_ns", stat_times__quantile(times, 0.99), out);
}

static void put_calls(const struct stat_task *task, bool have_times, FILE *out)
{
	char name[SYSCALL_NAME_LEN];

	fputs(",\"syscalls\":[", out);
	for (size_t i = 0; i < task->nr_calls; i++) {
		const struct stat_call *call = &task->calls[i];

		syscall_names__put(call->abi, call->nr, name);
		fprintf(out,
			"%s{\"name\":\"%s\",\"nr\":%u,\"abi\":\"%s\",\"file\":\"%s\","
			"\"category\":\"%s\"",
			i ? "," : "", name, call->nr, abi_names[call->abi], file_names[call->file],
			syscall_category__name(syscall_category__of(name, call->file)));
		put_number("errors", call->errors, out);
		put_number("blocked_ns", call->blocked_ns, out);
		fputs(",", out);
		put_times(&call->times, have_times, out);
		fputs("}", out);
	}
	fputs("]", out);
}

static void put_states(const struct stat_task *task, FILE *out)
{
	const char *comma = "";

	fputs(",\"states\":{", out);
	for (int i = 0; i < STAT_STATE_MAX; i++) {
		const struct stat_times *times = &task->state[i];

		if (!stat_times__any(times))
			continue;
		fprintf(out,
			"%s\"%c\":{\"count\":%" PRIu64 ",\"total_ns\":%" PRIu64
			",\"min_ns\":%" PRIu64 ",\"max_ns\":%" PRIu64 "}",
			comma, STAT_STATES[i], times->count, times->total_ns, times->min_ns,
			times->max_ns);
		comma = ",";
	}
	fputs("}", out);
}

static void put_behaviour(const struct stat_data *data, const struct stat_task *task, FILE *out)
{
	struct behaviour behaviour = behaviour__of(data, task);

	fprintf(out, ",\"behaviour\":{\"class\":\"%s\",\"active_ns\":%" PRIu64 ",\"ns\":{",
		behaviour__name(behaviour.kind), behaviour.active_ns);
	for (int i = 0; i < BEHAVIOUR_TIMES; i++)
		fprintf(out, "%s\"%s\":%" PRIu64, i ? "," : "",
			behaviour__time_name((enum behaviour_time)i), behaviour.ns[i]);
	fputs("}}", out);
}

static void put_task(const struct stat_data *data, const struct stat_task *task, FILE *out)
{
	fprintf(out, "{\"pid\":%d,\"tid\":%d,\"ppid\":%d,\"comm\":", task->pid, task->tid,
		task->ppid);
	json_text__print(task->comm, out);
	fprintf(out, ",\"kthread\":%s,\"ended\":%s,\"threads\":%u,\"ended_threads\":%u",
		task->kthread ? "true" : "false", task->ended ? "true" : "false", task->threads,
		task->ended_threads);
	put_number("wall_ns", task->wall_ns, out);
	put_number("running_ns", task->running_ns, out);
	put_number("runnable_ns", task->runnable_ns, out);
	put_number("blocked_ns", task->blocked_ns, out);
	put_number("filtered_ns", task->filtered_ns, out);
	put_number("lock_ns", task->lock_ns, out);
	put_number("owned_lock_ns", task->owned_ns, out);
	fputs(",\"offcpu\":{", out);
	put_times(&task->offcpu, !data->from_proc, out);
	fputs("}", out);
	put_states(task, out);
	put_calls(task, data->parts & STAT_PART_CALL_TIMES, out);
	put_behaviour(data, task, out);
	fputs("}", out);
}

static void put_tasks(const char *key, const struct stat_data *data, const struct stat_task *tasks,
		      size_t nr, FILE *out)
{
	fprintf(out, ",\"%s\":[", key);
	for (size_t i = 0; i < nr; i++) {
		fputs(i ? "," : "", out);
		put_task(data, &tasks[i], out);
	}
	fputs("]", out);
}

static void put_open_calls(const struct stat_data *data, FILE *out)
{
	char name[SYSCALL_NAME_LEN];

	fputs(",\"open_syscalls\":[", out);
	for (size_t i = 0; i < data->nr_open_calls; i++) {
		const struct stat_open_call *call = &data->open_calls[i];

		fprintf(out,
			"%s{\"pid\":%d,\"tid\":%d,\"name\":\"%s\",\"nr\":%u,\"abi\":\"%s\","
			"\"file\":\"%s\"",
			i ? "," : "", call->pid, call->tid,
			syscall_names__put(call->abi, call->nr, name), call->nr,
			abi_names[call->abi], file_names[call->file]);
		put_number("since_ns", call->since_ns, out);
		put_number("ns", call->ns, out);
		put_text("comm", call->comm, out);
		fputs("}", out);
	}
	fputs("]", out);
}

static void put_locks(const struct stat_data *data, FILE *out)
{
	fputs(",\"locks\":[", out);
	for (size_t i = 0; i < data->nr_locks; i++) {
		const struct stat_lock *lock = &data->locks[i];

		fprintf(out, "%s{\"pid\":%d,\"address\":%" PRIu64, i ? "," : "", lock->pid,
			lock->address);
		put_text("name", lock->name, out);
		fputs(",\"waits\":{", out);
		put_times(&lock->waits, true, out);
		fprintf(out, "},\"open\":%u", lock->open);
		put_number("longest_open_ns", lock->open_ns, out);
		fprintf(out, ",\"waiters\":%u,\"wakers\":%u", lock->waiters, lock->wakers);
		put_number("wakes", lock->wakes, out);
		fprintf(out, ",\"last_waker\":%d,\"owner\":%d", lock->last_waker, lock->owner);
		put_number("owner_met", lock->owner_met, out);
		fprintf(out, ",\"longest_waiter\":%d", lock->waiter);
		put_text("longest_waiter_comm", lock->waiter_comm, out);
		fputs("}", out);
	}
	fputs("]", out);
}

/* Powers of two that have any; the last one has no upper bound. */
static void put_histogram(const struct stat_times *times, FILE *out)
{
	const char *comma = "";

	fputs(",\"histogram\":[", out);
	for (unsigned int i = 0; i < STAT_HIST_BUCKETS; i++) {
		if (!times->hist[i])
			continue;
		fprintf(out, "%s{\"from_ns\":%" PRIu64, comma, stat_times__bucket_begin(i));
		if (i + 1 < STAT_HIST_BUCKETS)
			put_number("below_ns", stat_times__bucket_begin(i + 1), out);
		else
			fputs(",\"below_ns\":null", out);
		put_number("count", times->hist[i], out);
		fputs("}", out);
		comma = ",";
	}
	fputs("]", out);
}

static void put_io(const struct stat_data *data, FILE *out)
{
	fputs(",\"block_io\":[", out);
	for (size_t i = 0; i < data->nr_io; i++) {
		const struct stat_io *io = &data->io[i];

		fprintf(out, "%s{\"major\":%u,\"minor\":%u,\"op\":\"%s\"", i ? "," : "",
			io->dev >> 20, io->dev & 0xfffff, op_names[io->op]);
		put_text("device", io->device, out);
		put_number("bytes", io->bytes, out);
		put_number("errors", io->errors, out);
		put_number("waited_ns", io->waited_ns, out);
		put_number("waits", io->waits, out);
		put_number("longest_wait_ns", io->longest_ns, out);
		fprintf(out, ",\"longest_waiter\":%d", io->waiter);
		put_text("longest_waiter_comm", io->waiter_comm, out);
		fputs(",\"requests\":{", out);
		put_times(&io->times, true, out);
		put_histogram(&io->times, out);
		fputs("}}", out);
	}
	fputs("]", out);
}

static void put_address(const char *key, uint16_t family, const uint8_t *address, uint16_t port,
			FILE *out)
{
	char text[INET6_ADDRSTRLEN] = "";

	if (family == AF_INET || family == AF_INET6)
		inet_ntop(family, address, text, sizeof(text));
	put_text(key, text, out);
	fprintf(out, ",\"%s_port\":%u", key, port);
}

static void put_sockets(const struct stat_data *data, FILE *out)
{
	fputs(",\"sockets\":[", out);
	for (size_t i = 0; i < data->nr_sockets; i++) {
		const struct stat_socket *socket = &data->sockets[i];

		fprintf(out, "%s{\"pid\":%d,\"tid\":%d", i ? "," : "", socket->pid, socket->tid);
		put_text("comm", socket->comm, out);
		put_number("inode", socket->ino, out);
		fprintf(out, ",\"family\":%u,\"protocol\":%u", socket->family, socket->protocol);
		put_address("local", socket->family, socket->local, socket->local_port, out);
		put_address("remote", socket->family, socket->remote, socket->remote_port, out);
		fputs(",\"receive\":{", out);
		put_times(&socket->receive, true, out);
		fputs("},\"send\":{", out);
		put_times(&socket->send, true, out);
		fputs("}}", out);
	}
	fputs("]", out);
}

static void put_losses(const struct stat_losses *losses, FILE *out)
{
	fprintf(out, ",\"lost\":{\"threads\":%" PRIu64, losses->threads);
	put_number("syscalls", losses->calls, out);
	put_number("lock_waits", losses->locks, out);
	put_number("file_waits", losses->files, out);
	put_number("block_requests", losses->requests, out);
	put_number("socket_waits", losses->sockets, out);
	put_number("missed_births", losses->missed_births, out);
	put_number("missed_deaths", losses->missed_deaths, out);
	put_number("missed_syscalls", losses->missed_calls, out);
	put_number("unseen_switches", losses->unseen_switches, out);
	fputs("}", out);
}

static void put_pressure(const struct memory_pressure *pressure, FILE *out)
{
	if (!pressure->scope) {
		fputs(",\"memory_pressure\":null", out);
		return;
	}
	fprintf(out, ",\"memory_pressure\":{\"of\":\"%s\"",
		pressure->scope == MEMORY_PRESSURE_CGROUP ? "cgroup" : "system");
	put_number("some_us", pressure->some_us, out);
	put_number("full_us", pressure->full_us, out);
	fputs("}", out);
}

static void put_parts(uint32_t parts, FILE *out)
{
	static const char *const names[] = { "offcpu", "syscalls",  "locks",
					     "block_io", "sockets", "syscall_times" };
	const char *comma = "";

	fputs(",\"parts\":[", out);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!(parts & 1u << i))
			continue;
		fprintf(out, "%s\"%s\"", comma, names[i]);
		comma = ",";
	}
	fputs("]", out);
}

void json_stat__put(const struct proc_metrics_sample *sample, const struct stat_data *data,
		    FILE *out)
{
	fprintf(out, "{\"version\":%d,\"source\":\"%s\"", VERSION,
		data->from_proc ? "proc" : "bpf");
	put_number("start_ns", data->start_ns, out);
	put_number("end_ns", data->end_ns, out);
	put_parts(data->parts, out);
	fprintf(out, ",\"processes_without_io\":%u", sample->without_io);
	put_pressure(&sample->pressure, out);
	fputs(",\"total\":", out);
	put_task(data, &data->total, out);
	put_tasks("processes", data, data->processes, data->nr_processes, out);
	put_tasks("commands", data, data->commands, data->nr_commands, out);
	put_tasks("threads", data, data->threads, data->nr_threads, out);
	if (data->parts & STAT_PART_CALLS)
		put_open_calls(data, out);
	if (data->parts & STAT_PART_LOCKS)
		put_locks(data, out);
	if (data->parts & STAT_PART_IO)
		put_io(data, out);
	if (data->parts & STAT_PART_SOCKETS)
		put_sockets(data, out);
	put_losses(&data->losses, out);
	fputs("}", out);
}
