/* SPDX-License-Identifier: GPL-2.0-only */
#include "output/perfdata/wait_event.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

_Static_assert(sizeof(struct writer_wait) == 24 + 8 * 8 + 32 + 16 + 16 + 256 + 2 * 56 + 384,
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

static void add_call(char *text, size_t size, const struct reason *reason)
{
	if (reason->nr < 0)
		return;
	add_text(text, size, " in ");
	if (*reason->call)
		add_text(text, size, "%s", reason->call);
	else
		add_text(text, size, "system call %d", reason->nr);
	add_text(text, size, "(0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 ")", reason->args[0],
		 reason->args[1], reason->args[2]);
}

/* path, device: as the event has them. */
static void add_object(char *text, size_t size, const struct reason *reason, const char *path,
		       const char *device)
{
	if (reason->futex)
		add_text(text, size, " on the futex 0x%" PRIx64, reason->args[0]);
	if (!*path)
		return;
	if (reason->fd >= 0)
		add_text(text, size, " on descriptor %d,", reason->fd);
	else
		add_text(text, size, " on");
	if (*reason->remote)
		add_text(text, size, " the socket from %s to %s", reason->local, reason->remote);
	else if (*reason->local)
		add_text(text, size, " the socket at %s", reason->local);
	else
		add_text(text, size, " %s", path);
	if (*device && *path == '/')
		add_text(text, size, " on device %s", device);
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
	};
	memcpy(wait->args, reason->args, sizeof(wait->args));
	snprintf(wait->name, sizeof(wait->name), "%s", reason->call);
	snprintf(wait->kind, sizeof(wait->kind), "%s", reason->fault ? "page-fault" : kind);
	if (reason->ino)
		snprintf(wait->device, sizeof(wait->device), "%u:%u", reason->major,
			 reason->minor);
	/* Readers print it to the terminal as it is, and whoever makes files may name them. */
	log__escape(wait->path, sizeof(wait->path), reason->path);
	memcpy(wait->local, reason->local, sizeof(wait->local));
	memcpy(wait->remote, reason->remote, sizeof(wait->remote));
	if (reason->fault)
		add_text(wait->text, sizeof(wait->text), "for a page");
	else if (reason->nr < 0)
		add_text(wait->text, sizeof(wait->text), "outside of system calls");
	add_call(wait->text, sizeof(wait->text), reason);
	add_object(wait->text, sizeof(wait->text), reason, wait->path, wait->device);
	/* The sentence puts a blank in front. */
	if (wait->text[0] == ' ')
		memmove(wait->text, wait->text + 1, sizeof(wait->text) - 1);
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
