/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * exits MODE: tasks that end in unusual orders. Prints a line for each whose off-CPU time is of
 * interest: "life TID NAME WAITS AWAY BRACKET". It waited so often, by the kernel's count (a
 * timer may be over before its thread has gone), and for AWAY to BRACKET ns; 0: not known.
 *   thread  a thread sleeps 30 ms in wait_last and exits, twenty times
 *   exec    a thread is blocked in wait_sibling for good when the process becomes naps
 *   kill    a child is blocked in wait_killed for good until it is killed after 50 ms
 *   reuse   pairs of processes with the same PID: "former" sleeps 20 ms in wait_former and
 *           exits, then "latter" sleeps 20 ms in wait_latter; five pairs
 *   first   the first thread ends; eight called "survivor" go on, each sleeps 100 ms in wait_on
 *           six times, or as many as a second argument says
 *   usurp   another thread than the first, which is blocked in wait_sibling, makes the process
 *           naps: it gets the first one's id, and no end of its own
 */
#include "workload.h"

#include <libgen.h>
#include <limits.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define MS WORKLOAD_NSEC_PER_MSEC

KNOWN static void wait_last(void)
{
	workload__nanosleep(30 * MS);
}

KNOWN static void wait_sibling(void)
{
	workload__nanosleep(3600 * WORKLOAD_NSEC_PER_SEC);
}

KNOWN static void wait_killed(void)
{
	workload__nanosleep(3600 * WORKLOAD_NSEC_PER_SEC);
}

KNOWN static void wait_former(void)
{
	workload__nanosleep(20 * MS);
}

KNOWN static void wait_latter(void)
{
	workload__nanosleep(20 * MS);
}

static unsigned long survivor_naps = 6;

KNOWN static void wait_on(void)
{
	for (unsigned long i = 0; i < survivor_naps; i++)
		workload__nanosleep(100 * MS);
}

static void tell_life(int tid, const char *name, unsigned long long waits, uint64_t away,
		      uint64_t bracket)
{
	printf("life %d %s %llu %llu %llu\n", tid, name, waits, (unsigned long long)away,
	       (unsigned long long)bracket);
	fflush(stdout);
}

/*
 * Reports a thread that lives on after its wait, by its own clocks, unless it was preempted as
 * well.
 */
KNOWN static void live_through(const char *name, void (*wait)(void))
{
	struct waits truth = { 0 };
	uint64_t wall, cpu;

	prctl(PR_SET_NAME, name);
	waits__begin(&truth, "nanosleep", "-");
	cpu = workload__clock(CLOCK_THREAD_CPUTIME_ID);
	wall = workload__clock(CLOCK_MONOTONIC);
	wait();
	wall = workload__clock(CLOCK_MONOTONIC) - wall;
	cpu = workload__clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
	waits__end(&truth);
	tell_life(truth.tid, name, truth.voluntary,
		  truth.involuntary || wall < cpu ? 0 : wall - cpu, wall);
}

/* A thread that never returns from its wait, watched by another one. Processes share it. */
struct victim {
	uint64_t begin;
	unsigned long long before; /* how often it had left its CPU before it waited */
	int tid;		   /* 0: it is not about to wait */
};

KNOWN static void die_in(struct victim *victim, const char *name, void (*wait)(void))
{
	prctl(PR_SET_NAME, name);
	victim->begin = workload__now();
	victim->before = workload__voluntary();
	__atomic_store_n(&victim->tid, workload__tid(), __ATOMIC_RELEASE);
	wait();
}

/* Returns once it has waited for ns at least, how long that was. */
static uint64_t watch(struct victim *victim, uint64_t ns)
{
	uint64_t asleep;
	int tid;

	while (!(tid = __atomic_load_n(&victim->tid, __ATOMIC_ACQUIRE)) ||
	       !workload__sleeps(tid, victim->before))
		workload__nanosleep(100000);
	asleep = workload__now();
	workload__nanosleep(ns);
	return workload__now() - asleep;
}

KNOWN static void *start_last(void *arg)
{
	live_through("brief", wait_last);
	return arg;
}

KNOWN static void *start_survivor(void *arg)
{
	live_through("survivor", wait_on);
	return arg;
}

KNOWN static void *start_sibling(void *arg)
{
	die_in(arg, "sibling", wait_sibling);
	return NULL;
}

static pthread_t start(void *(*function)(void *), void *arg)
{
	pthread_t thread;
	int err = pthread_create(&thread, NULL, function, arg);

	if (err)
		workload__fail("pthread_create", err);
	return thread;
}

static void run_threads(void)
{
	for (int i = 0; i < 20; i++)
		pthread_join(start(start_last, NULL), NULL);
}

static void run_first(const char *naps)
{
	if (naps)
		survivor_naps = strtoul(naps, NULL, 10);
	for (int i = 0; i < 8; i++)
		start(start_survivor, NULL);
	pthread_exit(NULL);
}

static struct victim sibling;
static char naps_path[PATH_MAX];

static void become_naps(const char *count)
{
	uint64_t away = watch(&sibling, 50 * MS);

	tell_life(sibling.tid, "sibling", 1, away, 0);
	execl(naps_path, "naps", "1", count, "10", "counts", NULL);
	workload__fail(naps_path, errno);
}

static void run_exec(void)
{
	start(start_sibling, &sibling);
	become_naps("3");
}

static void *start_usurper(void *arg)
{
	prctl(PR_SET_NAME, "usurper");
	become_naps("30");
	return arg;
}

static void run_usurp(void)
{
	start(start_usurper, NULL);
	die_in(&sibling, "sibling", wait_sibling);
}

static void run_kill(void)
{
	struct victim *victim = mmap(NULL, sizeof(*victim), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t away;
	pid_t child;

	if (victim == MAP_FAILED)
		workload__fail("mmap", errno);
	child = fork();
	if (child < 0)
		workload__fail("fork", errno);
	if (!child) {
		die_in(victim, "victim", wait_killed);
		_exit(0);
	}
	away = watch(victim, 50 * MS);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	tell_life(child, "victim", 1, away, workload__now() - victim->begin);
}

/* A child with the PID that is asked for; 0: any. */
static pid_t fork_as(pid_t pid)
{
	pid_t ids[1] = { pid };
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = pid ? (uint64_t)(uintptr_t)ids : 0,
		.set_tid_size = pid ? 1 : 0,
	};
	pid_t child = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (child < 0)
		workload__fail("clone3", errno);
	return child;
}

static void run_reuse(void)
{
	pid_t pid;

	for (int i = 0; i < 5; i++) {
		pid = fork_as(0);
		if (!pid) {
			live_through("former", wait_former);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		if (!fork_as(pid)) {
			live_through("latter", wait_latter);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	snprintf(naps_path, sizeof(naps_path), "%s/naps", dirname(argv[0]));
	if (!strcmp(mode, "thread"))
		run_threads();
	else if (!strcmp(mode, "exec"))
		run_exec();
	else if (!strcmp(mode, "kill"))
		run_kill();
	else if (!strcmp(mode, "reuse"))
		run_reuse();
	else if (!strcmp(mode, "first"))
		run_first(argc > 2 ? argv[2] : NULL);
	else if (!strcmp(mode, "usurp"))
		run_usurp();
	else
		workload__fail("exits thread|exec|kill|reuse|first|usurp", EINVAL);
	return 0;
}
