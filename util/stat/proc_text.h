/* SPDX-License-Identifier: GPL-2.0-only */
/* Texts of /proc about processes, decoded: pure functions over texts that end with a NUL. */
#ifndef DENET_STAT_PROC_TEXT_H
#define DENET_STAT_PROC_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "stat/stat_data.h"

/* Of /proc/PID/stat and /proc/PID/task/TID/stat; times in ticks of sysconf(_SC_CLK_TCK). */
struct proc_text_stat {
	pid_t pid;
	char comm[STAT_COMM_LEN]; /* cut to that; any bytes */
	char state;
	pid_t ppid;
	uint64_t minor_faults;
	uint64_t reaped_minor_faults; /* of children that were waited for, and theirs */
	uint64_t major_faults;
	uint64_t reaped_major_faults;
	uint64_t user_ticks;
	uint64_t system_ticks;
	uint64_t reaped_ticks; /* user and system time of those children */
	uint32_t threads;
	uint64_t start_ticks; /* since boot */
	uint64_t vms_bytes;
	uint64_t rss_pages;
	uint32_t cpu;         /* the one it ran on last */
	uint64_t delay_ticks; /* waited for block I/O; 0 without delay accounting */
};

/* 0, or -EPROTO where a field is missing. */
int proc_text__stat(const char *text, struct proc_text_stat *stat);

/* Of /proc/PID/io. The kernel adds what children did once the process has waited for them. */
struct proc_text_io {
	uint64_t rchar;
	uint64_t wchar;
	uint64_t syscr;
	uint64_t syscw;
	uint64_t read_bytes;
	uint64_t write_bytes;
};

/* 0 or -EPROTO. */
int proc_text__io(const char *text, struct proc_text_io *io);

/* Of a file of pressure stall information: averages in %, totals in us. */
struct proc_text_pressure {
	double some_avg10;
	double full_avg10;
	uint64_t some_total_us;
	uint64_t full_total_us;
};

/* 0; -EPROTO without a line "some". A missing line "full" is 0. */
int proc_text__pressure(const char *text, struct proc_text_pressure *pressure);

/* Bytes received and sent by all devices of /proc/PID/net/dev but lo. 0 or -EPROTO. */
int proc_text__net_dev(const char *text, uint64_t *rx_bytes, uint64_t *tx_bytes);

/* Of /proc/PID/task/TID/schedstat: ns on a CPU, ns queued for one, times on one. 0 or -EPROTO. */
int proc_text__schedstat(const char *text, uint64_t *run_ns, uint64_t *wait_ns, uint64_t *times);

/* The number behind a line's name, such as "voluntary_ctxt_switches:". 0 or -ENOENT. */
int proc_text__number(const char *text, const char *name, uint64_t *number);

/*
 * Reads a file that is small, as those of /proc are: what does not fit is cut off. The length, or a
 * negative errno. Only for files whose reading cannot hang.
 */
int proc_text__read(const char *path, char *text, size_t size);

#endif /* DENET_STAT_PROC_TEXT_H */
