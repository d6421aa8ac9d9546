/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/perfdata/wait_event.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"

_Static_assert(sizeof(struct writer_wait) == 24 + 8 * 8 + 32 + 16 + 16 + 256 + 2 * 56 + 104 + 8 +
						     16 + 64 + 56 + 64,
	       "the fields lie one behind the other, as the format says");

/* Appends to a text that is cut where there is no more room. */
static void __attribute__((format(printf, 3, 4)))
add_text(char *text, size_t size, const char *format, ...)
{
	size_t len = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + len, size - len, format, args);
	va_end(args);
}

static void add_length(char *text, size_t size, const struct sample *sample)
{
	char time[32], count[32];

	add_text(text, size, "waited %s (%c",
		 units__format_time(sample->period, time, sizeof(time)), sample->state);
	if (sample->count != 1)
		add_text(text, size, ", %s blocks",
			 units__format_count(sample->count, count, sizeof(count)));
	add_text(text, size, ")");
}

static void add_call(char *text, size_t size, const struct reason *reason)
{
	if (reason->fault)
		add_text(text, size, " for a page");
	else if (reason->nr < 0)
		add_text(text, size, " outside of system calls");
	if (reason->nr < 0)
		return;
	if (*reason->call)
		add_text(text, size, " in %s", reason->call);
	else
		add_text(text, size, " in system call %d", reason->nr);
}

static void add_futex(char *text, size_t size, const struct writer_wait *wait)
{
	if (*wait->object)
		add_text(text, size, " on %s", wait->object);
	else
		add_text(text, size, " on the futex 0x%" PRIx64, wait->futex);
	if (wait->owner)
		add_text(text, size, ", held by %d", wait->owner);
	if (wait->owner && *wait->owner_comm)
		add_text(text, size, " (%s)", wait->owner_comm);
}

/* Of a path or address that is too long, the end is kept, since it tells more. */
static void add_path(char *text, size_t size, const char *path)
{
	size_t used = strlen(text), len = strlen(path);

	if (used + 1 + len <= WAIT_EVENT_COLUMNS)
		add_text(text, size, " %s", path);
	else if (used + 5 < WAIT_EVENT_COLUMNS)
		add_text(text, size, " ...%s", path + len - (WAIT_EVENT_COLUMNS - used - 4));
}

/* The descriptor that ended the wait replaces the epoll descriptor: there is no room for both. */
static void add_ready(char *text, size_t size, const struct writer_wait *wait)
{
	add_text(text, size, " until %d was ready", wait->ready);
	if (!*wait->peer)
		return;
	add_text(text, size, ", peer");
	add_path(text, size, wait->peer);
}

/* If only one end has room, it is the remote one. */
static void add_connection(char *text, size_t size, const struct writer_wait *wait)
{
	size_t len = strlen(text) + strlen(" the socket from  to ");

	add_text(text, size, " the socket");
	if (len + strlen(wait->local) + strlen(wait->remote) <= WAIT_EVENT_COLUMNS)
		add_text(text, size, " from %s", wait->local);
	add_text(text, size, " to");
	add_path(text, size, wait->remote);
}

static void add_object(char *text, size_t size, const struct writer_wait *wait, int fd)
{
	if (!*wait->path)
		return;
	if (wait->ready >= 0) {
		add_ready(text, size, wait);
		return;
	}
	if (fd >= 0)
		add_text(text, size, " on descriptor %d,", fd);
	else
		add_text(text, size, " on");
	if (*wait->remote)
		add_connection(text, size, wait);
	else if (*wait->local)
		add_text(text, size, " the socket at %s", wait->local);
	else
		add_path(text, size, wait->path);
}

/*
 * A title that a program sets usually has blanks, a file name usually has none. It may be cut, but
 * leaves all room to the object of the wait.
 */
static void add_title(char *text, size_t size, const struct writer_wait *wait)
{
	if (strchr(wait->title, ' ') && strlen(text) + strlen("; ...") < WAIT_EVENT_COLUMNS)
		add_text(text, size, "; %s", wait->title);
}

/* The text. Parts beyond its columns are in the other fields. */
static void put_text(struct writer_wait *wait, const struct sample *sample)
{
	/* One column more than allowed, to notice a text that must be cut. */
	const size_t size = WAIT_EVENT_COLUMNS + 2;

	_Static_assert(sizeof(wait->text) >= WAIT_EVENT_COLUMNS + 2, "the text has room");
	add_length(wait->text, size, sample);
	add_call(wait->text, size, sample->reason);
	if (sample->reason->futex)
		add_futex(wait->text, size, wait);
	else
		add_object(wait->text, size, wait, sample->reason->fd);
	add_title(wait->text, size, wait);
	if (strlen(wait->text) > WAIT_EVENT_COLUMNS)
		memcpy(wait->text + WAIT_EVENT_COLUMNS - 3, "...", 4);
}

/* Escapes names that any user may choose, since readers print them to the terminal as they are. */
static void put_names(struct writer_wait *wait, const struct reason *reason)
{
	log__escape(wait->path, sizeof(wait->path), reason->path);
	log__escape(wait->owner_comm, sizeof(wait->owner_comm), reason->owner_comm);
	log__escape(wait->object, sizeof(wait->object), reason->futex_at);
	log__escape(wait->title, sizeof(wait->title), reason->title);
	memcpy(wait->local, reason->local, sizeof(wait->local));
	memcpy(wait->remote, reason->remote, sizeof(wait->remote));
	memcpy(wait->peer, reason->ready_remote, sizeof(wait->peer));
}

void wait_event__fill(struct writer_wait *wait, const struct sample *sample)
{
	const struct reason *reason = sample->reason;
	const char *kind = reason->nr < 0 ? "none" : "syscall";

	*wait = (struct writer_wait){
		.ns = sample->period,
		.blocks = sample->count,
		.nr = reason->nr,
		.state = { sample->state },
		.futex = reason->futex ? reason->args[0] : 0,
		.inode = reason->ino,
		.owner = (int32_t)reason->owner,
		.ready = reason->ready_fd,
	};
	memcpy(wait->args, reason->args, sizeof(wait->args));
	snprintf(wait->name, sizeof(wait->name), "%s", reason->call);
	snprintf(wait->kind, sizeof(wait->kind), "%s", reason->fault ? "page-fault" : kind);
	if (reason->ino)
		snprintf(wait->device, sizeof(wait->device), "%u:%u", reason->major,
			 reason->minor);
	put_names(wait, reason);
	put_text(wait, sample);
}

int wait_event__write(struct writer *writer, const struct sample *sample)
{
	struct writer_wait wait;
	const struct writer_trace trace = {
		.time = sample->time,
		.period = sample->period,
		.pid = sample->pid,
		.tid = sample->tid,
		.cpu = sample->cpu,
		.ip = sample->kernel.nr ? sample->kernel.ips[0] : 0,
		.fields = &wait,
		.size = sizeof(wait),
	};

	wait_event__fill(&wait, sample);
	return writer__trace(writer, WRITER_OFFCPU_WAIT, &trace);
}
