/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Named threads, none of them the leader, each of which waits --count times for --ms
 * milliseconds in one way: chain start_waiting > repeat_wait > wait_WAY.
 */
#include "workload.h"

#include <linux/futex.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>

struct waiter;

/* A way of waiting. Without wake the wait ends by itself, after ms if that can be said. */
struct hook {
	const char *name;
	const char *function; /* innermost frame of ours; "-": libc is around the call */
	void (*wait)(struct waiter *waiter);
	void (*wake)(struct waiter *waiter);
};

struct waiter {
	const struct hook *hook;
	struct waits truth;
	char comm[16];
	pthread_t thread;
	pthread_t waker;
	unsigned long count;
	uint64_t ns;
	int tid;
	int futex;
	int fds[2];
	int epoll;
	int file;
	sem_t sem;
	unsigned long round; /* the wait that is about to begin, from 1 */
	unsigned long long before; /* how often the thread had left its CPU before it */
	uint64_t due;	     /* a wait without a waker is not over before */
	uint64_t asked;	     /* ns that the waiter was known to be asleep, in all */
};

static struct gate gate = GATE_INIT;

KNOWN static void wait_nanosleep(struct waiter *waiter)
{
	workload__nanosleep(waiter->ns);
}

KNOWN static void wait_futex(struct waiter *waiter)
{
	while (!__atomic_load_n(&waiter->futex, __ATOMIC_ACQUIRE))
		workload__syscall(SYS_futex, (long)&waiter->futex, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
	__atomic_store_n(&waiter->futex, 0, __ATOMIC_RELEASE);
}

static void wake_futex(struct waiter *waiter)
{
	__atomic_store_n(&waiter->futex, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &waiter->futex, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

KNOWN static void wait_pipe(struct waiter *waiter)
{
	char c;

	while (workload__syscall(SYS_read, waiter->fds[0], (long)&c, 1, 0, 0, 0) == -EINTR)
		;
}

static void wake_pipe(struct waiter *waiter)
{
	while (write(waiter->fds[1], "x", 1) < 0 && errno == EINTR)
		;
}

KNOWN static void wait_poll(struct waiter *waiter)
{
	struct pollfd fd = { .fd = waiter->fds[0], .events = POLLIN };
	struct timespec limit = { .tv_sec = 60 };
	char c;

	while (workload__syscall(SYS_ppoll, (long)&fd, 1, (long)&limit, 0, 8, 0) == -EINTR)
		;
	workload__syscall(SYS_read, waiter->fds[0], (long)&c, 1, 0, 0, 0);
}

KNOWN static void wait_epoll(struct waiter *waiter)
{
	struct epoll_event event;
	char c;

	while (workload__syscall(SYS_epoll_pwait, waiter->epoll, (long)&event, 1, -1, 0, 8) ==
	       -EINTR)
		;
	workload__syscall(SYS_read, waiter->fds[0], (long)&c, 1, 0, 0, 0);
}

KNOWN static void wait_sem(struct waiter *waiter)
{
	while (sem_wait(&waiter->sem) < 0 && errno == EINTR)
		;
}

static void wake_sem(struct waiter *waiter)
{
	sem_post(&waiter->sem);
}

/* How long a disk takes is not known: no lower bound, and few or no blocks on tmpfs. */
KNOWN static void wait_fsync(struct waiter *waiter)
{
	if (pwrite(waiter->file, &waiter->round, sizeof(waiter->round), 0) < 0)
		return;
	workload__syscall(SYS_fsync, waiter->file, 0, 0, 0, 0, 0);
}

static const struct hook hooks[] = {
	{ "nanosleep", "wait_nanosleep", wait_nanosleep, NULL },
	{ "futex", "wait_futex", wait_futex, wake_futex },
	{ "pipe", "wait_pipe", wait_pipe, wake_pipe },
	{ "poll", "wait_poll", wait_poll, wake_pipe },
	{ "epoll", "wait_epoll", wait_epoll, wake_pipe },
	{ "sem", "-", wait_sem, wake_sem },
	{ "fsync", "wait_fsync", wait_fsync, NULL },
};

#define NR_HOOKS (sizeof(hooks) / sizeof(hooks[0]))
#define WAY_FSYNC (NR_HOOKS - 1)

KNOWN static void repeat_wait(struct waiter *waiter)
{
	for (unsigned long i = 1; i <= waiter->count; i++) {
		uint64_t start = workload__now();

		waiter->before = workload__voluntary();
		waiter->due = workload__now() + waiter->ns;
		__atomic_store_n(&waiter->round, i, __ATOMIC_RELEASE);
		waiter->hook->wait(waiter);
		waiter->truth.bracket_ns += workload__now() - start;
	}
	__atomic_store_n(&waiter->round, waiter->count + 1, __ATOMIC_RELEASE);
}

KNOWN static void *start_waiting(void *arg)
{
	struct waiter *waiter = arg;

	prctl(PR_SET_NAME, waiter->comm);
	__atomic_store_n(&waiter->tid, workload__tid(), __ATOMIC_RELEASE);
	gate__pass(&gate);
	waits__begin(&waiter->truth, waiter->hook->name, waiter->hook->function);
	repeat_wait(waiter);
	waits__end(&waiter->truth);
	return NULL;
}

/* Until the waiter is in round i and known to sleep. False: the round is over. */
static bool waiter__falls_asleep(struct waiter *waiter, unsigned long i)
{
	unsigned long round;

	while ((round = __atomic_load_n(&waiter->round, __ATOMIC_ACQUIRE)) <= i) {
		if (round == i && workload__sleeps(waiter->tid, waiter->before))
			return true;
		workload__nanosleep(100000);
	}
	return false;
}

/*
 * Wakes a waiter --count times, or sees it sleep. Its clock runs only while the waiter is known
 * to sleep, which makes what it timed a lower bound of what the waiter was off the CPU.
 */
static void *start_waking(void *arg)
{
	struct waiter *waiter = arg;

	prctl(PR_SET_NAME, "waker");
	gate__pass(&gate);
	for (unsigned long i = 1; i <= waiter->count; i++) {
		uint64_t start, due;

		if (!waiter__falls_asleep(waiter, i))
			continue;
		start = workload__now();
		if (!waiter->hook->wake) {
			due = waiter->due;
			/* Else it was that of the next round, perhaps. */
			if (__atomic_load_n(&waiter->round, __ATOMIC_ACQUIRE) == i && due > start)
				waiter->asked += due - start;
			continue;
		}
		workload__nanosleep(waiter->ns);
		waiter->asked += workload__now() - start;
		waiter->hook->wake(waiter);
	}
	return NULL;
}

/* How long a disk takes is not known. */
static bool waiter__is_watched(const struct waiter *waiter)
{
	return waiter->hook != &hooks[WAY_FSYNC];
}

static void waiter__init(struct waiter *waiter, const struct hook *hook, unsigned long count,
			 uint64_t ns)
{
	struct epoll_event event = { .events = EPOLLIN };
	char path[] = "/tmp/denet-waits-XXXXXX";

	waiter->hook = hook;
	waiter->count = count;
	waiter->ns = ns;
	snprintf(waiter->comm, sizeof(waiter->comm), "w-%s", hook->name);
	if (pipe(waiter->fds) < 0)
		workload__fail("pipe", errno);
	waiter->epoll = epoll_create1(0);
	if (waiter->epoll < 0 ||
	    epoll_ctl(waiter->epoll, EPOLL_CTL_ADD, waiter->fds[0], &event) < 0)
		workload__fail("epoll", errno);
	waiter->file = mkstemp(path);
	if (waiter->file < 0)
		workload__fail(path, errno);
	unlink(path);
	sem_init(&waiter->sem, 0, 0);
}

static void waiter__start(struct waiter *waiter)
{
	int err = pthread_create(&waiter->thread, NULL, start_waiting, waiter);

	if (!err && waiter__is_watched(waiter))
		err = pthread_create(&waiter->waker, NULL, start_waking, waiter);
	if (err)
		workload__fail("pthread_create", err);
	while (!__atomic_load_n(&waiter->tid, __ATOMIC_ACQUIRE))
		workload__nanosleep(100000);
}

static void waiter__finish(struct waiter *waiter)
{
	pthread_join(waiter->thread, NULL);
	if (waiter__is_watched(waiter))
		pthread_join(waiter->waker, NULL);
	waiter->truth.comm = waiter->comm;
	waiter->truth.count = waiter->count;
	waiter->truth.requested_ns = waiter->asked;
	waits__print(&waiter->truth);
}

int main(int argc, char **argv)
{
	struct workload_option options[] = { { "count", 10 }, { "ms", 10 }, { "fsync", 0 }, { 0 } };
	static struct waiter waiters[NR_HOOKS];
	bool wait = workload__parse(argc, argv, options);
	size_t nr = options[2].value ? NR_HOOKS : WAY_FSYNC;

	for (size_t i = 0; i < nr; i++) {
		waiter__init(&waiters[i], &hooks[i], options[0].value,
			     options[1].value * WORKLOAD_NSEC_PER_MSEC);
		waiter__start(&waiters[i]);
	}
	workload__ready(wait);
	gate__open(&gate);
	for (size_t i = 0; i < nr; i++)
		waiter__finish(&waiters[i]);
	return 0;
}
