/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen/term_guard.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Those of a crash. SIGQUIT is the terminal's own way to end a program. */
static const int numbers[] = { SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGSYS, SIGTRAP, SIGQUIT };

#define NR (sizeof(numbers) / sizeof(numbers[0]))
/* A stack of its own: the other one may have no room left. */
#define STACK_SIZE 65536

/* Handlers can only read globals. */
static struct {
	volatile sig_atomic_t armed;
	int fd;
	pid_t pid;
	struct termios modes;
	size_t size;
	char bytes[TERM_GUARD_BYTES];
	struct sigaction old[NR];
	char *stack;
} guard;

/* All that is called here may be called in a handler. A forked child leaves the terminal alone. */
static void restore(int number)
{
	ssize_t written;

	if (guard.armed && getpid() == guard.pid) {
		guard.armed = 0;
		written = write(guard.fd, guard.bytes, guard.size);
		(void)written;
		tcsetattr(guard.fd, TCSANOW, &guard.modes);
	}
	for (size_t i = 0; i < NR; i++) {
		if (numbers[i] == number)
			sigaction(number, &guard.old[i], NULL);
	}
	raise(number);
}

int term_guard__arm(int fd, const struct termios *modes, const void *bytes, size_t size)
{
	struct sigaction action = { .sa_handler = restore, .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_size = STACK_SIZE };

	if (size > sizeof(guard.bytes))
		return -E2BIG;
	guard.stack = malloc(STACK_SIZE);
	if (!guard.stack)
		return -ENOMEM;
	stack.ss_sp = guard.stack;
	sigaltstack(&stack, NULL);
	guard.fd = fd;
	guard.pid = getpid();
	guard.modes = *modes;
	guard.size = size;
	memcpy(guard.bytes, bytes, size);
	guard.armed = 1;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < NR; i++) {
		sigaction(numbers[i], NULL, &guard.old[i]);
		if (guard.old[i].sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
	return 0;
}

void term_guard__disarm(void)
{
	const stack_t none = { .ss_flags = SS_DISABLE };

	if (!guard.armed)
		return;
	guard.armed = 0;
	for (size_t i = 0; i < NR; i++)
		sigaction(numbers[i], &guard.old[i], NULL);
	sigaltstack(&none, NULL);
	free(guard.stack);
	guard.stack = NULL;
}
