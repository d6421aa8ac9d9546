/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_HOST_CAPABILITIES_H
#define DENET_HOST_CAPABILITIES_H

#include <stdbool.h>

/* The capabilities that this program has a use for. */
enum right {
	RIGHT_BPF,
	RIGHT_PERFMON,
	RIGHT_SYS_PTRACE,
	RIGHT_SYSLOG,
	RIGHT_DAC_READ_SEARCH,
	RIGHT_IPC_LOCK,
	RIGHT_MAX,
};

/* What this process may do, and what stands in its way. */
struct rights {
	bool has[RIGHT_MAX];  /* effective; CAP_SYS_ADMIN stands for BPF, PERFMON and SYSLOG */
	bool user_namespace;  /* capabilities count in a namespace of our own only */
	bool seccomp;	      /* a filter may refuse system calls */
};

/* "CAP_BPF". */
const char *right__name(enum right right);

/* What the recording loses without it. */
const char *right__buys(enum right right);

/* Reads the rights of this process. What cannot be read counts as missing. */
void rights__read(struct rights *rights);

/* The value behind "key:" in the text of a /proc/PID/status, as a number; -1: not there. */
long rights__status_value(const char *status, const char *key);

#endif /* DENET_HOST_CAPABILITIES_H */
