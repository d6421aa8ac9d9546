/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process of one thread that spends half of its life on a lock, a quarter on a disk and a
 * quarter on the CPU, but for its waits for a CPU: it measures how long it has waited for the
 * lock, which another process holds, then writes and computes until disk and CPU have had half of
 * that each. The truths are what it waited for lock and disk (bracket), and its CPU time
 * (requested). Ends with status 77 where the disk is none that one waits for.
 */
#include "workload.h"

#include <fcntl.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define BLOCK_SIZE 65536
#define HOLD_NS (10 * WORKLOAD_NSEC_PER_MSEC)
#define NO_DISK 77

struct shares {
	pthread_mutex_t lock;
	sem_t held;   /* by the other process */
	sem_t wanted; /* by this one, */
	sem_t had;    /* which is done with it */
	bool stop;
	int file;
	struct waits on_lock, on_disk, on_cpu;
};

static uint64_t cpu_time(void)
{
	return workload__clock(CLOCK_THREAD_CPUTIME_ID);
}

/* Time that was neither on the CPU nor a wait for it, up to now; differences count. */
static uint64_t blocked_time(void)
{
	return workload__now() - cpu_time() - workload__run_delay();
}

KNOWN static void compute(void)
{
	for (uint64_t i = 0; i < 100000; i++)
		__asm__ volatile("" : : "r"(i * i));
}

KNOWN static void save(struct shares *shares)
{
	static const char block[BLOCK_SIZE];

	if (pwrite(shares->file, block, sizeof(block), 0) != sizeof(block) ||
	    fdatasync(shares->file))
		workload__fail("/var/tmp", errno);
}

KNOWN static void enter(struct shares *shares)
{
	while (sem_wait(&shares->held))
		;
	sem_post(&shares->wanted);
	pthread_mutex_lock(&shares->lock);
	pthread_mutex_unlock(&shares->lock);
	sem_post(&shares->had);
}

KNOWN static void work(struct shares *shares)
{
	uint64_t began = blocked_time();
	int saves = 0;

	enter(shares);
	shares->on_lock.bracket_ns += blocked_time() - began;
	/* Clocks are read one after the other: a wait of nothing may seem to be less. */
	while ((int64_t)shares->on_disk.bracket_ns < (int64_t)shares->on_lock.bracket_ns / 2) {
		if (saves++ == 5000)
			exit(NO_DISK);
		began = blocked_time();
		save(shares);
		shares->on_disk.bracket_ns += blocked_time() - began;
	}
	while (cpu_time() < shares->on_lock.bracket_ns / 2)
		compute();
}

/* The other process. It ends with the first one in any case. */
static void hold(struct shares *shares)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "holder");
	for (;;) {
		pthread_mutex_lock(&shares->lock);
		sem_post(&shares->held);
		while (sem_wait(&shares->wanted))
			;
		if (!__atomic_load_n(&shares->stop, __ATOMIC_ACQUIRE))
			workload__nanosleep(HOLD_NS);
		pthread_mutex_unlock(&shares->lock);
		if (__atomic_load_n(&shares->stop, __ATOMIC_ACQUIRE))
			_exit(0);
		while (sem_wait(&shares->had))
			;
	}
}

/* A file on a disk: on a tmpfs, which /tmp often is, nobody waits. */
static int open_file(void)
{
	char path[] = "/var/tmp/denet-shares.XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0)
		workload__fail(path, errno);
	unlink(path);
	return fd;
}

static void begin(struct shares *shares)
{
	struct waits *all[] = { &shares->on_lock, &shares->on_disk, &shares->on_cpu };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		all[i]->pid = getpid();
		all[i]->tid = workload__tid();
		all[i]->comm = "shares";
	}
	sem_init(&shares->held, 1, 0);
	sem_init(&shares->wanted, 1, 0);
	sem_init(&shares->had, 1, 0);
}

static void make_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(lock, &attr);
}

int main(int argc, char **argv)
{
	struct workload_option options[] = { { "ms", 2000 }, { 0 } };
	bool wait = workload__parse(argc, argv, options);
	struct shares *shares = mmap(NULL, sizeof(*shares), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t until;
	pid_t holder;

	if (shares == MAP_FAILED)
		workload__fail("mmap", errno);
	*shares = (struct shares){
		.file = open_file(),
		.on_lock = { .what = "lock", .function = "enter" },
		.on_disk = { .what = "disk", .function = "save" },
		.on_cpu = { .what = "cpu", .function = "compute" },
	};
	make_lock(&shares->lock);
	begin(shares);
	workload__ready(wait);
	until = workload__now() + options[0].value * WORKLOAD_NSEC_PER_MSEC;
	holder = fork();
	if (holder < 0)
		workload__fail("fork", errno);
	if (!holder)
		hold(shares);
	while (workload__now() < until)
		work(shares);
	shares->on_cpu.requested_ns = cpu_time();
	__atomic_store_n(&shares->stop, true, __ATOMIC_RELEASE);
	sem_post(&shares->wanted);
	sem_post(&shares->had);
	waits__print(&shares->on_lock);
	waits__print(&shares->on_disk);
	waits__print(&shares->on_cpu);
	waitpid(holder, NULL, 0);
	return 0;
}
