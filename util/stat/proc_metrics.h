/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_PROC_METRICS_H
#define DENET_STAT_PROC_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "stat/memory_pressure.h"
#include "stat/stat_data.h"

/*
 * Base metrics of processes from /proc, as denet has them: what they use of CPU, memory, disk and
 * network. Counters begin at the start of the measurement.
 */

/* Of a process, or of several: then pid is 0, and memory and rates are sums. */
struct proc_metrics_row {
	pid_t pid;
	char command[STAT_COMM_LEN]; /* any bytes */
	double cpu_usage;            /* % of one CPU, in the interval */
	uint64_t cpu_ns;             /* since the start, as counters are */
	uint64_t mem_rss_kb;
	uint64_t mem_vms_kb;
	bool has_io; /* false: only the owner may read /proc/PID/io */
	/* As the kernel counts: with what children did, once the process has waited for them */
	uint64_t disk_read_bytes;
	uint64_t disk_write_bytes;
	uint64_t syscall_read_bytes; /* moved by read(2) and alike, from the page cache, too */
	uint64_t syscall_write_bytes;
	uint64_t page_faults_cached;
	uint64_t page_faults_disk;
	/* Of its network namespace without lo: of the first process, and of sums */
	uint64_t net_rx_bytes;
	uint64_t net_tx_bytes;
	uint32_t threads;
	uint64_t uptime_secs;
	uint32_t cpu; /* the one it ran on last */
};

/* What was found at one time. */
struct proc_metrics_sample {
	uint64_t ts_ms;  /* since 1970 */
	bool has_parent; /* false: the first process has ended, or there is none */
	struct proc_metrics_row parent;
	struct proc_metrics_row *children; /* borrowed, until the next sample */
	size_t nr_children;
	/* All of them; counters include processes that have ended. */
	struct proc_metrics_row total;
	unsigned int processes;
	unsigned int without_io;         /* processes whose /proc/PID/io could not be read */
	unsigned int hung;               /* of these: did not answer in time */
	struct memory_pressure pressure; /* of the first process's cgroup */
};

struct proc_metrics;

/*
 * Follows a process and, unless alone is true, all its descendants; those that lose their parent
 * stay. pid 0: no first process; others come by proc_metrics__follow(). Reads the counters that the
 * measurement starts from. NULL: no memory.
 */
struct proc_metrics *proc_metrics__new(pid_t pid, bool alone);

/* Follows one more process and its descendants, from now on. 0, -ESRCH or -ENOMEM. */
int proc_metrics__follow(struct proc_metrics *metrics, pid_t pid);

/*
 * The state of now. CPU usage is that since the last call, or the start. A process that ends
 * between two calls counts with what it had done at the last one, or, where its parent is followed
 * and has waited for it, with all. 0 or -ENOMEM.
 */
int proc_metrics__sample(struct proc_metrics *metrics, struct proc_metrics_sample *sample);

/* Accepts NULL. */
void proc_metrics__delete(struct proc_metrics *metrics);

#endif /* DENET_STAT_PROC_METRICS_H */
