/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes system calls whose numbers are the same in each run: by threads, children, on signals, with
 * errors and restarts. Threads are waited for in memory: a wait by futex may or may not be needed.
 */
#include "workload.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#define THREADS 4
#define CHILDREN 3
#define STACK 65536

static char stacks[THREADS][STACK] __attribute__((aligned(16)));
static volatile pid_t alive[THREADS]; /* the kernel clears it when the thread has ended */

static int run_thread(void *arg)
{
	struct timespec nap = { 0, 1000000 };

	(void)arg;
	for (int i = 0; i < 1000; i++)
		syscall(SYS_gettid);
	for (int i = 0; i < 50; i++)
		syscall(SYS_close, -1);
	for (int i = 0; i < 5; i++)
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &nap, NULL);
	syscall(SYS_exit, 0);
	return 0;
}

static void run_threads(void)
{
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			  CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;

	for (int i = 0; i < THREADS; i++) {
		alive[i] = 1;
		if (clone(run_thread, stacks[i] + STACK, flags, NULL, NULL, NULL, &alive[i]) < 0)
			_exit(1);
	}
	for (int i = 0; i < THREADS; i++) {
		while (alive[i])
			;
	}
}

static void run_children(void)
{
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();

		if (!child) {
			for (int j = 0; j < 77; j++)
				syscall(SYS_getppid);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

static void do_nothing(int signal)
{
	(void)signal;
}

/* Pipe and socket, whose reads and writes are of other categories than those of files. */
static void talk(void)
{
	int pipes[2], sockets[2];
	char byte = 0;

	if (pipe(pipes) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		_exit(1);
	for (int i = 0; i < 20; i++) {
		if (write(pipes[1], &byte, 1) != 1 || read(pipes[0], &byte, 1) != 1)
			_exit(1);
	}
	for (int i = 0; i < 30; i++) {
		if (write(sockets[1], &byte, 1) != 1 || read(sockets[0], &byte, 1) != 1)
			_exit(1);
	}
}

/*
 * A sleep that a signal ends with EINTR, and a read that it restarts, which is called twice. The
 * signals come late enough for a slow tracer.
 */
static void be_interrupted(void)
{
	struct itimerval soon = { .it_value = { .tv_usec = 150000 } };
	struct timespec nap = { 0, 150000000 }, long_nap = { 2, 0 };
	struct sigaction action = { .sa_handler = do_nothing };
	int pipes[2];
	char byte;
	pid_t child;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	nanosleep(&long_nap, NULL);
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	if (pipe(pipes))
		_exit(1);
	child = fork();
	if (!child) {
		nanosleep(&nap, NULL);
		kill(getppid(), SIGALRM);
		nanosleep(&nap, NULL);
		_exit(write(pipes[1], "x", 1) != 1);
	}
	if (read(pipes[0], &byte, 1) != 1)
		_exit(1);
	waitpid(child, NULL, 0);
}

int main(void)
{
	run_threads();
	run_children();
	talk();
	be_interrupted();
	return 0;
}
