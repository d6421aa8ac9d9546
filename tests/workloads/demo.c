/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * demo [SECONDS]: what scripts/quickstart.sh records. A handful of named threads lose time
 * in the usual ways, each through a few functions whose names say why, so that a report of
 * the recording reads like an explanation.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NSEC_PER_MSEC 1000000L
#define MAX_SECONDS 3600
#define BLOCK_SIZE 65536
#define SAVES 20

/* State shared by the threads. */
struct demo {
	uint32_t items; /* the queue's length, and the futex word of its consumer */
	bool stop;
	int pipe[2];
	int file; /* unlinked already: it goes with the process */
	int cpu;  /* the one that the spinning threads share */
};

struct demo_thread {
	const char *name;
	const char *what;
	void *(*run)(void *demo);
	pthread_t id;
};

/*
 * The C library of most distributions is built without frame pointers: the function that
 * calls one of its waits is missing from the chain. Waiting by a system call of our own
 * keeps the chains of the demo whole. Naming the frame makes the compiler set it up, which
 * it would not do for a function that calls no other.
 */
static inline __attribute__((always_inline)) long wait_in_kernel(long nr, long a, long b, long c)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = 0;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10),
			   "r"(__builtin_frame_address(0))
			 : "rcx", "r11", "memory");
	return result;
#else
	long result = syscall(nr, a, b, c, 0);

	return result < 0 ? -errno : result;
#endif
}

static bool is_over(struct demo *demo)
{
	return __atomic_load_n(&demo->stop, __ATOMIC_ACQUIRE);
}

static void sleep_ms(long ms)
{
	struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * NSEC_PER_MSEC };

	while (wait_in_kernel(SYS_nanosleep, (long)&left, (long)&left, 0) == -EINTR)
		;
}

static void wait_for_next_tick(void)
{
	sleep_ms(100);
}

static void *keep_time(void *demo)
{
	while (!is_over(demo))
		wait_for_next_tick();
	return NULL;
}

static void wait_for_item(struct demo *demo)
{
	while (!__atomic_load_n(&demo->items, __ATOMIC_ACQUIRE))
		wait_in_kernel(SYS_futex, (long)&demo->items, FUTEX_WAIT_PRIVATE, 0);
}

static void take_item(struct demo *demo)
{
	wait_for_item(demo);
	__atomic_fetch_sub(&demo->items, 1, __ATOMIC_ACQ_REL);
}

static void *serve_queue(void *demo)
{
	while (!is_over(demo))
		take_item(demo);
	return NULL;
}

static void put_item(struct demo *demo)
{
	__atomic_fetch_add(&demo->items, 1, __ATOMIC_ACQ_REL);
	wait_in_kernel(SYS_futex, (long)&demo->items, FUTEX_WAKE_PRIVATE, 1);
}

static void *fill_queue(void *demo)
{
	while (!is_over(demo)) {
		sleep_ms(40);
		put_item(demo);
	}
	put_item(demo); /* the consumer may have begun another wait */
	return NULL;
}

static bool wait_for_line(struct demo *demo)
{
	char line[16];

	return wait_in_kernel(SYS_read, demo->pipe[0], (long)line, sizeof(line)) > 0;
}

static void *read_log(void *demo)
{
	while (wait_for_line(demo))
		;
	return NULL;
}

static void *write_log(void *arg)
{
	struct demo *demo = arg;

	while (!is_over(demo)) {
		sleep_ms(70);
		if (write(demo->pipe[1], "line\n", 5) != 5)
			break;
	}
	close(demo->pipe[1]); /* end of file lets the reader go */
	return NULL;
}

static void flush_to_disk(struct demo *demo)
{
	wait_in_kernel(SYS_fsync, demo->file, 0, 0);
}

static void save_state(struct demo *demo)
{
	static const char block[BLOCK_SIZE];

	if (pwrite(demo->file, block, sizeof(block), 0) == sizeof(block))
		flush_to_disk(demo);
}

static void *keep_state(void *demo)
{
	while (!is_over(demo)) {
		for (int i = 0; i < SAVES; i++)
			save_state(demo);
		sleep_ms(20);
	}
	return NULL;
}

static void crunch_numbers(void)
{
	volatile unsigned long sum = 0;

	for (unsigned long i = 0; i < 1000000; i++)
		sum += i * i;
	(void)sum;
}

static void *compute(void *arg)
{
	struct demo *demo = arg;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)demo->cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	while (!is_over(demo))
		crunch_numbers();
	return NULL;
}

static int last_allowed_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set))
		return 0;
	for (int cpu = CPU_SETSIZE - 1; cpu > 0; cpu--) {
		if (CPU_ISSET((size_t)cpu, &set))
			return cpu;
	}
	return 0;
}

/* A file on a disk: on a tmpfs, which /tmp often is, fsync() waits for nothing. */
static int open_state(void)
{
	char path[] = "/var/tmp/denet-demo.XXXXXX";
	int fd = mkstemp(path);

	if (fd >= 0)
		unlink(path);
	return fd;
}

static int start_threads(struct demo *demo, struct demo_thread *threads, size_t nr)
{
	int err;

	for (size_t i = 0; i < nr; i++) {
		err = pthread_create(&threads[i].id, NULL, threads[i].run, demo);
		if (err)
			return -err;
		pthread_setname_np(threads[i].id, threads[i].name);
		printf("  %-10s %s\n", threads[i].name, threads[i].what);
	}
	fflush(stdout);
	return 0;
}

static void stop_threads(struct demo *demo, struct demo_thread *threads, size_t nr)
{
	__atomic_store_n(&demo->stop, true, __ATOMIC_RELEASE);
	for (size_t i = 0; i < nr; i++)
		pthread_join(threads[i].id, NULL);
}

static int demo__run(struct demo *demo, long seconds)
{
	struct demo_thread threads[] = {
		{ "ticker", "sleeps 100 ms at a time", keep_time, 0 },
		{ "consumer", "waits on a futex for the producer", serve_queue, 0 },
		{ "producer", "sleeps 40 ms before each item", fill_queue, 0 },
		{ "reader", "waits on a pipe for the writer", read_log, 0 },
		{ "writer", "sleeps 70 ms before each line", write_log, 0 },
		{ "keeper", "writes 64 kB and waits in fsync", keep_state, 0 },
		{ "spinner-a", "fights spinner-b for one CPU", compute, 0 },
		{ "spinner-b", "fights spinner-a for one CPU", compute, 0 },
	};
	const size_t nr = sizeof(threads) / sizeof(threads[0]);
	int err;

	err = start_threads(demo, threads, nr);
	if (err)
		return err; /* the threads that run end with the process */
	sleep_ms(seconds * 1000);
	stop_threads(demo, threads, nr);
	return 0;
}

int main(int argc, char **argv)
{
	long seconds = argc > 1 ? strtol(argv[1], NULL, 10) : 3;
	struct demo demo = { .cpu = last_allowed_cpu() };
	int err;

	if (seconds < 1 || seconds > MAX_SECONDS) {
		fprintf(stderr, "usage: demo [SECONDS], 1 to %d\n", MAX_SECONDS);
		return 2;
	}
	if (pipe(demo.pipe)) {
		perror("demo: pipe");
		return 1;
	}
	demo.file = open_state();
	if (demo.file < 0) {
		perror("demo: cannot make a file in /var/tmp");
		return 1;
	}
	err = demo__run(&demo, seconds);
	if (err)
		fprintf(stderr, "demo: cannot start a thread: error %d\n", -err);
	return err ? 1 : 0;
}
