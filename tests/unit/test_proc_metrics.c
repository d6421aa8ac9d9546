/* SPDX-License-Identifier: GPL-2.0-only */
/* Figures of /proc against children that know what they have done. */
#include "stat/proc_metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "common/harness.h"
#include "common/tolerance.h"
#include "stat/io_reader.h"
#include "stat/proc_text.h"

#define MB (1024 * 1024)
/* With acct(2) enabled, the kernel writes a record of this size at each exit, as the process. */
#define ACCT_BYTES 64

/* A child that does one task after another as it is told, and tells when one is done. */
struct worker {
	pid_t pid;
	int in, out;
};

enum task { BURN, TOUCH, WRITE, FORK, FORK_AND_LOSE, NAME, END };

static void burn_cpu(uint64_t ns)
{
	struct timespec used;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	while ((uint64_t)used.tv_sec * NSEC_PER_SEC + (uint64_t)used.tv_nsec < ns);
}

static void touch_memory(void)
{
	char *memory =
		mmap(NULL, 64 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(memory, 64 * MB, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < 64 * MB; i += 4096)
		memory[i] = 1;
}

static void write_file(void)
{
	const char *folder = getenv("TMPDIR");
	static char bytes[MB];
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/proc_metrics.XXXXXX", folder ? folder : "/tmp");
	fd = mkstemp(path);

	for (int i = 0; i < 8; i++)
		if (write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
			_exit(1);
	fsync(fd);
	unlink(path);
	close(fd);
}

/* A child of the worker's that burns, and writes a file. */
static void fork_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		burn_cpu(200 * NSEC_PER_MSEC);
		write_file();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* A grandchild whose parent ends when it is told to; from then on it belongs to the test. */
static void lose_child(int in)
{
	pid_t pid = fork();
	char byte;

	if (!pid) {
		pid_t middle = getpid();

		if (fork())
			_exit(read(in, &byte, 1) != 1);
		while (getppid() == middle)
			usleep(1000);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		write_file();
		pause();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void work(int in, int out)
{
	char task;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(in, &task, 1) == 1 && task != END) {
		if (task == BURN)
			burn_cpu(300 * NSEC_PER_MSEC);
		else if (task == TOUCH)
			touch_memory();
		else if (task == WRITE)
			write_file();
		else if (task == NAME)
			prctl(PR_SET_NAME, "a) R 1 (\n\xff", 0, 0, 0);
		else if (task == FORK)
			fork_child();
		else
			lose_child(in);
		if (write(out, &task, 1) != 1)
			break;
	}
	_exit(0);
}

static struct worker start_worker(void)
{
	int in[2], out[2];
	struct worker worker;

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		abort();
	worker = (struct worker){ .pid = fork(), .in = in[1], .out = out[0] };
	if (!worker.pid)
		work(in[0], out[1]);
	close(in[0]);
	close(out[1]);
	return worker;
}

static void tell(struct worker *worker, enum task task)
{
	char byte = (char)task;

	if (write(worker->in, &byte, 1) != 1 || (task != END && read(worker->out, &byte, 1) != 1))
		abort();
}

static void end_worker(struct worker *worker)
{
	tell(worker, END);
	waitpid(worker->pid, NULL, 0);
	close(worker->in);
	close(worker->out);
}

FIXTURE(metrics)
{
	struct worker worker;
	struct proc_metrics *metrics;
	struct proc_metrics_sample sample;
	uint64_t before;
};

FIXTURE_SETUP(metrics)
{
	self->worker = start_worker();
	self->metrics = proc_metrics__new(self->worker.pid, false);
	ASSERT_NE(NULL, self->metrics);
	self->before = clock__now_ns();
}

FIXTURE_TEARDOWN(metrics)
{
	proc_metrics__delete(self->metrics);
	if (self->worker.pid)
		end_worker(&self->worker);
}

TEST_F(metrics, cpu_time_is_what_was_burnt)
{
	double used_ms, ms;

	tell(&self->worker, BURN);
	ASSERT_EQ(0, proc_metrics__sample(self->metrics, &self->sample));
	ms = (double)(clock__now_ns() - self->before) / (double)NSEC_PER_MSEC;
	used_ms = self->sample.total.cpu_usage * ms / 100;
	EXPECT_TRUE(self->sample.has_parent);
	EXPECT_EQ(self->worker.pid, self->sample.parent.pid);
	EXPECT_LE(290, used_ms);
	EXPECT_GE(290 + 20 * tolerance__cpu_factor(), used_ms);
	EXPECT_EQ(1, self->sample.processes);
	EXPECT_EQ(1, self->sample.total.threads);
	/* Nothing more after that. */
	self->before = clock__now_ns();
	ASSERT_EQ(0, proc_metrics__sample(self->metrics, &self->sample));
	ms = (double)(clock__now_ns() - self->before) / (double)NSEC_PER_MSEC;
	EXPECT_GE(5, self->sample.total.cpu_usage * ms / 100);
}

TEST_F(metrics, memory_is_what_was_touched)
{
	uint64_t rss, faults;

	ASSERT_EQ(0, proc_metrics__sample(self->metrics, &self->sample));
	rss = self->sample.parent.mem_rss_kb;
	faults = self->sample.parent.page_faults_cached;
	tell(&self->worker, TOUCH);
	ASSERT_EQ(0, proc_metrics__sample(self->metrics, &self->sample));
	/* The kernel's own count is kept by CPUs, and is off by some pages of each. */
	EXPECT_LE(rss + 62 * 1024, self->sample.parent.mem_rss_kb);
	EXPECT_GE(rss + 80 * 1024, self->sample.parent.mem_rss_kb);
	EXPECT_LE(64 * MB / 4096, self->sample.parent.page_faults_cached - faults);
	EXPECT_GE(80 * MB / 4096, self->sample.parent.page_faults_cached - faults);
	EXPECT_LE(self->sample.parent.mem_rss_kb, self->sample.parent.mem_vms_kb);
}

TEST_F(metrics, bytes_are_what_was_written)
{
	uint64_t read;

	tell(&self->worker, WRITE);
	ASSERT_EQ(0, proc_metrics__sample(self->metrics, &self->sample));
	ASSERT_TRUE(self->sample.parent.has_io);
	/* And the byte that answers. */
	EXPECT_EQ(8 * MB + 1, self->sample.parent.syscall_write_bytes);
	EXPECT_EQ(1, self->sample.parent.syscall_read_bytes);
	/* The first time, a page of code may come from the disk. */
	read = self->sample.parent.disk_read_bytes;
	EXPECT_GE(MB, read);
	tell(&self->worker, WRITE);
	ASSERT_EQ(0, proc_metrics__sample(self->metrics, &self->sample));
	EXPECT_EQ(2 * (8 * MB + 1), self->sample.parent.syscall_write_bytes);
	EXPECT_EQ(read, self->sample.parent.disk_read_bytes);
	/* A file system in memory has no disk. */
	EXPECT_TRUE(!self->sample.parent.disk_write_bytes ||
		    self->sample.parent.disk_write_bytes >= 8 * MB);
	EXPECT_EQ(0, self->sample.without_io);
}

TEST_F(metrics, children_that_ended_between_two_samples_are_in_the_total)
{
	double ms, used_ms;

	tell(&self->worker, FORK);
	ASSERT_EQ(0, proc_metrics__sample(self->metrics, &self->sample));
	ms = (double)(clock__now_ns() - self->before) / (double)NSEC_PER_MSEC;
	used_ms = self->sample.total.cpu_usage * ms / 100;
	EXPECT_LE(180, used_ms);
	/* With what it takes to write, where that is slow. */
	EXPECT_GE(200 + 100 * tolerance__cpu_factor(), used_ms);
	EXPECT_EQ(0, self->sample.nr_children);
	EXPECT_LE(8 * MB + 1, self->sample.total.syscall_write_bytes);
	EXPECT_GE(8 * MB + 1 + ACCT_BYTES, self->sample.total.syscall_write_bytes);
	EXPECT_GE(20 + 10 * tolerance__cpu_factor(), self->sample.parent.cpu_usage * ms / 100);
}

/* A descendant whose parent ends goes to another one, but is still followed, and counted once. */
TEST_F(metrics, a_child_without_its_parent_is_followed)
{
	uint64_t deadline = tolerance__deadline();
	char byte = FORK_AND_LOSE;
	pid_t orphan;

	ASSERT_EQ(0, prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
	ASSERT_EQ(1, write(self->worker.in, &byte, 1));
	do {
		ASSERT_EQ(0, proc_metrics__sample(self->metrics, &self->sample));
	} while (self->sample.nr_children != 2 && clock__now_ns() < deadline);
	ASSERT_EQ(2, self->sample.nr_children);
	EXPECT_EQ(3, self->sample.processes);
	tell(&self->worker, END);
	ASSERT_EQ(1, read(self->worker.out, &byte, 1));
	do {
		ASSERT_EQ(0, proc_metrics__sample(self->metrics, &self->sample));
	} while ((self->sample.processes != 2 || self->sample.total.syscall_write_bytes < 8 * MB) &&
		 clock__now_ns() < deadline);
	ASSERT_EQ(1, self->sample.nr_children);
	orphan = self->sample.children[0].pid;
	EXPECT_EQ(8 * MB, self->sample.children[0].syscall_write_bytes);
	ASSERT_EQ(0, kill(orphan, SIGKILL));
	ASSERT_EQ(orphan, waitpid(orphan, NULL, 0));
	ASSERT_EQ(0, proc_metrics__sample(self->metrics, &self->sample));
	EXPECT_EQ(0, self->sample.nr_children);
	EXPECT_LE(8 * MB, self->sample.total.syscall_write_bytes);
	EXPECT_GE(8 * MB + 10 + 3 * ACCT_BYTES, self->sample.total.syscall_write_bytes);
}

TEST_F(metrics, names_may_be_hostile)
{
	tell(&self->worker, NAME);
	ASSERT_EQ(0, proc_metrics__sample(self->metrics, &self->sample));
	EXPECT_STREQ("a) R 1 (\n\xff", self->sample.parent.command);
}

TEST_F(metrics, the_end_of_the_first_process)
{
	uint64_t written;

	tell(&self->worker, WRITE);
	ASSERT_EQ(0, proc_metrics__sample(self->metrics, &self->sample));
	written = self->sample.total.syscall_write_bytes;
	end_worker(&self->worker);
	self->worker.pid = 0;
	ASSERT_EQ(0, proc_metrics__sample(self->metrics, &self->sample));
	EXPECT_FALSE(self->sample.has_parent);
	EXPECT_EQ(0, self->sample.processes);
	EXPECT_EQ(0, self->sample.total.mem_rss_kb);
	EXPECT_TRUE(self->sample.total.has_io);
	EXPECT_EQ(written, self->sample.total.syscall_write_bytes);
}

/* A process of that PID, of our own choice. */
static pid_t fork_as(pid_t pid)
{
	struct clone_args args = { .exit_signal = SIGCHLD,
				   .set_tid = (uintptr_t)&pid,
				   .set_tid_size = 1 };
	pid_t child = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	return child;
}

TEST_F(metrics, another_process_with_the_same_pid_is_not_followed)
{
	struct timespec tick = { .tv_nsec = 20 * 1000000 };
	pid_t pid = self->worker.pid, child;

	end_worker(&self->worker);
	self->worker.pid = 0;
	/* The kernel tells a process's birth in ticks of 10 ms. */
	nanosleep(&tick, NULL);
	child = fork_as(pid);
	if (child < 0)
		SKIP(return, "clone3(2) with a PID: %s", strerror(errno));
	ASSERT_EQ(pid, child);
	EXPECT_EQ(0, proc_metrics__sample(self->metrics, &self->sample));
	EXPECT_FALSE(self->sample.has_parent);
	EXPECT_EQ(0, self->sample.processes);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

TEST(a_process_that_is_not_there)
{
	struct proc_metrics *metrics = proc_metrics__new(0, false);
	struct proc_metrics_sample sample;

	ASSERT_NE(NULL, metrics);
	EXPECT_EQ(-ESRCH, proc_metrics__follow(metrics, 0x3fffffff));
	EXPECT_EQ(0, proc_metrics__follow(metrics, getpid()));
	ASSERT_EQ(0, proc_metrics__sample(metrics, &sample));
	EXPECT_FALSE(sample.has_parent);
	EXPECT_LE(1, sample.nr_children);
	EXPECT_EQ(getpid(), sample.children[0].pid);
	proc_metrics__delete(metrics);
	proc_metrics__delete(NULL);
}

/* The only child that we have. */
static pid_t only_child(void)
{
	char path[64], text[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	return proc_text__read(path, text, sizeof(text)) > 0 ? (pid_t)strtol(text, NULL, 10) : 0;
}

TEST(a_reader_that_hangs_or_dies_costs_one_answer)
{
	pid_t pids[] = { getpid(), 0x3fffffff, getpid() }, child;
	struct io_reader *reader = io_reader__new();
	struct proc_text_io io[3];
	int status[3];

	ASSERT_NE(NULL, reader);
	io_reader__read(reader, pids, 3, 1000, io, status);
	EXPECT_EQ(0, status[0]);
	EXPECT_EQ(-ENOENT, status[1]);
	EXPECT_EQ(0, status[2]);
	child = only_child();
	if (child <= 0)
		SKIP(goto out, "no list of children");
	kill(child, SIGSTOP);
	io_reader__read(reader, pids, 3, 500, io, status);
	EXPECT_EQ(-ETIMEDOUT, status[0]);
	EXPECT_EQ(-ENOENT, status[1]);
	EXPECT_EQ(0, status[2]);
	child = only_child();
	ASSERT_LT(0, child);
	kill(child, SIGKILL);
	io_reader__read(reader, pids, 3, 1000, io, status);
	io_reader__read(reader, pids, 3, 1000, io, status);
	EXPECT_EQ(0, status[0]);
	EXPECT_LT(0, io[0].rchar);
out:
	io_reader__delete(reader);
}

TEST_HARNESS_MAIN
