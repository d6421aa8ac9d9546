/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that block in functions of the C library and know their own stacks, in a program that
 * no frame pointer leads through: it is built with -O2 -fomit-frame-pointer. Each is interrupted
 * in its wait once, and the handler asks libgcc's unwinder, which has nothing to do with ours,
 * for the frames from there on. Prints for each thread a line
 *   chain tid=TID name=NAME frames=ADDRESS,…
 * with the leaf first, and READY. Then each number on stdin makes all threads wait so many times,
 * each time until it sleeps, and is answered by "waited NUMBER from=NS to=NS", the CLOCK_MONOTONIC
 * before and after; at the end of stdin the program ends.
 */
#include "../workloads/workload.h"

#include <execinfo.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#define NR_WAITERS 4
#define MAX_FRAMES 64

struct waiter {
	const char *name;
	void (*wait)(struct waiter *waiter);
	int depth;
	pid_t tid;
	pthread_t thread;
	sem_t semaphore;
	int pipe[2];
	pthread_mutex_t lock;
	pthread_cond_t given;
	bool token;
	/* Waits begun, and how often it had left its CPU before the last. */
	unsigned long begun;
	unsigned long long voluntary;
	/* Frames found by the handler; told: the thread was in its wait then. */
	void *frames[MAX_FRAMES];
	int nr_frames;
	int handled;
	bool told;
};

static __thread struct waiter *self;

/* Written after calls, which keeps the compiler from making them jumps. */
static volatile int sink;

static KNOWN void wait_for_semaphore(struct waiter *waiter)
{
	while (sem_wait(&waiter->semaphore))
		sink++;
}

static KNOWN void wait_for_byte(struct waiter *waiter)
{
	char c;

	while (read(waiter->pipe[0], &c, 1) != 1)
		sink++;
}

static KNOWN void wait_in_poll(struct waiter *waiter)
{
	struct pollfd ready = { .fd = waiter->pipe[0], .events = POLLIN };
	char c;

	while (poll(&ready, 1, -1) != 1)
		sink++;
	if (read(waiter->pipe[0], &c, 1) == 1)
		sink++;
}

static KNOWN void wait_for_condition(struct waiter *waiter)
{
	pthread_mutex_lock(&waiter->lock);
	while (!waiter->token)
		pthread_cond_wait(&waiter->given, &waiter->lock);
	waiter->token = false;
	pthread_mutex_unlock(&waiter->lock);
}

static struct waiter waiters[NR_WAITERS] = {
	/* The program's first thread, whose root is another than that of the others. */
	{ .name = "byte", .wait = wait_for_byte, .depth = 3 },
	{ .name = "semaphore", .wait = wait_for_semaphore, .depth = 5 },
	{ .name = "poll", .wait = wait_in_poll, .depth = 9 },
	{ .name = "condition", .wait = wait_for_condition, .depth = 20 },
};

static bool finished;

/* Ends the wait, of whichever kind. */
static void give_token(struct waiter *waiter)
{
	pthread_mutex_lock(&waiter->lock);
	waiter->token = true;
	pthread_mutex_unlock(&waiter->lock);
	pthread_cond_signal(&waiter->given);
	sem_post(&waiter->semaphore);
	if (write(waiter->pipe[1], "x", 1) != 1)
		workload__fail("write", errno);
}

static KNOWN void wait_over_and_over(struct waiter *waiter)
{
	while (!__atomic_load_n(&finished, __ATOMIC_ACQUIRE)) {
		waiter->voluntary = workload__voluntary();
		__atomic_add_fetch(&waiter->begun, 1, __ATOMIC_RELEASE);
		waiter->wait(waiter);
	}
}

static KNOWN void descend(struct waiter *waiter, int depth)
{
	volatile char room[48];

	room[depth] = 1;
	if (depth)
		descend(waiter, depth - 1);
	else
		wait_over_and_over(waiter);
	sink += room[depth];
}

static void *run_waiter(void *arg)
{
	self = arg;
	__atomic_store_n(&self->tid, workload__tid(), __ATOMIC_RELEASE);
	descend(self, self->depth);
	return NULL;
}

/* Where it is, what its system call returned, and the instruction that was the call. */
#ifdef __aarch64__
#define PC_OF(regs) ((regs)->pc)
#define RESULT_OF(regs) ((regs)->regs[0])
static const unsigned char call[] = { 0x01, 0x00, 0x00, 0xd4 };
#else
#define PC_OF(regs) ((regs)->gregs[REG_RIP])
#define RESULT_OF(regs) ((regs)->gregs[REG_RAX])
static const unsigned char call[] = { 0x0f, 0x05 };
#endif

/* The wait is a system call that was interrupted, or this is not yet the place. */
static void handle(int signal, siginfo_t *info, void *context)
{
	const mcontext_t *regs = &((const ucontext_t *)context)->uc_mcontext;
	const unsigned char *code = (const unsigned char *)PC_OF(regs);
	void *frames[MAX_FRAMES];
	int nr = backtrace(frames, MAX_FRAMES);
	int first = 0;

	(void)signal;
	(void)info;
	while (first < nr && frames[first] != (const void *)code)
		first++;
	self->nr_frames = nr - first;
	memcpy(self->frames, frames + first, sizeof(*frames) * (size_t)self->nr_frames);
	self->told = (long)RESULT_OF(regs) == -EINTR &&
		     !memcmp(code - sizeof(call), call, sizeof(call));
	__atomic_add_fetch(&self->handled, 1, __ATOMIC_RELEASE);
}

static void await_sleep(const struct waiter *waiter, unsigned long begun)
{
	while (__atomic_load_n(&waiter->begun, __ATOMIC_ACQUIRE) < begun ||
	       !workload__sleeps(waiter->tid, waiter->voluntary))
		workload__nanosleep(WORKLOAD_NSEC_PER_MSEC);
}

static void await_all(unsigned long begun)
{
	for (int i = 0; i < NR_WAITERS; i++)
		await_sleep(&waiters[i], begun);
}

static void ask_for_chain(struct waiter *waiter)
{
	for (int asked = 1; !waiter->told; asked++) {
		await_sleep(waiter, 1);
		if (pthread_kill(waiter->thread, SIGUSR1))
			workload__fail("pthread_kill", EINVAL);
		while (__atomic_load_n(&waiter->handled, __ATOMIC_ACQUIRE) < asked)
			workload__nanosleep(WORKLOAD_NSEC_PER_MSEC);
	}
	printf("chain tid=%d name=%s frames=", waiter->tid, waiter->name);
	for (int i = 0; i < waiter->nr_frames; i++)
		printf("%s%lx", i ? "," : "", (unsigned long)waiter->frames[i]);
	printf("\n");
}

/* The thread that makes the others wait. */
static void *run_teller(void *arg)
{
	unsigned long nr, done = 0;

	(void)arg;
	for (int i = 0; i < NR_WAITERS; i++)
		ask_for_chain(&waiters[i]);
	workload__ready(false);
	while (scanf("%lu", &nr) == 1) {
		uint64_t from = workload__now();

		for (unsigned long end = done + nr; done < end; done++) {
			await_all(done + 1);
			for (int i = 0; i < NR_WAITERS; i++)
				give_token(&waiters[i]);
		}
		await_all(done + 1);
		printf("waited %lu from=%llu to=%llu\n", nr, (unsigned long long)from,
		       (unsigned long long)workload__now());
		fflush(stdout);
	}
	__atomic_store_n(&finished, true, __ATOMIC_RELEASE);
	for (int i = 0; i < NR_WAITERS; i++)
		give_token(&waiters[i]);
	return NULL;
}

static void set_up(struct waiter *waiter)
{
	if (sem_init(&waiter->semaphore, 0, 0) || pipe(waiter->pipe) ||
	    pthread_mutex_init(&waiter->lock, NULL) || pthread_cond_init(&waiter->given, NULL))
		workload__fail("set up", errno);
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };
	void *frames[1];
	pthread_t teller;

	/* The first call loads libgcc, which no handler may do. */
	backtrace(frames, 1);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < NR_WAITERS; i++)
		set_up(&waiters[i]);
	waiters[0].thread = pthread_self();
	for (int i = 1; i < NR_WAITERS; i++) {
		if (pthread_create(&waiters[i].thread, NULL, run_waiter, &waiters[i]))
			workload__fail("pthread_create", EAGAIN);
	}
	if (pthread_create(&teller, NULL, run_teller, NULL))
		workload__fail("pthread_create", EAGAIN);
	run_waiter(&waiters[0]);
	for (int i = 1; i < NR_WAITERS; i++)
		pthread_join(waiters[i].thread, NULL);
	pthread_join(teller, NULL);
	return 0;
}
