/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * requests WAY FILE: waits for ever behind a request about FILE.
 *   uring, registered      in io_uring_enter(2), for more than the read that was submitted; the
 *                          file by its descriptor, or by its number among registered files
 *   ring                   as uring, but the ring by its number among registered rings
 *   submit                 in io_submit(2), with a read that cannot be done now: FILE is a FIFO
 *   wait                   in io_getevents(2), for more than the read that was submitted
 * Exits with 77 where the kernel has no such calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SKIP 77
#define ENTRIES 4

static char room[512];

static int fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	return errno == ENOSYS || errno == EPERM ? SKIP : 1;
}

static void *map(int ring, size_t size, off_t offset)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, offset);
}

/* Returns the ring's number among those of this thread, or -1. */
static int register_ring(int ring)
{
	struct io_uring_rsrc_update update = { .offset = UINT32_MAX, .data = (uint64_t)ring };

	return syscall(SYS_io_uring_register, ring, IORING_REGISTER_RING_FDS, &update, 1) == 1 ?
		       (int)update.offset : -1;
}

static int wait_for_uring(int file, bool registered, bool registers_ring)
{
	unsigned int flags = IORING_ENTER_GETEVENTS;
	struct io_uring_params params = { 0 };
	int ring = (int)syscall(SYS_io_uring_setup, ENTRIES, &params);
	struct io_uring_sqe *requests;
	char *queue;

	if (ring < 0)
		return fail("io_uring_setup");
	queue = map(ring, params.sq_off.array + ENTRIES * sizeof(uint32_t), IORING_OFF_SQ_RING);
	requests = map(ring, ENTRIES * sizeof(*requests), IORING_OFF_SQES);
	if (queue == MAP_FAILED || requests == MAP_FAILED)
		return fail("mmap");
	if (registered && syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, &file, 1))
		return fail("io_uring_register");
	/* The queue has numbers of places. */
	requests[2] = (struct io_uring_sqe){
		.opcode = IORING_OP_READ,
		.flags = registered ? IOSQE_FIXED_FILE : 0,
		.fd = registered ? 0 : file,
		.addr = (uintptr_t)room,
		.off = 4096,
		.len = sizeof(room),
		.rw_flags = RWF_NOWAIT,
	};
	*(uint32_t *)(void *)(queue + params.sq_off.array) = 2;
	__atomic_store_n((uint32_t *)(void *)(queue + params.sq_off.tail), 1, __ATOMIC_RELEASE);
	if (registers_ring) {
		flags |= IORING_ENTER_REGISTERED_RING;
		ring = register_ring(ring);
		if (ring < 0)
			return fail("io_uring_register");
	}
	for (;;) {
		if (syscall(SYS_io_uring_enter, ring, 1, 2, flags, NULL, 0) < 0 &&
		    errno != EINTR)
			return fail("io_uring_enter");
	}
}

static int wait_for_aio(int file, bool submit_only)
{
	struct iocb request = {
		.aio_lio_opcode = IOCB_CMD_PREAD,
		.aio_fildes = (uint32_t)file,
		.aio_buf = (uintptr_t)room,
		.aio_nbytes = sizeof(room),
	}, *list[] = { &request };
	aio_context_t context = 0;
	struct io_event events[2];

	if (syscall(SYS_io_setup, ENTRIES, &context))
		return fail("io_setup");
	/* With submit, one that ends at once, and is never fetched. */
	if (submit_only)
		request.aio_fildes = (uint32_t)open("/proc/self/exe", O_RDONLY);
	if (syscall(SYS_io_submit, context, 1, list) != 1)
		return fail("io_submit");
	request.aio_fildes = (uint32_t)file;
	if (submit_only && syscall(SYS_io_submit, context, 1, list) != 1)
		return fail("io_submit");
	while (!submit_only)
		syscall(SYS_io_getevents, context, 2, 2, events, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	int file = argc == 3 ? open(argv[2], O_RDWR) : -1;

	if (file < 0) {
		fprintf(stderr, "usage: requests uring|registered|ring|submit|wait FILE\n");
		return 2;
	}
	if (!strcmp(argv[1], "submit") || !strcmp(argv[1], "wait"))
		return wait_for_aio(file, !strcmp(argv[1], "submit"));
	return wait_for_uring(file, !strcmp(argv[1], "registered"), !strcmp(argv[1], "ring"));
}
