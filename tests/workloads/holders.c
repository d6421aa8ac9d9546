/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that wait for a lock which a known thread holds, one pair for each kind of mutex, and
 * others that wait for a futex which is no mutex. Once all of them sleep, a line for each is
 * printed, and READY:
 *	mutex KIND WAITER OWNER OWNER-NAME, or other KIND WAITER
 * They go on sleeping for --ms milliseconds; with 0, until stdin ends.
 */
#include <linux/futex.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "workload.h"

enum object { MUTEX, TIMED, PROCESS, WRITE_WRITE, READ_WRITE, WRITE_READ, CONDVAR, SEMAPHORE, RAW };

/* A condition variable's futexes have a mutex behind them here, which is held by a thread. */
struct pair {
	pthread_cond_t cond;
	pthread_mutex_t mutex;
	pthread_mutex_t held;
};

struct account {
	char balance[0x40];
	pthread_mutex_t lock;
};

struct account accounts; /* the test looks for its name */

static struct kind {
	const char *name;
	enum object object;
	int type;
	bool robust, inherit, told;
	uint32_t words[8]; /* of a bare futex */
	void *memory; /* NULL: of its own */
	pthread_rwlock_t rwlock;
	sem_t semaphore;
	struct pair pair;
	pthread_mutex_t own;
	pthread_t holder, waiter;
	volatile int holder_tid, waiter_tid;
	unsigned long long before;
} kinds[] = {
	{ .name = "normal", .told = true, .memory = &accounts.lock },
	{ .name = "heap", .told = true },
	{ .name = "recursive", .type = PTHREAD_MUTEX_RECURSIVE, .told = true },
	{ .name = "checked", .type = PTHREAD_MUTEX_ERRORCHECK, .told = true },
	{ .name = "adaptive", .type = PTHREAD_MUTEX_ADAPTIVE_NP, .told = true },
	{ .name = "timed", .object = TIMED, .told = true },
	{ .name = "robust", .robust = true, .told = true },
	{ .name = "inherit", .inherit = true, .told = true },
	{ .name = "both", .robust = true, .inherit = true, .told = true },
	{ .name = "process", .object = PROCESS, .told = true },
	{ .name = "write-write", .object = WRITE_WRITE },
	{ .name = "read-write", .object = READ_WRITE },
	{ .name = "write-read", .object = WRITE_READ },
	{ .name = "condvar", .object = CONDVAR },
	{ .name = "semaphore", .object = SEMAPHORE },
	{ .name = "garbage", .object = RAW, .words = { 2, 0x5a5a5a5a, 0x5a5a5a5a, 0x5a5a5a5a,
						       0x5a5a5a5a } },
	{ .name = "zeros", .object = RAW, .words = { 2 } },
	/* The words of a mutex that thread 2, a kernel thread if any, would hold. */
	{ .name = "alike", .object = RAW, .words = { 2, 0, 2, 1, 0 } },
};
#define NR_KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))

static volatile int *over, *child_tid; /* shared with the child */

static void name_thread(char letter, const struct kind *kind)
{
	char name[16];

	snprintf(name, sizeof(name), "%c-%s", letter, kind->name);
	prctl(PR_SET_NAME, name);
}

static void wait_for(volatile int *flag)
{
	while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
		workload__nanosleep(100000);
}

static void hold(struct kind *kind)
{
	pthread_mutex_t *mutex = kind->memory;

	if (kind->object == WRITE_READ)
		pthread_rwlock_rdlock(&kind->rwlock);
	else if (kind->object == WRITE_WRITE || kind->object == READ_WRITE)
		pthread_rwlock_wrlock(&kind->rwlock);
	else if (kind->object == CONDVAR)
		pthread_mutex_lock(&kind->pair.held);
	else if (kind->object <= TIMED)
		pthread_mutex_lock(mutex);
}

static void let_go(struct kind *kind)
{
	if (kind->object == WRITE_WRITE || kind->object == READ_WRITE ||
	    kind->object == WRITE_READ)
		pthread_rwlock_unlock(&kind->rwlock);
	else if (kind->object == CONDVAR)
		pthread_cond_signal(&kind->pair.cond);
	else if (kind->object == SEMAPHORE)
		sem_post(&kind->semaphore);
	else if (kind->object == RAW)
		syscall(SYS_futex, kind->words, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	else
		pthread_mutex_unlock(kind->memory);
}

static void *run_holder(void *arg)
{
	struct kind *kind = arg;

	name_thread('h', kind);
	hold(kind);
	__atomic_store_n(&kind->holder_tid, workload__tid(), __ATOMIC_RELEASE);
	wait_for(over);
	let_go(kind);
	return NULL;
}

static void wait_in_kind(struct kind *kind)
{
	const struct timespec late = { .tv_sec = time(NULL) + 3600 };

	if (kind->object == READ_WRITE) {
		pthread_rwlock_rdlock(&kind->rwlock);
	} else if (kind->object == WRITE_WRITE || kind->object == WRITE_READ) {
		pthread_rwlock_wrlock(&kind->rwlock);
	} else if (kind->object == CONDVAR) {
		pthread_mutex_lock(&kind->pair.mutex);
		pthread_cond_wait(&kind->pair.cond, &kind->pair.mutex);
	} else if (kind->object == SEMAPHORE) {
		sem_wait(&kind->semaphore);
	} else if (kind->object == RAW) {
		syscall(SYS_futex, kind->words, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
	} else if (kind->object == TIMED) {
		pthread_mutex_timedlock(kind->memory, &late);
	} else {
		pthread_mutex_lock(kind->memory);
		pthread_mutex_unlock(kind->memory);
	}
}

static void *run_waiter(void *arg)
{
	struct kind *kind = arg;

	name_thread('w', kind);
	wait_for(kind->object == PROCESS ? child_tid : &kind->holder_tid);
	kind->before = workload__voluntary();
	__atomic_store_n(&kind->waiter_tid, workload__tid(), __ATOMIC_RELEASE);
	wait_in_kind(kind);
	return NULL;
}

static void make_mutex(struct kind *kind)
{
	pthread_mutexattr_t attr;

	if (kind->object == PROCESS)
		kind->memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	else if (!strcmp(kind->name, "heap"))
		kind->memory = malloc(sizeof(pthread_mutex_t));
	else if (!kind->memory)
		kind->memory = &kind->own;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, kind->type);
	if (kind->robust)
		pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	if (kind->inherit)
		pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	if (kind->object == PROCESS)
		pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(kind->memory, &attr);
}

/* The mutex that processes share is held by another process. */
static pid_t start_child(struct kind *kind)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	name_thread('h', kind);
	pthread_mutex_lock(kind->memory);
	__atomic_store_n(child_tid, workload__tid(), __ATOMIC_RELEASE);
	wait_for(over);
	pthread_mutex_unlock(kind->memory);
	_exit(0);
}

static void start(struct kind *kind)
{
	pthread_rwlock_init(&kind->rwlock, NULL);
	sem_init(&kind->semaphore, 0, 0);
	pthread_cond_init(&kind->pair.cond, NULL);
	pthread_mutex_init(&kind->pair.mutex, NULL);
	pthread_mutex_init(&kind->pair.held, NULL);
	if ((kind->object != PROCESS &&
	     pthread_create(&kind->holder, NULL, run_holder, kind)) ||
	    pthread_create(&kind->waiter, NULL, run_waiter, kind))
		workload__fail("pthread_create", EAGAIN);
}

static void print(struct kind *kind)
{
	wait_for(&kind->waiter_tid);
	while (!workload__sleeps(kind->waiter_tid, kind->before))
		workload__nanosleep(100000);
	if (kind->told)
		printf("mutex %s %d %d h-%s\n", kind->name, kind->waiter_tid,
		       kind->object == PROCESS ? *child_tid : kind->holder_tid, kind->name);
	else
		printf("other %s %d\n", kind->name, kind->waiter_tid);
}

int main(int argc, char **argv)
{
	struct workload_option options[] = { { "ms", 100 }, { 0 } };
	struct pollfd end = { .fd = STDIN_FILENO, .events = POLLIN };
	pid_t child = 0;

	workload__parse(argc, argv, options);
	over = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	child_tid = over + 1;
	for (int i = 0; i < NR_KINDS; i++) {
		make_mutex(&kinds[i]);
		if (kinds[i].object == PROCESS)
			child = start_child(&kinds[i]);
	}
	for (int i = 0; i < NR_KINDS; i++)
		start(&kinds[i]);
	for (int i = 0; i < NR_KINDS; i++)
		print(&kinds[i]);
	workload__ready(false);
	if (options[0].value)
		workload__nanosleep(options[0].value * WORKLOAD_NSEC_PER_MSEC);
	else
		poll(&end, 1, -1);
	__atomic_store_n(over, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < NR_KINDS; i++)
		pthread_join(kinds[i].waiter, NULL);
	waitpid(child, NULL, 0);
	return 0;
}
