/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small server: workers that wait for work in epoll_wait, in accept and on a condition
 * variable, and one that holds everything up: it waits for a file's lock. Once all of them
 * sleep, they do so for --ms milliseconds. The client is another process, or, with --inside 1, a
 * thread of this one.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "workload.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static bool over;
static int listener;
static int epoll;

enum { CONDVAR, ACCEPT, EPOLL, LOCKED, NR_WORKERS };

/* How a worker is known to sleep: it has left its CPU since it was about to. */
static struct {
	int tid; /* 0: it is not about to */
	unsigned long long before;
} workers[NR_WORKERS];

static void about_to_wait(int worker, const char *name)
{
	prctl(PR_SET_NAME, name);
	workers[worker].before = workload__voluntary();
	__atomic_store_n(&workers[worker].tid, workload__tid(), __ATOMIC_RELEASE);
}

static void wait_until_asleep(int worker)
{
	int tid;

	while (!(tid = __atomic_load_n(&workers[worker].tid, __ATOMIC_ACQUIRE)) ||
	       !workload__sleeps(tid, workers[worker].before))
		workload__nanosleep(100000);
}

static void *wait_for_job(void *arg)
{
	about_to_wait(CONDVAR, "condvar");
	pthread_mutex_lock(&mutex);
	while (!over)
		pthread_cond_wait(&work, &mutex);
	pthread_mutex_unlock(&mutex);
	return arg;
}

static void *wait_for_client(void *arg)
{
	about_to_wait(ACCEPT, "accept");
	close(accept(listener, NULL, NULL));
	return arg;
}

static void *wait_for_event(void *arg)
{
	struct epoll_event event;

	about_to_wait(EPOLL, "epoll");
	if (epoll_wait(epoll, &event, 1, -1) < 0)
		workload__fail("epoll_wait", errno);
	return arg;
}

static void *wait_for_lock(void *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	about_to_wait(LOCKED, "locked");
	if (fd < 0 || flock(fd, LOCK_EX))
		workload__fail("flock", errno);
	return NULL;
}

static int open_listener(struct sockaddr_in *address)
{
	socklen_t len = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*address = (struct sockaddr_in){ .sin_family = AF_INET,
					 .sin_addr = { htonl(INADDR_LOOPBACK) } };
	if (fd < 0 || bind(fd, (struct sockaddr *)address, len) || listen(fd, 1) ||
	    getsockname(fd, (struct sockaddr *)address, &len))
		workload__fail("listen", errno);
	return fd;
}

static void be_client(const struct sockaddr_in *address)
{
	if (connect(socket(AF_INET, SOCK_STREAM, 0), (const struct sockaddr *)address,
		    sizeof(*address)))
		workload__fail("connect", errno);
}

static void start_client(const struct sockaddr_in *address)
{
	pid_t pid = fork();

	if (pid < 0)
		workload__fail("fork", errno);
	if (!pid) {
		be_client(address);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* Work for all of them. */
static void end(const struct sockaddr_in *address, bool inside, int own, int wake)
{
	pthread_mutex_lock(&mutex);
	over = true;
	pthread_cond_broadcast(&work);
	pthread_mutex_unlock(&mutex);
	if (inside)
		be_client(address);
	else
		start_client(address);
	if (write(wake, "w", 1) != 1)
		workload__fail("wake", errno);
	flock(own, LOCK_UN);
}

int main(int argc, char **argv)
{
	struct workload_option options[] = { { "ms", 200 }, { "inside", 0 }, { 0 } };
	struct epoll_event event = { .events = EPOLLIN };
	char path[] = "/tmp/denet-pool-XXXXXX";
	struct sockaddr_in address;
	pthread_t threads[NR_WORKERS];
	int fds[2], own;

	workload__parse(argc, argv, options);
	own = mkstemp(path);
	listener = open_listener(&address);
	epoll = epoll_create1(0);
	if (own < 0 || flock(own, LOCK_EX) || pipe(fds) ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, fds[0], &event))
		workload__fail("pool", errno);
	if (pthread_create(&threads[CONDVAR], NULL, wait_for_job, NULL) ||
	    pthread_create(&threads[ACCEPT], NULL, wait_for_client, NULL) ||
	    pthread_create(&threads[EPOLL], NULL, wait_for_event, NULL) ||
	    pthread_create(&threads[LOCKED], NULL, wait_for_lock, path))
		workload__fail("pthread_create", errno);
	for (int i = 0; i < NR_WORKERS; i++)
		wait_until_asleep(i);
	workload__nanosleep(options[0].value * WORKLOAD_NSEC_PER_MSEC);
	end(&address, options[1].value, own, fds[1]);
	for (int i = 0; i < NR_WORKERS; i++)
		pthread_join(threads[i], NULL);
	printf("path %s port %u\n", path, ntohs(address.sin_port));
	unlink(path);
	return 0;
}
