/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits of as many kinds as fit into a file, for kernel stacks of many shapes: each kind is
 * repeated in a process of its own for --ms milliseconds, some with a second thread. Kinds that the
 * kernel lacks are listed on stderr; fewer than --least kinds are a failure.
 */
#include "workload.h"

#include <arpa/inet.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/membarrier.h>
#include <linux/userfaultfd.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#define SHORT_NS 200000ULL
#define PAGE 4096
#define BIG (1 << 20)
#define NOT_HERE 77 /* exit status of a kind that the kernel does not have */
#define RING_ENTRIES 4

/* State of a kind between its waits. */
struct room {
	int fds[2];  /* a kind's own, whichever */
	int back[2]; /* the way back, where two threads play ping-pong */
	int id;	     /* of System V */
	pid_t child;
	char *pages;
	pthread_mutex_t mutex;
	struct io_uring_sqe *sqes;
	unsigned int *sq_tail, *sq_array, *cq_head, *cq_tail;
};

/* begin: false if the kernel has not got it. once: one wait, or a few. help: for the other side. */
struct kind {
	const char *name;
	bool (*begin)(struct room *room);
	void (*once)(struct room *room);
	void (*help)(struct room *room);
};

static void handle_nothing(int signal)
{
	(void)signal;
}

static void rest(void)
{
	workload__nanosleep(SHORT_NS);
}

static void read_some(int fd)
{
	char bytes[512];

	if (read(fd, bytes, sizeof(bytes)) < 0 && errno != EINTR && errno != EAGAIN)
		workload__fail("read", errno);
}

static void write_one(int fd)
{
	if (write(fd, "x", 1) < 0 && errno != EINTR)
		workload__fail("write", errno);
}

/* A file of a few pages without a name. */
static int open_file(void)
{
	char path[] = "/tmp/denet-kinds-XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0 || ftruncate(fd, (off_t)16 * PAGE))
		workload__fail(path, errno);
	unlink(path);
	return fd;
}

static pid_t fork_child(void)
{
	pid_t pid = fork();

	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

/* Time that passes by itself. */

static void wait_nanosleep(struct room *room)
{
	(void)room;
	rest();
}

static void wait_poll(struct room *room)
{
	struct pollfd fd = { .fd = -1 };

	(void)room;
	poll(&fd, 1, 1);
}

static void wait_select(struct room *room)
{
	struct timeval limit = { .tv_usec = 200 };

	(void)room;
	select(0, NULL, NULL, NULL, &limit);
}

static bool begin_epoll(struct room *room)
{
	room->fds[0] = epoll_create1(0);
	return room->fds[0] >= 0;
}

static void wait_epoll(struct room *room)
{
	struct epoll_event event;

	epoll_wait(room->fds[0], &event, 1, 1);
}

static void wait_futex(struct room *room)
{
	struct timespec limit = { .tv_nsec = (long)SHORT_NS };
	int word = 0;

	(void)room;
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &limit, NULL, 0);
}

static bool begin_timerfd(struct room *room)
{
	struct itimerspec every = { .it_interval.tv_nsec = (long)SHORT_NS,
				    .it_value.tv_nsec = (long)SHORT_NS };

	room->fds[0] = timerfd_create(CLOCK_MONOTONIC, 0);
	return room->fds[0] >= 0 && !timerfd_settime(room->fds[0], 0, &every, NULL);
}

static void wait_read(struct room *room)
{
	read_some(room->fds[0]);
}

/* Signals. */

static bool begin_timer(struct room *room)
{
	struct itimerval every = { .it_interval.tv_usec = 300, .it_value.tv_usec = 300 };
	struct sigaction action = { .sa_handler = handle_nothing };

	(void)room;
	return !sigaction(SIGALRM, &action, NULL) && !setitimer(ITIMER_REAL, &every, NULL);
}

static void wait_handler(struct room *room)
{
	(void)room;
	pause();
}

static void wait_sigtimedwait(struct room *room)
{
	struct timespec limit = { .tv_nsec = (long)SHORT_NS };
	sigset_t set;

	(void)room;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigtimedwait(&set, NULL, &limit);
}

static bool begin_signalfd(struct room *room)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	room->fds[0] = signalfd(-1, &set, 0);
	return room->fds[0] >= 0 && begin_timer(room);
}

static bool begin_stop(struct room *room)
{
	room->child = fork_child();
	while (!room->child)
		rest();
	return room->child > 0;
}

static void wait_stop(struct room *room)
{
	int status;

	kill(room->child, SIGSTOP);
	waitpid(room->child, &status, WUNTRACED);
	kill(room->child, SIGCONT);
	waitpid(room->child, &status, WCONTINUED);
}

static bool begin_ptrace(struct room *room)
{
	room->child = fork_child();
	if (!room->child) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(1);
		for (;;)
			raise(SIGSTOP);
	}
	return room->child > 0;
}

static void wait_ptrace(struct room *room)
{
	int status = 0;

	if (waitpid(room->child, &status, 0) < 0 || !WIFSTOPPED(status))
		workload__fail("ptrace", ECHILD);
	ptrace(PTRACE_CONT, room->child, NULL, NULL);
}

/* Births and deaths. */

static void wait_forks(struct room *room)
{
	(void)room;
	for (int i = 0; i < 4; i++) {
		if (!fork_child()) {
			rest();
			_exit(0);
		}
	}
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

static void wait_exec(struct room *room)
{
	char name[] = "true", *argv[] = { name, NULL }, *env[] = { NULL };
	pid_t pid;
	int err;

	(void)room;
	err = posix_spawnp(&pid, name, NULL, NULL, argv, env);
	if (err)
		workload__fail(name, err);
	waitpid(pid, NULL, 0);
}

static void *be_short(void *arg)
{
	rest();
	return arg;
}

static void wait_threads(struct room *room)
{
	pthread_t threads[4];

	(void)room;
	for (int i = 0; i < 4; i++) {
		if (pthread_create(&threads[i], NULL, be_short, NULL))
			workload__fail("pthread_create", errno);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

/* Two threads and a pair of descriptors. */

static void wait_ball(struct room *room)
{
	write_one(room->back[1]);
	read_some(room->fds[0]);
}

static void return_ball(struct room *room)
{
	read_some(room->back[0]);
	write_one(room->fds[1]);
}

static bool begin_pipes(struct room *room)
{
	return !pipe(room->fds) && !pipe(room->back);
}

static bool begin_streams(struct room *room)
{
	return !socketpair(AF_UNIX, SOCK_STREAM, 0, room->fds) &&
	       !socketpair(AF_UNIX, SOCK_STREAM, 0, room->back);
}

static bool begin_datagrams(struct room *room)
{
	return !socketpair(AF_UNIX, SOCK_DGRAM, 0, room->fds) &&
	       !socketpair(AF_UNIX, SOCK_DGRAM, 0, room->back);
}

static bool begin_events(struct room *room)
{
	room->fds[0] = room->fds[1] = eventfd(0, 0);
	return room->fds[0] >= 0;
}

static void wait_event(struct room *room)
{
	uint64_t events;

	if (read(room->fds[0], &events, sizeof(events)) < 0)
		workload__fail("eventfd", errno);
}

static void send_event(struct room *room)
{
	uint64_t one = 1;

	rest();
	if (write(room->fds[1], &one, sizeof(one)) < 0)
		workload__fail("eventfd", errno);
}

static bool begin_full_pipe(struct room *room)
{
	room->pages = calloc(1, BIG);
	return room->pages && !pipe(room->fds);
}

static void wait_full_pipe(struct room *room)
{
	if (write(room->fds[1], room->pages, BIG / 4) < 0)
		workload__fail("write", errno);
}

static void empty_pipe(struct room *room)
{
	if (read(room->fds[0], room->pages, BIG / 8) < 0)
		workload__fail("read", errno);
}

static void wait_splice(struct room *room)
{
	write_one(room->back[1]);
	if (splice(room->fds[0], NULL, room->id, NULL, PAGE, 0) < 0)
		workload__fail("splice", errno);
}

static bool begin_splice(struct room *room)
{
	room->id = open("/dev/null", O_WRONLY | O_CLOEXEC);
	return room->id >= 0 && begin_pipes(room);
}

static bool begin_tcp(struct room *room)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	room->fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	return room->fds[0] >= 0 &&
	       !bind(room->fds[0], (const struct sockaddr *)&address, sizeof(address)) &&
	       !listen(room->fds[0], 16);
}

static void wait_connect(struct room *room)
{
	struct linger abort = { .l_onoff = 1 };
	struct sockaddr_in address;
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || getsockname(room->fds[0], (struct sockaddr *)&address, &size) ||
	    connect(fd, (const struct sockaddr *)&address, size))
		workload__fail("connect", errno);
	read_some(fd);
	/* No port is kept in TIME_WAIT. */
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &abort, sizeof(abort));
	close(fd);
}

static void accept_one(struct room *room)
{
	int fd = accept(room->fds[0], NULL, NULL);

	if (fd < 0)
		workload__fail("accept", errno);
	rest();
	write_one(fd);
	close(fd);
}

static bool begin_terminal(struct room *room)
{
	int unlocked = 0, number;
	char path[32];

	room->fds[1] = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (room->fds[1] < 0 || ioctl(room->fds[1], TIOCSPTLCK, &unlocked) ||
	    ioctl(room->fds[1], TIOCGPTN, &number))
		return false;
	snprintf(path, sizeof(path), "/dev/pts/%d", number);
	room->fds[0] = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	return room->fds[0] >= 0;
}

static void type_line(struct room *room)
{
	char echo[64];

	rest();
	if (write(room->fds[1], "x\n", 2) < 0 || read(room->fds[1], echo, sizeof(echo)) < 0)
		workload__fail("terminal", errno);
}

static bool begin_inotify(struct room *room)
{
	char path[] = "/tmp/denet-kinds-XXXXXX";

	room->fds[1] = mkstemp(path);
	room->fds[0] = inotify_init1(0);
	if (room->fds[1] < 0 || room->fds[0] < 0 ||
	    inotify_add_watch(room->fds[0], path, IN_MODIFY) < 0)
		return false;
	unlink(path);
	return true;
}

static void touch_file(struct room *room)
{
	rest();
	if (pwrite(room->fds[1], "x", 1, 0) < 0)
		workload__fail("write", errno);
}

/* Locks, which both threads take. */

static bool begin_two_files(struct room *room)
{
	char path[64];

	room->fds[0] = open_file();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", room->fds[0]);
	room->fds[1] = open(path, O_RDWR | O_CLOEXEC);
	return room->fds[1] >= 0;
}

static void hold_flock(int fd)
{
	while (flock(fd, LOCK_EX) && errno == EINTR)
		;
	rest();
	flock(fd, LOCK_UN);
}

static void wait_flock(struct room *room)
{
	hold_flock(room->fds[0]);
}

static void help_flock(struct room *room)
{
	hold_flock(room->fds[1]);
}

static void hold_record(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_len = 1 };

	while (fcntl(fd, F_OFD_SETLKW, &lock) && errno == EINTR)
		;
	rest();
	lock.l_type = F_UNLCK;
	fcntl(fd, F_OFD_SETLKW, &lock);
}

static void wait_record(struct room *room)
{
	hold_record(room->fds[0]);
}

static void help_record(struct room *room)
{
	hold_record(room->fds[1]);
}

static bool begin_mutex(struct room *room)
{
	pthread_mutexattr_t inherits;

	pthread_mutexattr_init(&inherits);
	pthread_mutexattr_setprotocol(&inherits, PTHREAD_PRIO_INHERIT);
	return !pthread_mutex_init(&room->mutex, &inherits);
}

static void wait_mutex(struct room *room)
{
	pthread_mutex_lock(&room->mutex);
	rest();
	pthread_mutex_unlock(&room->mutex);
}

/* System V's, and POSIX's queues. */

static bool begin_messages(struct room *room)
{
	room->id = msgget(IPC_PRIVATE, 0600);
	return room->id >= 0;
}

static void wait_message(struct room *room)
{
	struct msgbuf message;

	if (msgrcv(room->id, &message, 1, 0, 0) < 0 && errno != EINTR)
		workload__fail("msgrcv", errno);
}

static void send_message(struct room *room)
{
	struct msgbuf message = { .mtype = 1 };

	rest();
	msgsnd(room->id, &message, 1, 0);
}

static bool begin_semaphore(struct room *room)
{
	room->id = semget(IPC_PRIVATE, 1, 0600);
	return room->id >= 0;
}

static void wait_semaphore(struct room *room)
{
	struct timespec limit = { .tv_nsec = (long)SHORT_NS };
	struct sembuf down = { .sem_op = -1 };

	semtimedop(room->id, &down, 1, &limit);
}

static bool begin_queue(struct room *room)
{
	struct mq_attr attr = { .mq_maxmsg = 2, .mq_msgsize = 8 };
	char name[64];

	snprintf(name, sizeof(name), "/denet-kinds-%d", getpid());
	room->id = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
	mq_unlink(name);
	return room->id >= 0;
}

static void wait_queue(struct room *room)
{
	char text[8];

	mq_receive(room->id, text, sizeof(text), NULL);
}

static void send_queue(struct room *room)
{
	rest();
	mq_send(room->id, "x", 1, 0);
}

/* Page faults: of a page that a thread of ours fills, and of one of a file. */

static bool begin_faults(struct room *room)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	room->fds[0] = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	room->fds[1] = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	room->pages = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = (unsigned long)room->pages;
	range.range.len = PAGE;
	return room->fds[0] >= 0 && room->pages != MAP_FAILED &&
	       !ioctl(room->fds[0], UFFDIO_API, &api) &&
	       !ioctl(room->fds[0], UFFDIO_REGISTER, &range);
}

static void wait_user_fault(struct room *room)
{
	madvise(room->pages, PAGE, MADV_DONTNEED);
	*(volatile char *)room->pages = 1;
}

/* The kernel writes to the page, so its stack has an exception in the middle. */
static void wait_kernel_fault(struct room *room)
{
	madvise(room->pages, PAGE, MADV_DONTNEED);
	if (read(room->fds[1], room->pages, 64) < 0)
		workload__fail("read", errno);
}

static void fill_page(struct room *room)
{
	struct uffdio_zeropage zero = { .range = { .len = PAGE } };
	struct uffd_msg message;

	if (read(room->fds[0], &message, sizeof(message)) != sizeof(message))
		workload__fail("userfaultfd", errno);
	rest();
	zero.range.start = (unsigned long)room->pages;
	ioctl(room->fds[0], UFFDIO_ZEROPAGE, &zero);
}

static bool begin_file(struct room *room)
{
	room->fds[0] = open_file();
	room->pages =
		mmap(NULL, (size_t)16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, room->fds[0], 0);
	return room->pages != MAP_FAILED;
}

static void wait_fsync(struct room *room)
{
	if (pwrite(room->fds[0], "x", 1, PAGE) < 0 || fsync(room->fds[0]))
		workload__fail("fsync", errno);
}

static void wait_file_fault(struct room *room)
{
	msync(room->pages, (size_t)16 * PAGE, MS_SYNC);
	madvise(room->pages, (size_t)16 * PAGE, MADV_DONTNEED);
	posix_fadvise(room->fds[0], 0, 0, POSIX_FADV_DONTNEED);
	for (int i = 0; i < 16; i++)
		((volatile char *)room->pages)[i * PAGE]++;
}

/* Both threads, for the lock of their address space. */
static void wait_mmap(struct room *room)
{
	char *pages = mmap(NULL, (size_t)64 * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	(void)room;
	if (pages != MAP_FAILED)
		munmap(pages, (size_t)64 * PAGE);
}

/* The CPU: given up, or taken away in user space and in the kernel. */

static void wait_yield(struct room *room)
{
	(void)room;
	sched_yield();
}

static void wait_spin(struct room *room)
{
	uint64_t until = workload__now() + SHORT_NS;

	(void)room;
	while (workload__now() < until)
		;
}

static bool begin_zero(struct room *room)
{
	room->fds[0] = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	room->pages = malloc(BIG);
	return room->pages && room->fds[0] >= 0;
}

static void wait_zero(struct room *room)
{
	if (read(room->fds[0], room->pages, BIG) < 0)
		workload__fail("/dev/zero", errno);
}

static void wait_membarrier(struct room *room)
{
	(void)room;
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

/* io_uring, without a library for it. */

static bool begin_uring(struct room *room)
{
	struct io_uring_params params = { 0 };
	char *rings;

	room->id = (int)syscall(SYS_io_uring_setup, RING_ENTRIES, &params);
	if (room->id < 0 || !(params.features & IORING_FEAT_SINGLE_MMAP))
		return false;
	rings = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, room->id,
		     IORING_OFF_SQ_RING);
	room->sqes = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, room->id,
			  IORING_OFF_SQES);
	if (rings == MAP_FAILED || room->sqes == MAP_FAILED)
		return false;
	room->sq_tail = (unsigned int *)(void *)(rings + params.sq_off.tail);
	room->sq_array = (unsigned int *)(void *)(rings + params.sq_off.array);
	room->cq_head = (unsigned int *)(void *)(rings + params.cq_off.head);
	room->cq_tail = (unsigned int *)(void *)(rings + params.cq_off.tail);
	return begin_pipes(room);
}

/* Submits the entry and waits for its end. */
static void run_entry(struct room *room, const struct io_uring_sqe *sqe)
{
	room->sqes[0] = *sqe;
	room->sq_array[*room->sq_tail % RING_ENTRIES] = 0;
	__atomic_store_n(room->sq_tail, *room->sq_tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, room->id, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0 &&
	    errno != EINTR)
		workload__fail("io_uring_enter", errno);
	__atomic_store_n(room->cq_head, __atomic_load_n(room->cq_tail, __ATOMIC_ACQUIRE),
			 __ATOMIC_RELEASE);
}

static void wait_uring(struct room *room)
{
	struct timespec limit = { .tv_nsec = (long)SHORT_NS };
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_TIMEOUT, .fd = -1, .len = 1, .addr = (unsigned long)&limit
	};

	run_entry(room, &sqe);
}

/* In a thread of the kernel's in our process, which waits for the pipe. */
static void wait_uring_worker(struct room *room)
{
	char c;
	struct io_uring_sqe sqe = { .opcode = IORING_OP_READ,
				    .fd = room->fds[0],
				    .len = 1,
				    .flags = IOSQE_ASYNC,
				    .addr = (unsigned long)&c };

	write_one(room->back[1]);
	run_entry(room, &sqe);
}

static const struct kind kinds[] = {
	{ "nanosleep", NULL, wait_nanosleep, NULL },
	{ "poll", NULL, wait_poll, NULL },
	{ "select", NULL, wait_select, NULL },
	{ "epoll", begin_epoll, wait_epoll, NULL },
	{ "futex", NULL, wait_futex, NULL },
	{ "timerfd", begin_timerfd, wait_read, NULL },
	{ "handler", begin_timer, wait_handler, NULL },
	{ "sigtimedwait", NULL, wait_sigtimedwait, NULL },
	{ "signalfd", begin_signalfd, wait_read, NULL },
	{ "stop", begin_stop, wait_stop, NULL },
	{ "ptrace", begin_ptrace, wait_ptrace, NULL },
	{ "forks", NULL, wait_forks, NULL },
	{ "exec", NULL, wait_exec, NULL },
	{ "threads", NULL, wait_threads, NULL },
	{ "pipes", begin_pipes, wait_ball, return_ball },
	{ "streams", begin_streams, wait_ball, return_ball },
	{ "datagrams", begin_datagrams, wait_ball, return_ball },
	{ "events", begin_events, wait_event, send_event },
	{ "full pipe", begin_full_pipe, wait_full_pipe, empty_pipe },
	{ "splice", begin_splice, wait_splice, return_ball },
	{ "tcp", begin_tcp, wait_connect, accept_one },
	{ "terminal", begin_terminal, wait_read, type_line },
	{ "inotify", begin_inotify, wait_read, touch_file },
	{ "flock", begin_two_files, wait_flock, help_flock },
	{ "record lock", begin_two_files, wait_record, help_record },
	{ "mutex", begin_mutex, wait_mutex, wait_mutex },
	{ "messages", begin_messages, wait_message, send_message },
	{ "semaphore", begin_semaphore, wait_semaphore, NULL },
	{ "queue", begin_queue, wait_queue, send_queue },
	{ "user fault", begin_faults, wait_user_fault, fill_page },
	{ "kernel fault", begin_faults, wait_kernel_fault, fill_page },
	{ "file fault", begin_file, wait_file_fault, NULL },
	{ "fsync", begin_file, wait_fsync, NULL },
	{ "mmap", NULL, wait_mmap, wait_mmap },
	{ "yield", NULL, wait_yield, wait_yield },
	{ "spin", NULL, wait_spin, NULL },
	{ "zero", begin_zero, wait_zero, NULL },
	{ "membarrier", NULL, wait_membarrier, NULL },
	{ "io_uring", begin_uring, wait_uring, NULL },
	{ "io worker", begin_uring, wait_uring_worker, return_ball },
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct helper {
	const struct kind *kind;
	struct room *room;
};

static void *help_on(void *arg)
{
	const struct helper *helper = arg;

	for (;;)
		helper->kind->help(helper->room);
	return NULL;
}

/* Repeats a kind in this process, which ends with it. */
static _Noreturn void repeat(const struct kind *kind, uint64_t ns)
{
	struct room room = { .id = -1 };
	struct helper helper = { kind, &room };
	uint64_t until;
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, kind->name);
	if (kind->begin && !kind->begin(&room))
		_exit(NOT_HERE);
	if (kind->help && pthread_create(&thread, NULL, help_on, &helper))
		_exit(1);
	until = workload__now() + ns;
	while (workload__now() < until)
		kind->once(&room);
	if (kind->begin == begin_messages)
		msgctl(room.id, IPC_RMID, NULL);
	if (kind->begin == begin_semaphore)
		semctl(room.id, 0, IPC_RMID);
	if (room.child > 0)
		kill(room.child, SIGKILL);
	_exit(0);
}

int main(int argc, char **argv)
{
	struct workload_option options[] = { { "ms", 1000 }, { "least", 30 }, { 0 } };
	bool wait = workload__parse(argc, argv, options);
	unsigned long nr = 0;
	pid_t pids[NR_KINDS];
	int failed = 0;

	workload__ready(wait);
	for (size_t i = 0; i < NR_KINDS; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			workload__fail("fork", errno);
		if (!pids[i])
			repeat(&kinds[i], options[0].value * WORKLOAD_NSEC_PER_MSEC);
	}
	for (size_t i = 0; i < NR_KINDS; i++) {
		int status = 0;

		waitpid(pids[i], &status, 0);
		if (WIFEXITED(status) && !WEXITSTATUS(status)) {
			nr++;
			continue;
		}
		fprintf(stderr, "# %s: %s\n", kinds[i].name,
			WIFEXITED(status) && WEXITSTATUS(status) == NOT_HERE ? "not here"
									      : "failed");
		failed += !WIFEXITED(status) || WEXITSTATUS(status) != NOT_HERE;
	}
	return failed || nr < options[1].value;
}
