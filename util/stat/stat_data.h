/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counts and totals of denet-stat: filled in by its collection, read by its table, its JSON and
 * its classification. Plain values, all times in ns of CLOCK_MONOTONIC unless they say otherwise.
 * What was not asked for, or cannot be had, is 0, and its lists are empty.
 */
#ifndef DENET_STAT_DATA_H
#define DENET_STAT_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define STAT_COMM_LEN 16

/* The states of blocks, in the order of the kernel side. */
#define STAT_STATES "RSDTtIPX?"
#define STAT_STATE_MAX 9

/*
 * Lengths in powers of two: bucket 0 holds those below 2^STAT_HIST_SHIFT ns (128), bucket i those
 * from 2^(STAT_HIST_SHIFT + i - 1) up to twice that, the last one all that are longer (137 s).
 */
#define STAT_HIST_BUCKETS 32
#define STAT_HIST_SHIFT 7

struct stat_times {
	uint64_t count;
	uint64_t total_ns;
	uint64_t min_ns; /* 0 if count is */
	uint64_t max_ns;
	uint32_t hist[STAT_HIST_BUCKETS];
};

/* The type of the file that a call was made on: read(2) from a socket is network work. */
enum stat_file {
	STAT_FILE_NONE = 0, /* the call has no descriptor, or its file is unknown */
	STAT_FILE_REGULAR,  /* files, directories, block devices */
	STAT_FILE_SOCKET,
	STAT_FILE_PIPE,
	STAT_FILE_OTHER,    /* terminals and other character devices, eventfd, epoll, … */
	STAT_FILE_MAX,
};

/* The kernel's table that the number of a call belongs to. */
enum stat_abi {
	STAT_ABI_NATIVE = 0,
	STAT_ABI_COMPAT, /* of a 32-bit program: i386, arm */
	STAT_ABI_X32,
	STAT_ABI_MAX,
};

/* One system call, of the thread, process or command that owns it. Counted when it returns. */
struct stat_call {
	uint32_t nr;
	enum stat_abi abi;
	enum stat_file file;
	uint64_t errors;     /* returned -1 to -4095, restarts among them, as in strace */
	uint64_t blocked_ns; /* of times.total_ns: off the CPU, waits for a CPU included */
	struct stat_times times; /* from entry to return */
};

/* A call that had not returned at the end. */
struct stat_open_call {
	pid_t pid;
	pid_t tid;
	uint32_t nr;
	enum stat_abi abi;
	enum stat_file file;
	uint64_t since_ns; /* its entry, or the start for one that was entered before */
	uint64_t ns;	   /* up to the end */
	char comm[STAT_COMM_LEN];
};

/* A thread, or the sum of the threads of a process, of a command, or of all. */
struct stat_task {
	pid_t pid;   /* 0: of several */
	pid_t tid;   /* 0: of several */
	pid_t ppid;  /* of a process, 0: unknown */
	uint64_t incarnation; /* of a thread or a process, unique where PIDs are used again */
	char comm[STAT_COMM_LEN];
	bool kthread;
	bool ended;	  /* all of its threads have ended */
	uint32_t threads; /* how many threads it is the sum of */
	uint32_t ended_threads;
	/* wall = running + runnable + blocked + filtered: its time in the measurement */
	uint64_t wall_ns;
	uint64_t running_ns;
	uint64_t runnable_ns; /* waiting for a CPU: preempted, or woken up and not yet on one */
	uint64_t blocked_ns;
	uint64_t filtered_ns; /* left out by filters of users, cgroups and CPUs */
	/* With STAT_PART_LOCKS, off the CPU in waits for futexes; those under way end with it */
	uint64_t lock_ns;
	uint64_t owned_ns; /* of lock_ns: waits for a mutex whose holder was known */
	uint64_t lock;	   /* of a thread: the futex of the longest of these, 0: there is none */
	/* Blocks of any state, from switch-out to switch-in; those under way end with it */
	struct stat_times offcpu;
	struct stat_times state[STAT_STATE_MAX]; /* by STAT_STATES; hist stays empty */
	struct stat_call *calls;		 /* the greatest time first */
	size_t nr_calls;
};

/* A futex of a process. */
struct stat_lock {
	pid_t pid;
	uint64_t address;
	char name[128];	  /* "libfoo.so+0x1234", "[heap]+0x10"; "": unknown */
	struct stat_times waits; /* open ones are part of it, as far as they went */
	uint32_t open;	   /* threads whose wait had not ended at the end */
	uint64_t open_ns;  /* the longest of these waits */
	uint32_t waiters;  /* threads that have waited, as far as they were told apart */
	uint32_t wakers;   /* threads that have woken others up, as far as they were told apart */
	uint64_t wakes;	   /* calls of FUTEX_WAKE and alike */
	pid_t last_waker;  /* tid, 0: unknown */
	pid_t owner;	   /* tid of the holder met last, 0: unknown */
	uint64_t owner_met; /* how many waits found an owner */
	char waiter_comm[STAT_COMM_LEN]; /* of the longest wait */
	pid_t waiter;			 /* its tid */
};

/* A wait for a futex that had not ended at the end. */
struct stat_open_wait {
	pid_t pid;
	pid_t tid;
	pid_t owner; /* tid of the mutex's holder, 0: unknown */
	uint64_t address;
	uint64_t ns;
	char comm[STAT_COMM_LEN];
};

enum stat_io_op {
	STAT_IO_READ = 0,
	STAT_IO_WRITE,
	STAT_IO_FLUSH,
	STAT_IO_DISCARD,
	STAT_IO_OTHER,
	STAT_IO_MAX,
};

/* Requests of a block device, from issue to completion. */
struct stat_io {
	uint32_t dev; /* as the kernel packs it: major << 20 | minor */
	char device[32]; /* "sda", "" unknown */
	enum stat_io_op op;
	uint64_t bytes;
	uint64_t errors;
	struct stat_times times;
	/* Blocks in state D of threads that had issued such a request: */
	uint64_t waited_ns;
	uint64_t waits;
	uint64_t longest_ns;
	pid_t waiter; /* of the longest one; 0: there is none */
	char waiter_comm[STAT_COMM_LEN];
};

/* Time in calls that wait for a connection. */
struct stat_socket {
	pid_t pid;
	pid_t tid; /* 0: several */
	char comm[STAT_COMM_LEN];
	uint64_t ino;
	uint16_t family;
	uint16_t protocol;
	uint16_t local_port;  /* host order */
	uint16_t remote_port; /* host order */
	uint8_t local[16];
	uint8_t remote[16];
	struct stat_times receive; /* blocked in receiving (accept included) */
	struct stat_times send;
};

/* Blocks of a thread in calls of one number on one file or socket, by the native table. */
struct stat_file_wait {
	pid_t pid;
	pid_t tid;
	uint32_t nr;
	uint64_t count; /* blocks that have ended */
	uint64_t ns;
	char name[256]; /* path, socket:[INODE], "LOCAL" or "LOCAL to REMOTE" */
};

/* What found no room, or could not be seen. Each is said to the user if it is not 0. */
struct stat_losses {
	uint64_t threads;  /* ended threads whose sums found no room */
	uint64_t calls;	   /* returns that were not counted: no room */
	uint64_t locks;	   /* waits */
	uint64_t requests; /* of block devices */
	uint64_t sockets;  /* waits */
	uint64_t files;	   /* blocks: of their files nothing is known */
	uint64_t missed_births;
	uint64_t missed_deaths;
	uint64_t missed_calls; /* entries or returns: their calls are not counted */
	uint64_t unseen_switches;
};

/* What was measured. */
enum stat_part {
	STAT_PART_OFFCPU = 1,
	STAT_PART_CALLS = 2,
	STAT_PART_LOCKS = 4,
	STAT_PART_IO = 8,
	STAT_PART_SOCKETS = 16,
	STAT_PART_CALL_TIMES = 32, /* with STAT_PART_CALLS: calls have times, and not only counts */
};

struct stat_data {
	uint64_t start_ns; /* of the interval, CLOCK_MONOTONIC */
	uint64_t end_ns;
	uint64_t start_real_ms; /* of the whole measurement, ms since 1970 */
	uint64_t end_real_ms;	/* of the interval */
	uint32_t parts;		/* bits of enum stat_part */
	const char *error;	/* why figures are from /proc; NULL: BPF works */
	bool from_proc;		/* state, min, max and histograms are unknown then */

	/* The greatest off-CPU time first; threads that have ended are in processes only */
	struct stat_task *threads;
	size_t nr_threads;
	struct stat_task *processes;
	size_t nr_processes;
	struct stat_task *commands;
	size_t nr_commands;
	struct stat_task total;

	struct stat_open_call *open_calls;
	size_t nr_open_calls;
	/* Open when the interval began, with their time by then; none: it is since the start */
	struct stat_open_call *earlier_calls;
	size_t nr_earlier_calls;
	struct stat_file_wait *files; /* the longest time first */
	size_t nr_files;
	struct stat_lock *locks;
	size_t nr_locks;
	struct stat_open_wait *open_waits; /* the longest first */
	size_t nr_open_waits;
	struct stat_io *io;
	size_t nr_io;
	struct stat_socket *sockets;
	size_t nr_sockets;
	struct stat_losses losses;
};

/* The least length of a bucket, which is above all of those before it. */
uint64_t stat_times__bucket_begin(unsigned int bucket);

/* The length that so many of the values (0.5, 0.99) do not exceed, within a bucket's width. */
uint64_t stat_times__quantile(const struct stat_times *times, double share);

/* Whether there are values, or time alone: of waits that go on, or as /proc has it. */
static inline bool stat_times__any(const struct stat_times *times)
{
	return times->count || times->total_ns;
}

/* Adds one value. */
void stat_times__add(struct stat_times *times, uint64_t ns);

/* Adds all values of another. */
void stat_times__merge(struct stat_times *times, const struct stat_times *other);

/*
 * Takes away the values that there were before. The extremes then follow from the histogram, where
 * there is one.
 */
void stat_times__subtract(struct stat_times *times, const struct stat_times *before);

/*
 * Whether the lists of commands and of threads have rows that other lists do not: where each
 * command is a single thread, or each process is, one of them says all.
 */
bool stat_data__commands_differ(const struct stat_data *data);
bool stat_data__threads_differ(const struct stat_data *data);

/* Frees the lists, not the struct. */
void stat_data__free(struct stat_data *data);

#endif /* DENET_STAT_DATA_H */
