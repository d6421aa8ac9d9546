/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_HOST_CAPABILITIES_H
#define DENET_HOST_CAPABILITIES_H

#include <stdbool.h>
#include <stddef.h>

/* Capabilities that this program uses. */
enum capability {
	CAPABILITY_BPF,
	CAPABILITY_PERFMON,
	CAPABILITY_SYS_PTRACE,
	CAPABILITY_SYSLOG,
	CAPABILITY_DAC_READ_SEARCH,
	CAPABILITY_CHECKPOINT_RESTORE,
	CAPABILITY_IPC_LOCK,
	CAPABILITY_MAX,
};

/* The privileges of this process, and restrictions of them. */
struct capabilities {
	bool has[CAPABILITY_MAX];  /* effective; CAP_SYS_ADMIN stands for those that it holds */
	bool user_namespace;  /* capabilities count in a namespace of our own only */
	bool seccomp;	      /* a filter may refuse system calls */
};

/* "CAP_BPF". */
const char *capability__name(enum capability right);

/* The part of a recording that needs it. */
const char *capability__buys(enum capability right);

/* Reads the capabilities of this process. Unreadable ones count as missing. */
void capabilities__read(struct capabilities *rights);

/* The value behind "key:" in the text of a /proc/PID/status, as a number; -1: not there. */
long capabilities__status_value(const char *status, const char *key);

/* Names those that this process lacks to open the files of any mapped code. Returns buf. */
char *capabilities__missing_for_code(char *buf, size_t size);

#endif /* DENET_HOST_CAPABILITIES_H */
