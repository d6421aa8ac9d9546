/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reasons of blocks: a child process waits on futexes, files and sockets that the test made.
 * tests: parallel
 */
#include "common/harness.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "capture/idle.h"
#include "common/test_capture.h"
#include "common/switches.h"

#define WAIT_MS 30
#define WAIT_NS (WAIT_MS * NSEC_PER_MSEC)

/* Progress of the child, in memory that the parent reads while the child waits. */
struct shared {
	uint32_t futex;
	uint32_t round;	 /* number of the next wait, from 1 */
	uint64_t before; /* voluntary switches before that wait */
};

/* Objects that the child waits on, made before the fork, so that both sides know them. */
struct objects {
	struct shared *shared;
	int pipe[2];
	int listener;
	int client, server; /* a connection */
	int locked;	    /* a file on which the parent has the lock */
	int epoll;
	char path[64];
	char listen_at[32];
	char client_at[32];
	char server_at[32];
};

FIXTURE(reason)
{
	struct objects objects;
	struct test_capture test_capture;
	struct capture_options options;
	pid_t child;
	int go;
};

static void name_socket(int fd, char *name, size_t size, bool peer)
{
	struct sockaddr_in address = { 0 };
	socklen_t len = sizeof(address);

	if (peer)
		getpeername(fd, (struct sockaddr *)&address, &len);
	else
		getsockname(fd, (struct sockaddr *)&address, &len);
	snprintf(name, size, "127.0.0.1:%u", ntohs(address.sin_port));
}

static bool make_sockets(struct objects *objects)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(address);

	objects->listener = socket(AF_INET, SOCK_STREAM, 0);
	objects->client = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(objects->listener, (struct sockaddr *)&address, len) ||
	    listen(objects->listener, 1) ||
	    getsockname(objects->listener, (struct sockaddr *)&address, &len) ||
	    connect(objects->client, (struct sockaddr *)&address, len))
		return false;
	objects->server = accept(objects->listener, NULL, NULL);
	name_socket(objects->listener, objects->listen_at, sizeof(objects->listen_at), false);
	name_socket(objects->client, objects->client_at, sizeof(objects->client_at), false);
	name_socket(objects->client, objects->server_at, sizeof(objects->server_at), true);
	return objects->server >= 0;
}

static bool make_objects(struct objects *objects)
{
	struct epoll_event event = { .events = EPOLLIN };
	int own;

	objects->shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			       0);
	snprintf(objects->path, sizeof(objects->path), "/tmp/denet-reason-%d", getpid());
	own = open(objects->path, O_RDWR | O_CREAT, 0600);
	objects->locked = open(objects->path, O_RDWR);
	objects->epoll = epoll_create1(0);
	return objects->shared != MAP_FAILED && !pipe(objects->pipe) && own >= 0 &&
	       objects->locked >= 0 && !flock(own, LOCK_EX) &&
	       !epoll_ctl(objects->epoll, EPOLL_CTL_ADD, objects->pipe[0], &event) &&
	       make_sockets(objects);
}

static void interrupt(int signal)
{
	(void)signal;
}

static uint64_t own_voluntary(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)usage.ru_nvcsw;
}

/* Announces the next call, which is interrupted once it has waited for WAIT_MS. */
static void begin_round(struct shared *shared)
{
	shared->before = own_voluntary();
	__atomic_add_fetch(&shared->round, 1, __ATOMIC_RELEASE);
}

struct fault {
	int fd;
	char *page;
	pid_t tid;	 /* of the thread that wants it */
	uint64_t before; /* how often it had left its CPU before */
};

/* Fills the page of the other thread once that has waited for it long enough. */
static void *serve_fault(void *arg)
{
	const struct timespec rest = { .tv_nsec = WAIT_NS };
	struct fault *fault = arg;
	struct uffdio_zeropage zero = { .range = { (uintptr_t)fault->page, 4096 } };
	struct pollfd ready = { .fd = fault->fd, .events = POLLIN };
	struct switches switches;

	poll(&ready, 1, -1);
	while (switches__read(fault->tid, &switches) >= 0 && switches.voluntary <= fault->before)
		sched_yield();
	nanosleep(&rest, NULL);
	ioctl(fault->fd, UFFDIO_ZEROPAGE, &zero);
	return NULL;
}

/* A thread touches a page that is not there. False: the kernel has no userfaultfd. */
static bool wait_for_page(void)
{
	struct fault fault = { .fd = (int)syscall(SYS_userfaultfd, O_NONBLOCK) };
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	pthread_t thread;

	fault.page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range = (struct uffdio_range){ (uintptr_t)fault.page, 4096 };
	if (fault.fd < 0 || ioctl(fault.fd, UFFDIO_API, &api) ||
	    ioctl(fault.fd, UFFDIO_REGISTER, &range))
		return false;
	fault.tid = getpid();
	if (pthread_create(&thread, NULL, serve_fault, &fault))
		return false;
	fault.before = own_voluntary();
	*(volatile char *)fault.page;
	pthread_join(thread, NULL);
	return true;
}

/* Waits in each way, one after the other, until it is interrupted. */
static void wait_all(struct objects *objects)
{
	const struct timespec rest = { .tv_sec = 3600 };
	struct pollfd polled = { .fd = objects->pipe[0], .events = POLLIN };
	const struct sigaction action = { .sa_handler = interrupt };
	struct shared *shared = objects->shared;
	struct epoll_event event;
	char byte;
	int ret = 0;

	sigaction(SIGALRM, &action, NULL);
	begin_round(shared);
	syscall(SYS_futex, &shared->futex, FUTEX_WAIT, 0, NULL, NULL, 0);
	begin_round(shared);
	ret |= poll(&polled, 1, -1);
	begin_round(shared);
	ret |= epoll_wait(objects->epoll, &event, 1, -1);
	begin_round(shared);
	nanosleep(&rest, NULL);
	begin_round(shared);
	ret |= (int)recv(objects->client, &byte, 1, 0);
	begin_round(shared);
	ret |= accept(objects->listener, NULL, NULL);
	begin_round(shared);
	ret |= (int)read(objects->pipe[0], &byte, 1);
	begin_round(shared);
	ret |= flock(objects->locked, LOCK_EX);
	__atomic_store_n(&shared->round, 0, __ATOMIC_RELEASE);
	_exit(wait_for_page() ? 0 : ret ? 77 : 78);
}

/* By a call of its own: however long the go takes, no wait that is looked for is another one. */
static bool wait_for_go(int gate)
{
	char byte;
	struct iovec piece = { &byte, 1 };

	return readv(gate, &piece, 1) == 1;
}

/* State of the child's current wait, as seen by the test. */
struct hist_cmd {
	uint32_t round;
	uint64_t asleep; /* asleep since this time at the latest; 0: not yet */
};

/*
 * Interrupts a wait that has lasted long enough. A timer would not do: if the child lost its CPU on
 * the way into the wait, the wait would be shorter, or there would be none.
 */
static void hist_cmd__look(struct hist_cmd *watch, const struct shared *shared, pid_t child)
{
	uint32_t round = __atomic_load_n(&shared->round, __ATOMIC_ACQUIRE);
	struct switches switches;

	if (round != watch->round)
		*watch = (struct hist_cmd){ .round = round };
	if (!round)
		return;
	if (!watch->asleep) {
		if (switches__read(child, &switches) == 1 && switches.voluntary > shared->before)
			watch->asleep = clock__now_ns();
		return;
	}
	if (clock__now_ns() - watch->asleep < WAIT_NS)
		return;
	kill(child, SIGALRM);
	watch->asleep = 0;
}

FIXTURE_SETUP(reason)
{
	int gate[2];

	SKIP_FOR(test_capture__refused());
	ASSERT_TRUE(make_objects(&self->objects));
	ASSERT_EQ(0, pipe(gate));
	self->child = fork();
	ASSERT_LE(0, self->child);
	if (!self->child) {
		close(gate[1]);
		if (!wait_for_go(gate[0]))
			_exit(1);
		wait_all(&self->objects);
	}
	close(gate[0]);
	self->go = gate[1];
	capture_options__init(&self->options);
	self->options.reasons = true;
	self->options.targets.pids = &self->child;
	self->options.targets.nr_pids = 1;
	self->options.filter.states = capture__all_states();
}

FIXTURE_TEARDOWN(reason)
{
	const struct objects *objects = &self->objects;
	const int fds[] = { objects->pipe[0], objects->pipe[1], objects->listener, objects->client,
			    objects->server,  objects->locked,	objects->epoll };

	if (!self->child)
		return;
	kill(self->child, SIGKILL);
	waitpid(self->child, NULL, 0);
	test_capture__free(&self->test_capture);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		close(fds[i]);
	munmap(objects->shared, 4096);
	unlink(objects->path);
}

/* Records the child from its first wait to its end; returns its exit status. */
static int record(FIXTURE_DATA(reason) * self, uint64_t threshold_ns)
{
	struct hist_cmd watch = { 0 };
	int status = 0, err;

	self->options.threshold_ns = threshold_ns;
	err = test_capture__open(&self->test_capture, &self->options);
	if (err)
		return err;
	if (write(self->go, "g", 1) != 1)
		return -errno;
	while (!err && !waitpid(self->child, &status, WNOHANG)) {
		hist_cmd__look(&watch, self->objects.shared, self->child);
		err = test_capture__poll(&self->test_capture, 10, -1);
	}
	close(self->go);
	err = err ? err : test_capture__close(&self->test_capture);
	return err ? err : WEXITSTATUS(status);
}

/* The sample with the longest sleep in the call, or in a page fault if there is no name. */
static const struct sample *longest(const struct test_capture *test_capture, const char *call)
{
	static const struct sample none;
	const struct sample *best = &none;

	for (size_t i = 0; i < test_capture->nr; i++) {
		const struct sample *sample = &test_capture->samples[i];

		if (!sample->reason || sample->state == 'R' || sample->period <= best->period)
			continue;
		if (call ? !strcmp(sample->reason->call, call) && !sample->reason->fault
			 : sample->reason->fault)
			best = sample;
	}
	return best;
}

/* Whether a thread slept in the call: one that was preempted there did not wait for work. */
static bool slept_in(const struct test_capture *test_capture, const char *call)
{
	for (size_t i = 0; i < test_capture->nr; i++) {
		const struct sample *sample = &test_capture->samples[i];

		if (sample->reason && sample->state == 'S' && !strcmp(sample->reason->call, call))
			return true;
	}
	return false;
}

/* True if the sample is one of a wait of ours. */
/* The system calls behind poll(3) and epoll_wait(3); arm64 has only the newer ones. */
#ifdef SYS_poll
#define POLL "poll"
#define EPOLL_WAIT "epoll_wait"
#else
#define POLL "ppoll"
#define EPOLL_WAIT "epoll_pwait"
#endif

static bool long_enough(const struct sample *sample)
{
	return sample->reason && sample->period >= WAIT_NS;
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

static void pipe_name(const struct objects *objects, char *name, size_t size)
{
	struct stat status = { 0 };

	fstat(objects->pipe[0], &status);
	snprintf(name, size, "pipe:[%lu]", (unsigned long)status.st_ino);
}

/* 0: direct samples; 500 ms: sums. */
static const uint64_t thresholds[] = { 0, 500 * NSEC_PER_MSEC };

FIXTURE_VARIANT(reason)
{
	int threshold;
};
FIXTURE_VARIANT_ADD(reason, direct) { .threshold = 0 };
FIXTURE_VARIANT_ADD(reason, summed) { .threshold = 1 };

TEST_F(reason, each_wait_tells_its_call_and_its_object)
{
	const struct objects *objects = &self->objects;
	const struct test_capture *test_capture = &self->test_capture;
	const struct sample *sample;
	struct stat status;
	char name[64];
	int ended;

	SKIP_FOR(test_capture__refused());
	ended = record(self, thresholds[variant->threshold]);
	ASSERT_TRUE(ended == 0 || ended == 77);
	EXPECT_EQ(0, stats__unaccounted_count(&test_capture->stats));
	pipe_name(objects, name, sizeof(name));

	sample = longest(test_capture, "futex");
	ASSERT_TRUE(long_enough(sample));
	EXPECT_TRUE(sample->reason->futex);
	EXPECT_EQ((uintptr_t)&objects->shared->futex, sample->reason->args[0]);
	EXPECT_EQ(SYS_futex, sample->reason->nr);

	sample = longest(test_capture, POLL);
	ASSERT_TRUE(long_enough(sample));
	/* Its array can be read where the thread itself is seen to come back. */
	EXPECT_STREQ(test_capture->at_switch_out ? "" : name, sample->reason->path);

	sample = longest(test_capture, EPOLL_WAIT);
	ASSERT_TRUE(long_enough(sample));
	EXPECT_EQ(objects->epoll, sample->reason->fd);
	EXPECT_STREQ("anon_inode:[eventpoll]", sample->reason->path);

	ASSERT_TRUE(long_enough(longest(test_capture, "clock_nanosleep")));

	sample = longest(test_capture, "recvfrom");
	ASSERT_TRUE(long_enough(sample));
	EXPECT_STREQ(objects->client_at, sample->reason->local);
	EXPECT_STREQ(objects->server_at, sample->reason->remote);

	sample = longest(test_capture, "accept");
	ASSERT_TRUE(long_enough(sample));
	EXPECT_STREQ(objects->listen_at, sample->reason->local);
	EXPECT_STREQ("", sample->reason->remote);

	sample = longest(test_capture, "read");
	ASSERT_TRUE(long_enough(sample));
	EXPECT_STREQ(name, sample->reason->path);

	sample = longest(test_capture, "flock");
	ASSERT_TRUE(long_enough(sample));
	/* In a chroot, the path from the root of the mounts has more in front. */
	EXPECT_TRUE(ends_with(sample->reason->path, objects->path));
	ASSERT_EQ(0, stat(objects->path, &status));
	EXPECT_EQ(status.st_ino, sample->reason->ino);
}

TEST_F(reason, a_page_fault_is_told_from_a_system_call)
{
	const struct sample *sample;
	int ended;

	SKIP_FOR(test_capture__refused());
	ended = record(self, thresholds[variant->threshold]);
	if (ended == 77)
		SKIP(return, "no userfaultfd here");
	ASSERT_EQ(0, ended);
	sample = longest(&self->test_capture, NULL);
	ASSERT_TRUE(long_enough(sample));
	EXPECT_EQ(-1, sample->reason->nr);
	EXPECT_STREQ("", sample->reason->call);
}

TEST_F(reason, without_being_asked_for_no_sample_has_one)
{
	SKIP_FOR(test_capture__refused());
	self->options.reasons = false;
	ASSERT_LE(0, record(self, thresholds[variant->threshold]));
	EXPECT_LE(8, self->test_capture.nr);
	for (size_t i = 0; i < self->test_capture.nr; i++)
		EXPECT_EQ(NULL, self->test_capture.samples[i].reason);
}

TEST_F(reason, waits_for_work_are_left_out_and_counted)
{
	static const char *const idle[] = { "accept" };
	static const char *const kept[] = { "futex", "clock_nanosleep", "recvfrom", "read",
					    "flock", POLL, EPOLL_WAIT };
	const struct test_capture *test_capture = &self->test_capture;
	struct idle_table table;

	SKIP_FOR(test_capture__refused());
	ASSERT_EQ(0, idle_table__init(&table));
	self->options.filter.idle = &table;
	ASSERT_LE(0, record(self, thresholds[variant->threshold]));
	idle_table__free(&table);
	for (size_t i = 0; i < sizeof(idle) / sizeof(idle[0]); i++)
		EXPECT_FALSE(slept_in(test_capture, idle[i]));
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		EXPECT_TRUE(long_enough(longest(test_capture, kept[i])));
	EXPECT_LE(1, test_capture->stats.filtered_idle.count);
	EXPECT_LE(WAIT_NS, test_capture->stats.filtered_idle.ns);
	EXPECT_EQ(0, stats__unaccounted_count(&test_capture->stats));
	EXPECT_EQ(0, stats__unaccounted_ns(&test_capture->stats));
}

TEST_F(reason, a_thread_that_is_still_blocked_tells_its_call_and_its_file)
{
	const struct sample *sample;

	SKIP_FOR(test_capture__refused());
	self->options.threshold_ns = thresholds[variant->threshold];
	ASSERT_EQ(0, test_capture__open(&self->test_capture, &self->options));
	/* The child waits in readv() for its go, which never comes. */
	ASSERT_EQ(0, test_capture__pass_time(&self->test_capture, 20));
	ASSERT_EQ(0, test_capture__close(&self->test_capture));
	sample = longest(&self->test_capture, "readv");
	ASSERT_NE(NULL, sample->reason);
	EXPECT_TRUE(sample->still_blocked);
	EXPECT_EQ(0, strncmp("pipe:[", sample->reason->path, 6));
}

TEST_HARNESS_MAIN
