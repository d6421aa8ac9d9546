/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TESTS_TRUTH_H
#define DENET_TESTS_TRUTH_H

#include <stdint.h>
#include <sys/types.h>

#define TRUTH_NAME_MAX 64

/* One truth line of a workload: the waits of a thread; see tests/workloads/workload.h. */
struct truth {
	pid_t pid;
	pid_t tid;
	char comm[16];
	char what[TRUTH_NAME_MAX];
	char function[TRUTH_NAME_MAX]; /* innermost frame of the workload, "-": not known */
	uint64_t count;
	uint64_t requested_ns; /* it was off the CPU at least this long */
	uint64_t bracket_ns;   /* and at most this long */
	uint64_t voluntary;    /* context switches, as the kernel counted them */
	uint64_t involuntary;
};

/* Reads one line without its newline. 1: a truth, 0: another line, -EINVAL: malformed. */
int truth__parse_line(const char *line, struct truth *truth);

#endif /* DENET_TESTS_TRUTH_H */
