/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture/reason.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/syscalls.h"

/* Calls that wait for an object named by one of their arguments. */
static const struct {
	enum wire_call class;
	const char *names[56];
} classes[] = {
	{ WIRE_CALL_FD,
	  { "read", "pread64", "readv", "preadv", "preadv2", "write", "pwrite64", "writev",
	    "pwritev", "pwritev2", "fsync", "fdatasync", "syncfs", "sync_file_range",
	    "ftruncate", "fallocate", "flock", "fcntl", "ioctl", "close", "fstat", "lseek",
	    "getdents64", "getdents", "sendfile", "splice", "tee", "vmsplice",
	    "copy_file_range", "accept", "accept4", "connect", "recvfrom", "recvmsg",
	    "recvmmsg", "sendto", "sendmsg", "sendmmsg", "epoll_ctl", "io_uring_enter",
	    "mq_timedreceive", "mq_timedsend", "fchmod", "fchown", "fsetxattr", "readahead" } },
	{ WIRE_CALL_POLL, { "poll", "ppoll" } },
	{ WIRE_CALL_PATH,
	  { "open", "creat", "stat", "lstat", "access", "statfs", "truncate", "unlink", "rmdir",
	    "mkdir", "rename", "chdir", "chmod", "chown", "readlink", "execve" } },
	{ WIRE_CALL_PATHAT,
	  { "openat", "openat2", "newfstatat", "statx", "faccessat", "faccessat2", "unlinkat",
	    "mkdirat", "renameat", "renameat2", "readlinkat", "fchmodat", "fchownat",
	    "execveat" } },
	{ WIRE_CALL_FUTEX, { "futex" } },
	{ WIRE_CALL_FUTEX_WAIT, { "futex_wait" } },
	{ WIRE_CALL_EPOLL, { "epoll_wait", "epoll_pwait", "epoll_pwait2" } },
};

void reason__classify(uint8_t calls[WIRE_MAX_CALLS])
{
	for (int nr = 0; nr < syscalls__count() && nr < WIRE_MAX_CALLS; nr++) {
		calls[nr] = WIRE_CALL_OTHER;
		for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
			for (const char *const *name = classes[i].names; *name; name++) {
				if (!strcmp(*name, syscalls__name(nr)))
					calls[nr] = (uint8_t)classes[i].class;
			}
		}
	}
}

static void put_address(char *out, size_t size, uint16_t family, const uint8_t *address,
			uint16_t port)
{
	char text[INET6_ADDRSTRLEN] = "?";

	inet_ntop(family, address, text, sizeof(text));
	snprintf(out, size, family == AF_INET6 ? "[%s]:%u" : "%s:%u", text, port);
}

static void put_socket(struct reason *reason, const struct wire_reason *wire)
{
	snprintf(reason->path, sizeof(reason->path), "socket:[%" PRIu64 "]", reason->ino);
	if (wire->family != AF_INET && wire->family != AF_INET6)
		return;
	put_address(reason->local, sizeof(reason->local), wire->family, wire->local,
		    wire->local_port);
	/* A listening socket has no remote end. */
	if (wire->remote_port)
		put_address(reason->remote, sizeof(reason->remote), wire->family, wire->remote,
			    ntohs(wire->remote_port));
}

/* One name of a record; the kernel may have changed its end during the read. */
static size_t put_name(char *out, size_t room, const char *name)
{
	size_t len = strnlen(name, WIRE_NAME_LEN);

	if (len > room)
		len = room;
	memcpy(out, name, len);
	return len;
}

/* Joins the names, the root first. The names of pipes and the like are no path. */
static void put_path(struct reason *reason, const struct wire_reason *wire)
{
	size_t at = 0, size = sizeof(reason->path) - 1;
	uint32_t i = wire->nr_names;

	if (S_ISFIFO(wire->mode) && i <= 1) {
		snprintf(reason->path, sizeof(reason->path), "pipe:[%" PRIu64 "]", reason->ino);
		return;
	}
	/* A directory entry without a directory: an inode that is internal to the kernel. */
	if (i == 1 && wire->names[0][0] != '/') {
		at = put_name(reason->path, size, "anon_inode:");
		at += put_name(reason->path + at, size - at, wire->names[0]);
		reason->path[at] = '\0';
		return;
	}
	if (wire->flags & WIRE_REASON_CUT)
		at = put_name(reason->path, size, "...");
	else if (i && wire->names[i - 1][0] == '/')
		i--; /* the root's own name */
	if (!i)
		reason->path[at++] = '/';
	while (i-- && at < size) {
		reason->path[at++] = '/';
		at += put_name(reason->path + at, size - at, wire->names[i]);
	}
	reason->path[at] = '\0';
}

static void put_object(struct reason *reason, const struct wire_reason *wire)
{
	const char *given = (const char *)wire + offsetof(struct wire_reason, names);
	uint32_t device = S_ISBLK(wire->mode) || S_ISCHR(wire->mode) ? wire->rdev : wire->dev;

	reason->ino = wire->ino;
	reason->major = device >> 20;
	reason->minor = device & 0xfffff;
	if (wire->object == WIRE_OBJECT_SOCKET)
		put_socket(reason, wire);
	else if (wire->object == WIRE_OBJECT_FILE)
		put_path(reason, wire);
	else if (wire->object == WIRE_OBJECT_PATH)
		snprintf(reason->path, sizeof(reason->path), "%.*s",
			 (int)strnlen(given, sizeof(wire->names)), given);
}

int reason__decode(const void *data, size_t size, struct reason *reason)
{
	const struct wire_reason *wire = data;
	bool named;

	if (size < sizeof(*wire) || wire->head.kind != WIRE_REASON ||
	    wire->head.size != sizeof(*wire) || wire->nr_names > WIRE_PATH_NAMES)
		return -EINVAL;
	named = !(wire->flags & WIRE_REASON_COMPAT);
	*reason = (struct reason){
		.nr = wire->nr,
		.call = named ? syscalls__name(wire->nr) : "",
		.fd = wire->fd,
	};
	reason->futex = !strcmp(reason->call, "futex") || !strcmp(reason->call, "futex_wait");
	memcpy(reason->args, wire->args, sizeof(reason->args));
	reason->owner = wire->owner;
	reason->owner_shared = wire->flags & WIRE_REASON_SHARED;
	reason->inner_pids = wire->flags & WIRE_REASON_INNER_PIDS;
	reason->heap_start = wire->heap_start;
	reason->ready_fd = wire->ready_fd;
	snprintf(reason->title, sizeof(reason->title), "%.*s",
		 (int)strnlen(wire->title, sizeof(wire->title)), wire->title);
	if (wire->ready_port)
		put_address(reason->ready_remote, sizeof(reason->ready_remote), wire->ready_family,
			    wire->ready_remote, ntohs(wire->ready_port));
	put_object(reason, wire);
	return (int)wire->head.size;
}

int reason_store__add(struct reason_store *store, const struct wire_reason *wire)
{
	size_t before = store->records.len;
	uint64_t *offset;

	if (idmap__find(&store->offsets, wire->id))
		return 0;
	if (buffer__append(&store->records, wire, sizeof(*wire)))
		return -ENOMEM;
	offset = idmap__get(&store->offsets, wire->id);
	if (!offset) {
		store->records.len = before;
		return -ENOMEM;
	}
	*offset = before;
	return 0;
}

bool reason_store__find(const struct reason_store *store, uint64_t id, struct reason *reason)
{
	const uint64_t *offset = idmap__find(&store->offsets, id);

	return offset && reason__decode(store->records.data + *offset,
					store->records.len - *offset, reason) > 0;
}

void reason_store__clear(struct reason_store *store)
{
	idmap__clear(&store->offsets);
	buffer__free(&store->records);
}

void reason_store__free(struct reason_store *store)
{
	idmap__free(&store->offsets);
	buffer__free(&store->records);
}
