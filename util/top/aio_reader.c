/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/aio_reader.h"

#include <linux/aio_abi.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

/* The kernel's ring of events, as it shares it with the program. */
struct aio_ring {
	uint32_t id;
	uint32_t nr; /* events that there is room for */
	uint32_t head;
	uint32_t tail;
	uint32_t magic;
	uint32_t compat_features;
	uint32_t incompat_features;
	uint32_t header_bytes;
};

#define AIO_RING_MAGIC 0xa10a10a1U

static bool read_memory(pid_t pid, uint64_t address, void *to, size_t size)
{
	const struct iovec local = { to, size };
	const struct iovec remote = { (void *)(uintptr_t)address, size };

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* An aio_context_t is the address of its ring. */
static bool read_ring(const struct user_request *request, struct aio_ring *ring)
{
	return read_memory(request->pid, request->context, ring, sizeof(*ring)) &&
	       ring->magic == AIO_RING_MAGIC && ring->nr;
}

/* The address of the struct iocb that a call is about; 0: not known. */
static uint64_t find_iocb(const struct user_request *request, const struct aio_ring *ring)
{
	struct io_event event;
	uint64_t last, first;

	if (request->kind == USER_REQUEST_AIO_SUBMIT)
		return read_memory(request->pid, request->address, &first, sizeof(first)) ? first
											  : 0;
	if (!ring)
		return 0;
	last = ((uint64_t)ring->tail + ring->nr - 1) % ring->nr;
	return read_memory(request->pid,
			   request->context + ring->header_bytes + last * sizeof(event), &event,
			   sizeof(event)) ? event.obj : 0;
}

/* The file of a struct iocb. Returns the length of its path. */
static size_t read_file(pid_t pid, uint64_t address, struct aio_answer *to)
{
	struct iocb iocb;
	char path[64];
	ssize_t len;

	if (!address || !read_memory(pid, address, &iocb, sizeof(iocb)) ||
	    iocb.aio_lio_opcode > IOCB_CMD_PWRITEV)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/fd/%u", pid, iocb.aio_fildes);
	len = readlink(path, to->path, sizeof(to->path));
	if (len <= 0)
		return 0;
	to->fd = (int32_t)iocb.aio_fildes;
	return (size_t)len;
}

size_t aio_reader__read(const struct user_request *request, struct aio_answer *to)
{
	struct aio_ring ring = { 0 };
	size_t len;

	to->fd = -1;
	to->has_context = read_ring(request, &ring);
	/* A program that fetches events on its own writes the head. */
	to->completed = to->has_context
				? (uint32_t)(((uint64_t)ring.tail + ring.nr - ring.head % ring.nr) %
					     ring.nr) : 0;
	len = read_file(request->pid, find_iocb(request, to->has_context ? &ring : NULL), to);
	return len || to->has_context ? offsetof(struct aio_answer, path) + len : 0;
}
