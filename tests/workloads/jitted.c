/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * jitted COUNT MS: sleeps COUNT times for MS milliseconds, called by code that was made at run
 * time, whose name, jit_nap, is in /tmp/perf-PID.map only, as runtimes with a JIT compiler write
 * it. Prints READY once that is there.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef void (*caller_fn)(void (*callee)(unsigned long), unsigned long arg);

/* A function with a frame pointer that calls its first argument with the second. */
#ifdef __aarch64__
static const uint32_t code[] = {
	0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	0x910003fd, /* mov x29, sp */
	0xaa0003e8, /* mov x8, x0 */
	0xaa0103e0, /* mov x0, x1 */
	0xd63f0100, /* blr x8 */
	0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	0xd65f03c0, /* ret */
};
#else
static const unsigned char code[] = {
	0x55,		  /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
	0x48, 0x89, 0xf8, /* mov %rdi, %rax */
	0x48, 0x89, 0xf7, /* mov %rsi, %rdi */
	0xff, 0xd0,	  /* call *%rax */
	0x5d,		  /* pop %rbp */
	0xc3,		  /* ret */
};
#endif

/* libc's code has no frame pointers, so its caller is in no chain: this function. */
static void call_libc(unsigned long ms)
{
	struct timespec left = { .tv_sec = (time_t)(ms / 1000),
				 .tv_nsec = (long)(ms % 1000) * 1000000 };

	while (nanosleep(&left, &left) && errno == EINTR)
		continue;
}

static void take_nap(unsigned long ms)
{
	call_libc(ms);
	__asm__ volatile("" ::: "memory");
}

static void *make_code(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return NULL;
	memcpy(page, code, sizeof(code));
	__builtin___clear_cache(page, (char *)page + sizeof(code));
	return mprotect(page, size, PROT_READ | PROT_EXEC) ? NULL : page;
}

static int write_map(const void *start)
{
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "we");
	if (!map)
		return -errno;
	fprintf(map, "%lx %zx jit_nap\n", (unsigned long)start, sizeof(code));
	return fclose(map) ? -errno : 0;
}

int main(int argc, char **argv)
{
	unsigned long count, ms;
	caller_fn jit_nap;
	void *start;

	if (argc != 3)
		return 2;
	count = strtoul(argv[1], NULL, 10);
	ms = strtoul(argv[2], NULL, 10);
	start = make_code();
	if (!start || write_map(start)) {
		perror("jitted");
		return 1;
	}
	memcpy(&jit_nap, &start, sizeof(start));
	puts("READY");
	fflush(stdout);
	for (unsigned long i = 0; i < count; i++)
		jit_nap(take_nap, ms);
	return 0;
}
