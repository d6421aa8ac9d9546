/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process that is stuck on a dead file system: one thread writes to a page of a file whose file
 * system never ends a write, so its fault never returns; a second one changes the map and waits for
 * the first, holding the mmap_lock; a third one wants that lock. Every reader of the process's
 * /proc/PID/maps now hangs as well.
 *
 * The file system is served over /dev/fuse by the process that was started, in a mount namespace of
 * its own. It prints "stuck pid=PID" and READY, and kills the stuck process at the next line (or
 * the end) of its standard input, or after --limit seconds. Needs root.
 */
#include "workload.h"

#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define FILE_NODE 2
#define FILE_PAGES 1

static const char directory[] = "/tmp";
static const char file_path[] = "/tmp/frozen";

struct request {
	struct fuse_in_header header;
	char body[65536 - sizeof(struct fuse_in_header)];
};

static void reply(int fuse, const struct request *request, int error, const void *body, size_t size)
{
	struct {
		struct fuse_out_header header;
		char body[4096];
	} out = { .header = { .len = (uint32_t)(sizeof(out.header) + size),
			      .error = error,
			      .unique = request->header.unique } };

	if (size)
		memcpy(out.body, body, size);
	if (write(fuse, &out, out.header.len) < 0 && errno != ENOENT)
		workload__fail("reply", errno);
}

static void reply_init(int fuse, const struct request *request)
{
	struct fuse_init_in in;
	struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION, .max_write = 4096 };

	memcpy(&in, request->body, sizeof(in));
	out.minor = in.minor < FUSE_KERNEL_MINOR_VERSION ? in.minor : FUSE_KERNEL_MINOR_VERSION;
	reply(fuse, request, 0, &out, sizeof(out));
}

static void fill_attr(struct fuse_attr *attr, uint64_t node)
{
	*attr = (struct fuse_attr){
		.ino = node,
		.mode = node == FILE_NODE ? S_IFREG | 0600 : S_IFDIR | 0700,
		.size = FILE_PAGES * 4096,
		.nlink = 1,
	};
}

/* Everything is answered but a write. */
static void serve(int fuse, const struct request *request)
{
	struct fuse_entry_out entry = { .nodeid = FILE_NODE,
					.entry_valid = 1000,
					.attr_valid = 1000 };
	struct fuse_attr_out attr = { .attr_valid = 1000 };
	struct fuse_open_out opened = { .fh = 1 };
	static const char zeros[4096];

	switch (request->header.opcode) {
	case FUSE_INIT:
		reply_init(fuse, request);
		break;
	case FUSE_LOOKUP:
		fill_attr(&entry.attr, FILE_NODE);
		reply(fuse, request, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		fill_attr(&attr.attr, request->header.nodeid);
		reply(fuse, request, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		reply(fuse, request, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		reply(fuse, request, 0, zeros, sizeof(zeros));
		break;
	case FUSE_WRITE:
	case FUSE_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		reply(fuse, request, -ENOSYS, NULL, 0);
	}
}

/* State shared by the threads of the stuck process. */
struct stuck {
	int fd;
	char *page;
	size_t size;
	pid_t faulter; /* thread ids, written by the threads themselves */
	pid_t changer;
	pid_t waiter;
};

/*
 * A read fault lets go of the lock while it waits. A fault that makes a page writable again
 * holds it until the page's writeback is done, which here it never is.
 */
KNOWN static void touch_frozen_page(const struct stuck *stuck)
{
	*(volatile char *)stuck->page = 2;
}

static void begin_writeback(const struct stuck *stuck)
{
	*(volatile char *)stuck->page = 1;
	if (sync_file_range(stuck->fd, 0, 4096, SYNC_FILE_RANGE_WRITE))
		workload__fail("sync_file_range", errno);
}

KNOWN static void change_frozen_map(const struct stuck *stuck)
{
	workload__syscall(SYS_munmap, (long)stuck->page, (long)stuck->size, 0, 0, 0, 0);
}

KNOWN static void want_the_lock(void)
{
	workload__syscall(SYS_mmap, 0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void publish_tid(pid_t *tid, const char *name)
{
	prctl(PR_SET_NAME, name);
	__atomic_store_n(tid, workload__tid(), __ATOMIC_RELEASE);
}

static void *start_faulter(void *arg)
{
	struct stuck *stuck = arg;

	begin_writeback(stuck);
	publish_tid(&stuck->faulter, "faulter");
	touch_frozen_page(stuck);
	return NULL;
}

/* The state of a thread of the stuck process; '?' while there is none. stat takes no lock. */
static char state_of(pid_t pid, pid_t tid)
{
	char path[64], text[256];
	const char *end;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return '?';
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0)
		return '?';
	text[len] = '\0';
	end = strrchr(text, ')');
	return end && end[1] ? end[2] : '?';
}

/* Returns when thread *tid sleeps without heeding signals, or after ten seconds. */
static void wait_until_stuck(const pid_t *tid)
{
	for (int tries = 0; tries < 5000; tries++) {
		pid_t id = __atomic_load_n(tid, __ATOMIC_ACQUIRE);

		if (id && state_of(getpid(), id) == 'D')
			return;
		usleep(2000);
	}
}

static void *start_changer(void *arg)
{
	struct stuck *stuck = arg;

	publish_tid(&stuck->changer, "changer");
	wait_until_stuck(&stuck->faulter);
	change_frozen_map(stuck);
	return NULL;
}

static void *start_waiter(void *arg)
{
	struct stuck *stuck = arg;

	publish_tid(&stuck->waiter, "waiter");
	wait_until_stuck(&stuck->changer);
	want_the_lock();
	return NULL;
}

static void __attribute__((noreturn)) get_stuck(struct stuck *stuck)
{
	pthread_t threads[3];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	stuck->fd = open(file_path, O_RDWR | O_CLOEXEC);
	if (stuck->fd < 0)
		workload__fail(file_path, errno);
	stuck->page = mmap(NULL, stuck->size, PROT_READ | PROT_WRITE, MAP_SHARED, stuck->fd, 0);
	if (stuck->page == MAP_FAILED)
		workload__fail("mmap", errno);
	/* All made before the first is stuck: to make a thread takes the lock, too. */
	if (pthread_create(&threads[2], NULL, start_waiter, stuck) ||
	    pthread_create(&threads[1], NULL, start_changer, stuck) ||
	    pthread_create(&threads[0], NULL, start_faulter, stuck))
		workload__fail("pthread_create", EAGAIN);
	for (;;)
		pause();
}

static int make_mount(void)
{
	char options[128];
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fuse < 0)
		workload__fail("/dev/fuse", errno);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		workload__fail("mount namespace", errno);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40700,user_id=0,group_id=0", fuse);
	if (mount("frozen", directory, "fuse", MS_NOSUID | MS_NODEV, options))
		workload__fail("mount", errno);
	return fuse;
}

/* Serves until the end of stdin or limit; says READY once the process is stuck. */
static void run(int fuse, pid_t pid, const struct stuck *stuck, uint64_t limit)
{
	struct pollfd fds[] = { { .fd = fuse, .events = POLLIN }, { .fd = 0, .events = POLLIN } };
	static struct request request;
	bool said = false;

	while (workload__now() < limit) {
		fds[1].fd = said ? 0 : -1;
		if (poll(fds, 2, 10) < 0 || (fds[1].revents & (POLLIN | POLLHUP)))
			break;
		if (fds[0].revents & POLLIN && read(fuse, &request, sizeof(request)) > 0)
			serve(fuse, &request);
		if (!said && stuck->faulter && state_of(pid, stuck->faulter) == 'D' &&
		    stuck->waiter && state_of(pid, stuck->waiter) == 'D') {
			printf("stuck pid=%d faulter=%d changer=%d waiter=%d\n", pid,
			       stuck->faulter, stuck->changer, stuck->waiter);
			workload__ready(false);
			said = true;
		}
	}
}

int main(int argc, char **argv)
{
	struct workload_option options[] = { { "limit", 60 }, { 0 } };
	struct stuck *stuck;
	pid_t pid;
	int fuse;

	workload__parse(argc, argv, options);
	stuck = mmap(NULL, sizeof(*stuck), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (stuck == MAP_FAILED)
		workload__fail("mmap", errno);
	stuck->size = FILE_PAGES * 4096;
	fuse = make_mount();
	pid = fork();
	if (pid < 0)
		workload__fail("fork", errno);
	if (!pid) {
		close(fuse);
		get_stuck(stuck);
	}
	run(fuse, pid, stuck, workload__now() + options[0].value * WORKLOAD_NSEC_PER_SEC);
	kill(pid, SIGKILL);
	/* Without its server the file system fails its requests, so even that ends. */
	close(fuse);
	waitpid(pid, NULL, 0);
	return 0;
}
