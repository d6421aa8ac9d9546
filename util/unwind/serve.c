/* SPDX-License-Identifier: GPL-2.0-only */
/* The process that unwinds. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bus_guard.h"
#include "base/confine.h"
#include "base/log.h"
#include "unwind/protocol.h"
#include "unwind/unwinder.h"

/*
 * Memory limit for reading files: a few compressed kilobytes can become gigabytes. Much more than
 * the unwinder keeps, so that only a single file can reach it.
 */
#define MAX_HEAP (256ULL << 20)

struct server {
	struct shm_ring *shm_ring;
	struct machine *machine;
	struct unwinder *unwinder;
	int bell;
};

static int apply_event(struct server *server, uint32_t kind, const struct protocol_event *told)
{
	struct task_event event = told->event;
	int ret;

	if (kind == SHM_RING_FORGET) {
		machine__forget(server->machine, event.time);
		return 0;
	}
	if (event.kind == TASK_EVENT_MMAP)
		event.map.path = (const char *)(told + 1);
	else if (event.kind == TASK_EVENT_EXEC)
		event.comm = (const char *)(told + 1);
	ret = machine__handle(server->machine, &event);
	return ret < 0 ? ret : 0;
}

static int answer_sample(struct server *server, struct protocol_sample *in)
{
	struct protocol_answer *answer =
		(void *)((char *)in + protocol__answer_at(in->stack_bytes));
	struct unwind_sample sample = {
		.pid = in->pid,
		.time = in->time,
		.regs = in->regs,
		.stack = in + 1,
		.stack_bytes = in->stack_bytes,
		.max_frames = in->max_frames,
	};
	struct unwind_result result;
	int err = unwinder__unwind(server->unwinder, &sample, &result);

	if (err)
		return err;
	answer->status = result.status;
	answer->nr = result.nr;
	memcpy(answer->ips, result.ips, result.nr * sizeof(*result.ips));
	return 0;
}

static int serve_entry(struct server *server, struct shm_ring_entry *entry, bool fresh)
{
	int err = 0;

	if (entry->kind == SHM_RING_SAMPLE)
		err = answer_sample(server, (void *)entry->data);
	else if (entry->kind != SHM_RING_SKIP && fresh)
		err = apply_event(server, entry->kind, (void *)entry->data);
	if (err)
		return err;
	shm_ring__done(server->shm_ring);
	if (entry->kind == SHM_RING_SAMPLE && shm_ring__ring_bell(server->shm_ring))
		send(server->bell, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	return 0;
}

/* 1: there is more; 0: the parent has closed its end; -errno. */
static int sleep_until_more(struct server *server)
{
	char bytes[64];
	bool fresh;
	ssize_t len;

	shm_ring__set_child_sleeps(server->shm_ring, true);
	/* An entry may have arrived while the parent still saw the child awake. */
	if (shm_ring__next(server->shm_ring, &fresh)) {
		shm_ring__set_child_sleeps(server->shm_ring, false);
		return 1;
	}
	do {
		len = recv(server->bell, bytes, sizeof(bytes), 0);
	} while (len < 0 && errno == EINTR);
	shm_ring__set_child_sleeps(server->shm_ring, false);
	return len < 0 ? -errno : len > 0;
}

static int serve_all(struct server *server)
{
	struct shm_ring_entry *entry;
	bool fresh;
	int ret;

	for (;;) {
		entry = shm_ring__next(server->shm_ring, &fresh);
		ret = entry ? serve_entry(server, entry, fresh) : sleep_until_more(server);
		if (ret < 0 || (!entry && !ret))
			return ret;
	}
}

/* The parent's machine has logged the same. */
static void say_nothing(void *ctx, enum log_level level, const char *text)
{
	(void)ctx;
	(void)level;
	(void)text;
}

int protocol__serve(struct shm_ring *shm_ring, struct machine *machine, int bell,
		    const uint64_t *avoid, size_t nr_avoid)
{
	struct server server = { .shm_ring = shm_ring, .machine = machine, .bell = bell };
	int err;

	err = bus_guard__install();
	if (!err)
		err = confine__process(CONFINE_READ, MAX_HEAP);
	if (err)
		pr_verbose("the process that unwinds is not confined: %s", strerror(-err));
	log__set_sink(say_nothing, NULL);
	server.unwinder = unwinder__new(machine, &err);
	for (size_t i = 0; i < nr_avoid && !err; i++)
		err = unwinder__avoid(server.unwinder, avoid[i]);
	if (!err) {
		unwinder__tell_file(server.unwinder, shm_ring__place(shm_ring));
		err = serve_all(&server);
	}
	unwinder__delete(server.unwinder);
	return err;
}
