/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the workloads. A workload is a program whose off-CPU time is known: it measures its own
 * waits and prints, at its end, one truth line for each thread and way of waiting.
 * tests/common/truth.c parses these lines; WORKLOAD_TRUTH_FORMAT is the format.
 *
 * Everything is in headers, since a workload is built from one file.
 */
#ifndef DENET_WORKLOAD_H
#define DENET_WORKLOAD_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "known.h"

#define WORKLOAD_NSEC_PER_SEC 1000000000ULL
#define WORKLOAD_NSEC_PER_MSEC 1000000ULL

/*
 * A thread waited count times in one way. requested: it was off the CPU at least this
 * long; bracket: at most this long. voluntary and involuntary are the kernel's counts of
 * its context switches between the first bracket and the last. function is the innermost
 * frame of ours, "-" if the chain is not known.
 */
#define WORKLOAD_TRUTH_FORMAT                                                                      \
	"truth pid=%d tid=%d comm=%s what=%s function=%s count=%llu requested=%llu "              \
	"bracket=%llu voluntary=%llu involuntary=%llu\n"

struct waits {
	int pid;
	int tid;
	const char *comm;
	const char *what;
	const char *function;
	unsigned long long count;
	unsigned long long requested_ns;
	unsigned long long bracket_ns;
	unsigned long long voluntary;
	unsigned long long involuntary;
};

static inline void waits__print(const struct waits *waits)
{
	printf(WORKLOAD_TRUTH_FORMAT, waits->pid, waits->tid, waits->comm, waits->what,
	       waits->function, waits->count, waits->requested_ns, waits->bracket_ns,
	       waits->voluntary, waits->involuntary);
}

static inline uint64_t workload__now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * WORKLOAD_NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

static inline pid_t workload__tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

static inline void workload__fail(const char *what, int err)
{
	fprintf(stderr, "workload: %s: %s\n", what, strerror(err));
	exit(1);
}

/*
 * A system call without libc around it: libc's functions have no frame pointers, so a
 * walk through them skips or garbles the frame that called. The innermost user frame is
 * then the function that this is expanded in.
 */
#if defined(__x86_64__)
static inline __attribute__((always_inline)) long workload__syscall(long nr, long a, long b, long c,
								    long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__)
static inline __attribute__((always_inline)) long workload__syscall(long nr, long a, long b, long c,
								    long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
#else
static inline __attribute__((always_inline)) long workload__syscall(long nr, long a, long b, long c,
								    long d, long e, long f)
{
	long result = syscall(nr, a, b, c, d, e, f);

	return result < 0 ? -errno : result;
}
#endif

/* Sleeps for ns; on x86-64 and arm64 the caller is the innermost user frame. */
static inline __attribute__((always_inline)) void workload__nanosleep(uint64_t ns)
{
	struct timespec rest = {
		.tv_sec = (time_t)(ns / WORKLOAD_NSEC_PER_SEC),
		.tv_nsec = (long)(ns % WORKLOAD_NSEC_PER_SEC),
	};

	while (workload__syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&rest, (long)&rest,
				 0, 0) == -EINTR)
		;
}

/* The kernel's counts of this thread's context switches; the call has no frame of its own. */
static inline __attribute__((always_inline)) void workload__usage(struct rusage *usage)
{
	workload__syscall(SYS_getrusage, RUSAGE_THREAD, (long)usage, 0, 0, 0, 0);
}

/* Brackets around waits: waits__begin() before the first, waits__end() after the last. */
static inline __attribute__((always_inline)) void waits__begin(struct waits *waits,
							       const char *what,
							       const char *function)
{
	struct rusage usage;

	waits->pid = getpid();
	waits->tid = workload__tid();
	waits->what = what;
	waits->function = function;
	workload__usage(&usage);
	waits->voluntary = (unsigned long long)usage.ru_nvcsw;
	waits->involuntary = (unsigned long long)usage.ru_nivcsw;
}

static inline __attribute__((always_inline)) void waits__end(struct waits *waits)
{
	struct rusage usage;

	workload__usage(&usage);
	waits->voluntary = (unsigned long long)usage.ru_nvcsw - waits->voluntary;
	waits->involuntary = (unsigned long long)usage.ru_nivcsw - waits->involuntary;
}

/* A clock in ns, without libc around the call. */
static inline __attribute__((always_inline)) uint64_t workload__clock(clockid_t clock)
{
	struct timespec now;

	workload__syscall(SYS_clock_gettime, clock, (long)&now, 0, 0, 0, 0);
	return (uint64_t)now.tv_sec * WORKLOAD_NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

/*
 * Sleeps for ns and adds the lower bound of the time off the CPU to requested: the time that
 * passed, less the thread's own time on the CPU. So it is right even if the thread comes late to
 * its own sleep; stolen time is missing only where the kernel does not charge it to the thread. All
 * of it is inlined into the calling function; the caller of that measures the bracket around it.
 */
static inline __attribute__((always_inline)) void waits__sleep(struct waits *waits, uint64_t ns)
{
	uint64_t cpu = workload__clock(CLOCK_THREAD_CPUTIME_ID);
	uint64_t wall = workload__clock(CLOCK_MONOTONIC);

	workload__nanosleep(ns);
	wall = workload__clock(CLOCK_MONOTONIC) - wall;
	cpu = workload__clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
	waits->requested_ns += wall > cpu ? wall - cpu : 0;
	waits->count++;
}

/* How often this thread has left its CPU by itself, by the kernel's count. */
static inline __attribute__((always_inline)) unsigned long long workload__voluntary(void)
{
	struct rusage usage;

	workload__usage(&usage);
	return (unsigned long long)usage.ru_nvcsw;
}

/* How long the calling thread has waited for a CPU, in ns: the second number of schedstat. */
static inline unsigned long long workload__run_delay(void)
{
	unsigned long long on_cpu, delay;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", workload__tid());
	file = fopen(path, "re");
	if (!file)
		workload__fail(path, errno);
	if (fscanf(file, "%llu %llu", &on_cpu, &delay) != 2)
		workload__fail(path, EINVAL);
	fclose(file);
	return delay;
}

/*
 * True once the thread sleeps and its count of voluntary switches has grown beyond before: only
 * then does a waker measure a part of the wait. The sleeping state alone is not enough: the thread
 * sets it before it leaves its CPU, and may be preempted for long in between.
 */
static inline bool workload__sleeps(pid_t tid, unsigned long long before)
{
	static const char key[] = "\nvoluntary_ctxt_switches:";
	char path[64], text[4096];
	const char *state, *count;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0)
		return false;
	text[len] = '\0';
	state = strstr(text, "\nState:\t");
	count = strstr(text, key);
	return state && state[strlen("\nState:\t")] == 'S' && count &&
	       strtoull(count + strlen(key), NULL, 10) > before;
}

/* Set by --hold: threads that are done rest until the workload may end; see struct rest. */
static bool workload__holds;

/* A number that the command line may set: --NAME VALUE. */
struct workload_option {
	const char *name;
	unsigned long value;
};

/*
 * Reads the command line into options, which ends with a name of NULL. Returns true if
 * --wait was given. Ends the program if an option is unknown. Not all workloads hold.
 */
static inline bool workload__parse(int argc, char **argv, struct workload_option *options)
{
	bool wait = false;

	for (int i = 1; i < argc; i++) {
		struct workload_option *option = options;

		if (!strcmp(argv[i], "--wait")) {
			wait = true;
			continue;
		}
		if (!strcmp(argv[i], "--hold")) {
			workload__holds = true;
			continue;
		}
		while (option->name &&
		       (strncmp(argv[i], "--", 2) || strcmp(argv[i] + 2, option->name)))
			option++;
		if (!option->name || i + 1 == argc) {
			fprintf(stderr, "usage: %s [--wait]", argv[0]);
			for (option = options; option->name; option++)
				fprintf(stderr, " [--%s %lu]", option->name, option->value);
			fputc('\n', stderr);
			exit(2);
		}
		option->value = strtoul(argv[++i], NULL, 10);
	}
	return wait;
}

/* Says that all is set up and, if wait, blocks until a line (or the end) comes on stdin. */
static inline void workload__ready(bool wait)
{
	char c;

	printf("READY\n");
	fflush(stdout);
	while (wait && read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
}

/*
 * Where threads or processes rest when they are done: the kernel's counts of their switches no
 * longer change there, so a reader gets their final values.
 */
struct rest {
	int ends[2];  /* nothing is ever written: it is closed */
	int *resting; /* in memory that processes share */
};

static inline void rest__init(struct rest *rest, int *resting)
{
	rest->resting = resting;
	if (pipe(rest->ends) < 0)
		workload__fail("pipe", errno);
}

/* Called by a thread that is done. In a process of its own, the other end is closed already. */
static inline void rest__enter(struct rest *rest)
{
	char c;

	if (!workload__holds)
		return;
	__atomic_add_fetch(rest->resting, 1, __ATOMIC_RELEASE);
	while (workload__syscall(SYS_read, rest->ends[0], (long)&c, 1, 0, 0, 0) == -EINTR)
		;
}

/* Waits until nr rest, says RESTING, and lets them go once a line (or the end) is on stdin. */
static inline void rest__end(struct rest *rest, int nr)
{
	char c;

	if (!workload__holds)
		return;
	while (__atomic_load_n(rest->resting, __ATOMIC_ACQUIRE) != nr)
		workload__nanosleep(WORKLOAD_NSEC_PER_MSEC);
	printf("RESTING\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
	close(rest->ends[1]);
}

/*
 * Says that all is done and, if linger, blocks until stdin ends, so that the process can still be
 * looked at with all its waits behind it.
 */
static inline void workload__done(bool linger)
{
	char c;

	if (!linger)
		return;
	printf("DONE\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) == 1)
		;
}

/* A gate that threads stand at until all may start. */
struct gate {
	pthread_mutex_t lock;
	pthread_cond_t opened;
	bool open;
};

#define GATE_INIT                                                                                  \
	{                                                                                          \
		.lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER              \
	}

static inline void gate__pass(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	while (!gate->open)
		pthread_cond_wait(&gate->opened, &gate->lock);
	pthread_mutex_unlock(&gate->lock);
}

static inline void gate__open(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	gate->open = true;
	pthread_cond_broadcast(&gate->opened);
	pthread_mutex_unlock(&gate->lock);
}

#endif /* DENET_WORKLOAD_H */
