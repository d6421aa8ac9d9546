/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks at a known place without frame pointers: built with -O2 -fomit-frame-pointer. argv[1]
 * chooses how deep and where; the expected stack is gdb's.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../workloads/known.h"

/* Written after calls, which keeps the compiler from making them jumps. */
static volatile int sink;

static KNOWN void wait_in_pause(void)
{
	pause();
	sink++;
}

static KNOWN void take_nap(void)
{
	/* Long enough to be recognized by its length, even if it begins late. */
	const struct timespec nap = { .tv_nsec = 300000000 };

	nanosleep(&nap, NULL);
	sink++;
}

static KNOWN void descend(int depth, void (*wait)(void))
{
	volatile char room[64];

	room[depth % 64] = 1;
	if (depth)
		descend(depth - 1, wait);
	else
		wait();
	sink += room[depth % 64];
}

/* Discards a page some pages up the stack; no function can return through it. */
static KNOWN void nap_below_a_hole(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	if (madvise((void *)((here & -page) + 4 * page), page, MADV_DONTNEED))
		_exit(1);
	take_nap();
	_exit(0);
}

static void *run_nap(void *arg)
{
	descend(2, take_nap);
	return arg;
}

/* A thread whose stack ends at a page without access. */
static void run_below_a_guard(void)
{
	const size_t size = 65536;
	char *room = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;

	if (room == MAP_FAILED || mprotect(room, size, PROT_READ | PROT_WRITE) ||
	    pthread_attr_init(&attr) || pthread_attr_setstack(&attr, room, size) ||
	    pthread_create(&thread, &attr, run_nap, NULL))
		exit(1);
	pthread_join(thread, NULL);
}

static void handle(int signal)
{
	wait_in_pause();
	sink = signal;
}

static KNOWN void be_interrupted(int flags)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = flags };

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	sink++;
}

static void set_stack(void)
{
	stack_t stack = { .ss_size = 65536 };

	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL))
		exit(1);
}

static KNOWN void nap_briefly(void)
{
	const struct timespec nap = { .tv_nsec = 200000 };

	nanosleep(&nap, NULL);
	sink++;
}

static KNOWN void nap_in_handler(int nr)
{
	descend(3, nap_briefly);
	sink = nr;
}

#define STACK_BYTES 32768

/* room: of two stacks, the lower one for handlers. */
static void *nap_on_two_stacks(void *room)
{
	const stack_t stack = { .ss_sp = room, .ss_size = STACK_BYTES };

	if (sigaltstack(&stack, NULL))
		exit(1);
	for (;;) {
		raise(SIGUSR1);
		descend(5, nap_briefly);
		/* Time for the timer to interrupt it here. */
		for (int i = 0; i < 20000; i++)
			sink++;
	}
	return NULL;
}

/* The whole of both is in memory, so that what looks at the one finds the other right above. */
static void start_on_two_stacks(pthread_t *thread)
{
	char *room = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	pthread_attr_t attr;

	if (room == MAP_FAILED || pthread_attr_init(&attr) ||
	    pthread_attr_setstack(&attr, room + STACK_BYTES, STACK_BYTES) ||
	    pthread_create(thread, &attr, nap_on_two_stacks, room))
		exit(1);
}

/* Threads that nap in handlers of their own signals, and of a timer's that come anywhere. */
static void run_on_two_stacks(void)
{
	const struct sigaction action = { .sa_handler = nap_in_handler, .sa_flags = SA_ONSTACK };
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
	pthread_t threads[2];
	sigset_t alarms;

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	for (int i = 0; i < 2; i++)
		start_on_two_stacks(&threads[i]);
	/* Not for the first thread. */
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	pthread_join(threads[0], NULL);
}

static KNOWN void wait_for(sem_t *semaphore)
{
	sem_wait(semaphore);
	sink++;
}

static void *run_thread(void *arg)
{
	wait_for(arg);
	return NULL;
}

static void run_threads(void)
{
	static sem_t semaphore;
	pthread_t threads[4];

	sem_init(&semaphore, 0, 0);
	for (int i = 0; i < 4; i++) {
		if (pthread_create(&threads[i], NULL, run_thread, &semaphore))
			exit(1);
	}
	pthread_join(threads[0], NULL);
}

static KNOWN void wait_before(void)
{
	char byte;

	sink += (int)read(STDIN_FILENO, &byte, 1);
}

/* Each library waits for a byte on stdin, in functions of its own; before it, if so, its caller. */
static void run_library(const char *path, bool waits_before)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*wait_inside)(void);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	wait_inside = (void (*)(void))dlsym(library, "wait_inside");
	if (!wait_inside)
		exit(1);
	if (waits_before)
		wait_before();
	wait_inside();
	dlclose(library);
}

/* Code that no file has, with a frame pointer: push rbp; mov rbp, rsp; call rdi; pop rbp; ret. */
static void run_made_code(void)
{
#ifdef __aarch64__
	/* stp x29, x30, [sp, -16]!; mov x29, sp; blr x0; ldp x29, x30, [sp], 16; ret */
	static const unsigned int code[] = { 0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd,
					     0xd65f03c0 };
#else
	/* push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret */
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
#endif
	void *room = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*call)(void (*)(void));

	if (room == MAP_FAILED)
		exit(1);
	memcpy(room, code, sizeof(code));
	__builtin___clear_cache(room, (char *)room + sizeof(code));
	if (mprotect(room, 4096, PROT_READ | PROT_EXEC))
		exit(1);
	call = (void (*)(void (*)(void)))room;
	call(wait_in_pause);
	sink++;
}

/* The vDSO does not know this clock, and calls the kernel itself. */
static KNOWN void ask_the_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	sink++;
}

/* The caller waits in vfork(2), which has popped its return address. */
static void __attribute__((noinline)) have_a_child(void)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

/* Bytes for those who read on stdin, one after the other. */
static void *write_bytes(void *arg)
{
	for (;;) {
		usleep(300);
		if (write(*(int *)arg, "x", 1) != 1)
			exit(1);
	}
	return NULL;
}

/* One library after the other, in the place of the one before, waits in functions of its own. */
static void run_libraries(char *const *paths)
{
	pthread_t thread;
	int ends[2];

	if (pipe(ends) || dup2(ends[0], STDIN_FILENO) < 0 ||
	    pthread_create(&thread, NULL, write_bytes, &ends[1]))
		exit(1);
	for (;;) {
		for (int i = 0; paths[i]; i++)
			run_library(paths[i], false);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (!strcmp(how, "nested")) {
		descend(20, wait_in_pause);
	} else if (!strcmp(how, "deep")) {
		descend(600, wait_in_pause);
	} else if (!strcmp(how, "hole")) {
		descend(600, nap_below_a_hole);
	} else if (!strcmp(how, "guard")) {
		run_below_a_guard();
	} else if (!strcmp(how, "handler")) {
		be_interrupted(0);
	} else if (!strcmp(how, "altstack")) {
		set_stack();
		be_interrupted(SA_ONSTACK);
	} else if (!strcmp(how, "altnaps")) {
		run_on_two_stacks();
	} else if (!strcmp(how, "threads")) {
		run_threads();
	} else if (!strcmp(how, "clock")) {
		for (;;)
			ask_the_time();
	} else if (!strcmp(how, "vfork")) {
		for (;;)
			have_a_child();
	} else if (!strcmp(how, "made")) {
		run_made_code();
	} else if (!strcmp(how, "libraries") || !strcmp(how, "loaded")) {
		for (int i = 2; i < argc; i++)
			run_library(argv[i], !strcmp(how, "loaded"));
	} else if (!strcmp(how, "swaps")) {
		run_libraries(argv + 2);
	} else {
		return 2;
	}
	return 0;
}
