/* SPDX-License-Identifier: GPL-2.0-only */
/* User stacks are read from another process, whatever its frame pointer holds. */
#include "top/user_reader.h"

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/harness.h"
#include "top/aio_reader.h"
#include "top/stack_walker.h"

/* A process that sleeps, and a stack of three frames in memory that it shares with us. */
FIXTURE(reader)
{
	struct user_reader *reader;
	uint64_t *stack;
	int file; /* that the process has open */
	pid_t pid;
};

/* Whether a process has left its CPU in a system call: "running" stands there until then. */
static bool is_in_call(pid_t pid)
{
	char path[64], text[16] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	file = fopen(path, "r");
	if (file && !fgets(text, sizeof(text), file))
		*text = '\0';
	if (file)
		fclose(file);
	return *text >= '0' && *text <= '9';
}

/*
 * How often a process has left its CPU, once it sleeps. Its state alone does not tell: it is set
 * before the switch, which counts.
 */
static uint64_t wait_asleep(pid_t pid)
{
	uint64_t switches = 0;
	char path[64], line[256];
	FILE *file;

	while (!is_in_call(pid))
		usleep(1000);
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		char *at = strstr(line, "ctxt_switches:");

		if (at)
			switches += strtoull(at + 14, NULL, 10);
	}
	if (file)
		fclose(file);
	return switches;
}

FIXTURE_SETUP(reader)
{
	const struct user_reader_options options = { .what = "user stacks" };

	self->stack = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->stack);
	/* Frame pointer and return address; the outermost return address is 0. */
	self->stack[0] = (uint64_t)(uintptr_t)&self->stack[10];
	self->stack[1] = 0x11111;
	self->stack[10] = (uint64_t)(uintptr_t)&self->stack[20];
	self->stack[11] = 0x22222;
	self->file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->file);
	self->pid = fork();
	ASSERT_LE(0, self->pid);
	if (!self->pid) {
		pause();
		_exit(0);
	}
	self->reader = user_reader__new(&options);
	ASSERT_NE(NULL, self->reader);
}

FIXTURE_TEARDOWN(reader)
{
	user_reader__delete(self->reader);
	kill(self->pid, SIGKILL);
	waitpid(self->pid, NULL, 0);
	munmap(self->stack, 8192);
	close(self->file);
}

/* A chain at that frame pointer, whose stack pointer is the beginning of the memory. */
static struct user_request stack_request(FIXTURE_DATA(reader) *self, uint64_t pc, const void *fp)
{
	struct user_request request = { .pid = self->pid, .tid = self->pid,
					.switches = wait_asleep(self->pid) };

	request.regs[USER_REG_PC] = pc;
	request.regs[USER_REG_SP] = (uint64_t)(uintptr_t)self->stack;
	request.regs[USER_REG_FP] = (uint64_t)(uintptr_t)fp;
	return request;
}

static struct user_request odd_request(FIXTURE_DATA(reader) *self, uint64_t fp)
{
	return stack_request(self, 1, (const void *)(uintptr_t)fp);
}

struct seen {
	unsigned int calls;
	uint32_t nr; /* of the last call */
	uint64_t ips[8];
};

static int note(void *ctx, const struct user_request *request, const void *data, size_t size)
{
	const struct user_stack *stack = data;
	struct seen *seen = ctx;

	(void)request;
	size -= offsetof(struct user_stack, ips);
	seen->calls++;
	seen->nr = (uint32_t)(size / sizeof(seen->ips[0]));
	memcpy(seen->ips, stack->ips, size < sizeof(seen->ips) ? size : sizeof(seen->ips));
	return 0;
}

TEST_F(reader, frames_of_a_chain)
{
	struct user_request request = stack_request(self, 0x4711, self->stack);
	struct seen seen = { 0 };

	ASSERT_EQ(0, user_reader__read(self->reader, &request, 1, note, &seen));
	ASSERT_EQ(1, seen.calls);
	ASSERT_EQ(3, seen.nr);
	EXPECT_EQ(0x4711, seen.ips[0]);
	EXPECT_EQ(0x11111, seen.ips[1]);
	EXPECT_EQ(0x22222, seen.ips[2]);
	/* It has run since, or was another thread. */
	request.switches++;
	ASSERT_EQ(0, user_reader__read(self->reader, &request, 1, note, &seen));
	EXPECT_EQ(1, seen.calls);
}

TEST_F(reader, any_frame_pointer)
{
	const uint64_t end = (uint64_t)(uintptr_t)self->stack + 8192;
	const uint64_t odd[] = { 0, 1, 8, ~0ULL, ~7ULL, ~15ULL, 1ULL << 63,
				 end - 8, end - 16, end };
	struct user_request requests[sizeof(odd) / sizeof(odd[0])];
	struct seen seen = { 0 };

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		requests[i] = odd_request(self, odd[i]);
	ASSERT_EQ(0, user_reader__read(self->reader, requests, sizeof(odd) / sizeof(odd[0]), note,
				       &seen));
	EXPECT_EQ(sizeof(odd) / sizeof(odd[0]), seen.calls);
	EXPECT_EQ(1, seen.nr);
	/* A chain that leads from one piece to an odd place. */
	self->stack[0] = ~7ULL;
	requests[0].regs[USER_REG_FP] = (uint64_t)(uintptr_t)self->stack;
	ASSERT_EQ(0, user_reader__read(self->reader, requests, 1, note, &seen));
	EXPECT_EQ(2, seen.nr);
}

TEST_F(reader, more_than_fit_at_once_and_one_that_is_gone)
{
	const size_t nr = USER_READER_MAX + 2;
	struct user_request *requests = calloc(nr, sizeof(*requests));
	struct seen seen = { 0 };

	ASSERT_NE(NULL, requests);
	requests[0] = odd_request(self, 0);
	for (size_t i = 1; i < nr; i++)
		requests[i] = requests[0];
	requests[1].pid = requests[1].tid = 0x7ffffff0;
	EXPECT_EQ(0, user_reader__read(self->reader, requests, nr, note, &seen));
	EXPECT_EQ(nr - 1, seen.calls);
	free(requests);
}

static int note_text(void *ctx, const struct user_request *request, const void *data, size_t size)
{
	(void)request;
	snprintf(ctx, USER_READER_TEXT + 1, "%.*s", (int)size, (const char *)data);
	return 0;
}

TEST_F(reader, arguments)
{
	const struct user_request request = { .kind = USER_REQUEST_CMDLINE, .pid = getpid() };
	char text[USER_READER_TEXT + 1] = "";

	ASSERT_EQ(0, user_reader__read(self->reader, &request, 1, note_text, text));
	EXPECT_NE(NULL, strstr(text, "test_user_reader"));
}

static int note_aio(void *ctx, const struct user_request *request, const void *data, size_t size)
{
	(void)request;
	memset(ctx, 0, sizeof(struct aio_answer));
	if (size)
		memcpy(ctx, data, size);
	return 0;
}

/* An iocb of the file, in memory that is shared, and its address in place of a list. */
TEST_F(reader, file_of_a_request)
{
	struct user_request request = { .kind = USER_REQUEST_AIO_SUBMIT, .pid = self->pid,
					.tid = self->pid,
					.address = (uint64_t)(uintptr_t)self->stack,
					.switches = wait_asleep(self->pid) };
	struct iocb *iocb = (struct iocb *)(void *)&self->stack[30];
	struct aio_answer seen = { .fd = 7 };

	*iocb = (struct iocb){ .aio_fildes = 0xffff };
	self->stack[0] = (uint64_t)(uintptr_t)iocb;
	ASSERT_EQ(0, user_reader__read(self->reader, &request, 1, note_aio, &seen));
	EXPECT_EQ(0, seen.fd); /* an answer of no bytes */
	iocb->aio_fildes = (uint32_t)self->file;
	ASSERT_EQ(0, user_reader__read(self->reader, &request, 1, note_aio, &seen));
	EXPECT_STREQ("/dev/null", seen.path);
	EXPECT_EQ(self->file, seen.fd);
	EXPECT_FALSE(seen.has_context);
	/* The memory is no ring of events. */
	request.kind = USER_REQUEST_AIO_WAIT;
	request.context = request.address;
	ASSERT_EQ(0, user_reader__read(self->reader, &request, 1, note_aio, &seen));
	EXPECT_STREQ("", seen.path);
}

/* The head of a ring of 4 events, as aio_setup_ring() of the kernel makes it. */
static uint32_t *make_ring(uint64_t *at, uint32_t head, uint32_t tail)
{
	uint32_t *ring = (uint32_t *)(void *)at;

	memcpy(ring, (uint32_t[]){ 0, 4, head, tail, 0xa10a10a1, 1, 0, 32 }, 32);
	return ring;
}

TEST_F(reader, ring_of_events)
{
	struct user_request request = { .kind = USER_REQUEST_AIO_WAIT, .pid = self->pid,
					.tid = self->pid,
					.context = (uint64_t)(uintptr_t)self->stack,
					.switches = wait_asleep(self->pid) };
	struct io_event *events = (struct io_event *)(void *)&self->stack[4];
	struct iocb *iocb = (struct iocb *)(void *)&self->stack[30];
	uint32_t *ring = make_ring(self->stack, 3, 3);
	struct aio_answer seen;

	memset(events, 0, 4 * sizeof(*events));
	/* No request has ended yet. */
	ASSERT_EQ(0, user_reader__read(self->reader, &request, 1, note_aio, &seen));
	EXPECT_TRUE(seen.has_context);
	EXPECT_EQ(-1, seen.fd);
	EXPECT_EQ(0, seen.completed);
	/* Around the end of the ring: three have, the latest one is in the second place. */
	make_ring(self->stack, 3, 2);
	*iocb = (struct iocb){ .aio_fildes = (uint32_t)self->file };
	events[1].obj = (uint64_t)(uintptr_t)iocb;
	ASSERT_EQ(0, user_reader__read(self->reader, &request, 1, note_aio, &seen));
	EXPECT_EQ(3, seen.completed);
	EXPECT_EQ(self->file, seen.fd);
	EXPECT_STREQ("/dev/null", seen.path);
	/* The program may write any values into the ring. */
	make_ring(self->stack, ~0U, ~0U);
	ASSERT_EQ(0, user_reader__read(self->reader, &request, 1, note_aio, &seen));
	EXPECT_GT(4, seen.completed);
	ring[1] = 0;
	seen.has_context = true;
	ASSERT_EQ(0, user_reader__read(self->reader, &request, 1, note_aio, &seen));
	EXPECT_FALSE(seen.has_context);
}

static int note_owner(void *ctx, const struct user_request *request, const void *data, size_t size)
{
	(void)request;
	if (size != sizeof(uint32_t))
		return -1;
	memcpy(ctx, data, size);
	return 0;
}

/* 1: there was no answer. */
static uint32_t owner_of(struct user_reader *reader, const struct user_request *request)
{
	uint32_t owner = 1;

	return user_reader__read(reader, request, 1, note_owner, &owner) ? 1 : owner;
}

/* A mutex in memory that is shared, for which the process is said to wait. */
TEST_F(reader, owner_of_a_lock)
{
	struct user_request request = { .kind = USER_REQUEST_LOCK_OWNER, .pid = self->pid,
					.tid = self->pid,
					.address = (uint64_t)(uintptr_t)self->stack,
					.wait = { FUTEX_WAIT_PRIVATE, 2 },
					.switches = wait_asleep(self->pid) };
	struct mutex_words *words = (struct mutex_words *)(void *)self->stack;
	const uint32_t own = (uint32_t)getpid(), pid = (uint32_t)self->pid;

	*words = (struct mutex_words){ .lock = 2, .owner = (int32_t)pid, .nusers = 1 };
	EXPECT_EQ(pid, owner_of(self->reader, &request));
	EXPECT_EQ(pid, owner_of(self->reader, &request));
	/* We are no thread of that process. */
	words->owner = (int32_t)own;
	EXPECT_EQ(0, owner_of(self->reader, &request));
	words->kind = MUTEX_KIND_SHARED;
	EXPECT_EQ(own, owner_of(self->reader, &request));
	words->owner = 0x3ffffff0; /* there is no such thread anywhere */
	EXPECT_EQ(0, owner_of(self->reader, &request));
	/* By a table of ids, as for one of another namespace. */
	words->owner = (int32_t)own;
	request.inner_pids = true;
	EXPECT_EQ(0, owner_of(self->reader, &request));
	words->owner = (int32_t)pid;
	EXPECT_EQ(pid, owner_of(self->reader, &request));
	/* A wait with a value other than those of glibc's mutexes is no wait for a mutex. */
	request.wait.value = 3;
	EXPECT_EQ(0, owner_of(self->reader, &request));
}

TEST_F(reader, owner_that_was_tracked)
{
	struct user_request request = { .kind = USER_REQUEST_LOCK_OWNER, .pid = self->pid,
					.tid = self->pid,
					.address = (uint64_t)(uintptr_t)self->stack,
					.wait = { FUTEX_WAIT_PRIVATE, 2 },
					.switches = wait_asleep(self->pid) + 1 };
	struct mutex_words *words = (struct mutex_words *)(void *)self->stack;
	const uint32_t pid = (uint32_t)self->pid;

	/* It has run since: nobody knows what it waits for now. */
	*words = (struct mutex_words){ .lock = 2, .owner = (int32_t)pid, .nusers = 1 };
	EXPECT_EQ(0, owner_of(self->reader, &request));
	request.tracked = pid;
	EXPECT_EQ(pid, owner_of(self->reader, &request));
	request.tracked = (uint32_t)getpid();
	EXPECT_EQ(0, owner_of(self->reader, &request));
	request.tracked_shared = true;
	EXPECT_EQ(request.tracked, owner_of(self->reader, &request));
	/* Where there is nothing to be read. */
	request.address = 8;
	request.tracked = pid;
	EXPECT_EQ(pid, owner_of(self->reader, &request));
	request.pid = request.tid = 0x7ffffff0;
	request.tracked_shared = false;
	EXPECT_EQ(0, owner_of(self->reader, &request));
}

TEST_HARNESS_MAIN
