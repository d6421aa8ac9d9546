/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * service KIND [PATH]: a service that is slow for one reason, beside a thread that waits for
 * clients. Says READY once it is at work and goes on until it is killed. KIND is one of
 *   backend  a request waits for another process, which takes its time
 *   fsync    each request is written to the file PATH and flushed
 *   mmap     each request reads pages of the file PATH that are not in memory
 *   swap     requests use more memory than the cgroup has, so that some of it is in swap
 * The thread that serves is called "handler". "truth-ms N" lines tell once in 100 ms how long that
 * thread has been off its CPU so far, by its clocks.
 */
#include "workload.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>

#define CHUNK (1UL << 20)
#define FILE_BYTES (64UL << 20)
#define SWAP_BYTES (96UL << 20)
#define BACKEND_NS (40 * WORKLOAD_NSEC_PER_MSEC)

static const char *path;
static int ends[2]; /* to the backend and back */
static int file;
static char *memory;

/* Another process, so that no thread of the service explains the wait. */
static void be_backend(void)
{
	char c;

	prctl(PR_SET_NAME, "backend");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(ends[1], &c, 1) == 1) {
		workload__nanosleep(BACKEND_NS);
		if (write(ends[1], &c, 1) != 1)
			break;
	}
	_exit(0);
}

KNOWN static void ask_backend(void)
{
	char c = 'q';

	if (workload__syscall(SYS_write, ends[0], (long)&c, 1, 0, 0, 0) != 1 ||
	    workload__syscall(SYS_read, ends[0], (long)&c, 1, 0, 0, 0) != 1)
		workload__fail("backend", EIO);
}

static void begin_backend(void)
{
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		workload__fail("socketpair", errno);
	pid = fork();
	if (pid < 0)
		workload__fail("fork", errno);
	if (!pid)
		be_backend();
}

KNOWN static void flush_log(void)
{
	static char text[4096];

	if (workload__syscall(SYS_pwrite64, file, (long)text, sizeof(text), 0, 0, 0) < 0 ||
	    workload__syscall(SYS_fsync, file, 0, 0, 0, 0, 0) < 0)
		workload__fail("fsync", EIO);
}

static void begin_file(void)
{
	file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (file < 0)
		workload__fail(path, errno);
}

KNOWN static void touch_pages(size_t bytes)
{
	volatile char *p = memory;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t at = 0; at < bytes; at += page)
		p[at] = p[at];
}

static void begin_cold(void)
{
	static char text[CHUNK];

	begin_file();
	for (size_t at = 0; at < FILE_BYTES; at += CHUNK) {
		if (pwrite(file, text, CHUNK, (off_t)at) != (ssize_t)CHUNK)
			workload__fail("write", errno);
	}
	fsync(file);
	memory = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
	if (memory == MAP_FAILED)
		workload__fail("mmap", errno);
	madvise(memory, FILE_BYTES, MADV_RANDOM);
}

/* Private pages that were written are ours alone: each round begins without them. */
KNOWN static void read_cold(void)
{
	volatile char *p = memory;

	madvise(memory, FILE_BYTES, MADV_DONTNEED);
	posix_fadvise(file, 0, (off_t)FILE_BYTES, POSIX_FADV_DONTNEED);
	for (size_t at = 0; at < FILE_BYTES; at += 64 * 4096)
		(void)p[at];
}

static void begin_swap(void)
{
	memory = mmap(NULL, SWAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		workload__fail("mmap", errno);
	memset(memory, 1, SWAP_BYTES);
}

KNOWN static void use_swapped(void)
{
	touch_pages(SWAP_BYTES);
}

static const struct kind {
	const char *name;
	void (*begin)(void);
	void (*serve)(void);
} kinds[] = {
	{ "backend", begin_backend, ask_backend },
	{ "fsync", begin_file, flush_log },
	{ "mmap", begin_cold, read_cold },
	{ "swap", begin_swap, use_swapped },
};

KNOWN static void handle_requests(const struct kind *kind)
{
	uint64_t start = workload__clock(CLOCK_MONOTONIC), told = start, now, cpu;
	uint64_t cpu_start = workload__clock(CLOCK_THREAD_CPUTIME_ID);

	for (;;) {
		kind->serve();
		now = workload__clock(CLOCK_MONOTONIC);
		if (now - told < 100 * WORKLOAD_NSEC_PER_MSEC)
			continue;
		cpu = workload__clock(CLOCK_THREAD_CPUTIME_ID) - cpu_start;
		told = now;
		printf("truth-ms %llu\n", (unsigned long long)((now - start - cpu) / 1000000));
	}
}

static void *wait_for_client(void *arg)
{
	prctl(PR_SET_NAME, "listener");
	while (accept(*(int *)arg, NULL, NULL) < 0)
		;
	return arg;
}

int main(int argc, char **argv)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pthread_t listener;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (fd < 0 || listen(fd, 1))
		workload__fail("listen", errno);
	path = argc > 2 ? argv[2] : "";
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (argc < 2 || strcmp(argv[1], kinds[i].name))
			continue;
		kinds[i].begin();
		if (pthread_create(&listener, NULL, wait_for_client, &fd))
			workload__fail("pthread_create", errno);
		prctl(PR_SET_NAME, "handler");
		puts("READY");
		handle_requests(&kinds[i]);
	}
	fputs("usage: service backend|fsync|mmap|swap [PATH]\n", stderr);
	return 2;
}
