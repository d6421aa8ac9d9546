/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_LOAD_ERROR_H
#define DENET_BPF_LOAD_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#include "host/capabilities.h"
#include "host/sysctl.h"

struct kernel_features;

/*
 * Why the kernel refused our programs, and the remedy. The judgement is a pure function over facts,
 * so that it can be tested for other kernels and machines.
 */
enum load_error {
	LOAD_ERROR_NONE,
	LOAD_ERROR_NO_BTF,
	LOAD_ERROR_TOO_OLD,	/* no task storage for tracing programs */
	LOAD_ERROR_NO_HOOK,	/* no hook at which a thread comes back to a CPU */
	LOAD_ERROR_NO_DESCRIPTORS,
	LOAD_ERROR_NO_MEMORY,
	LOAD_ERROR_NO_RIGHTS,	/* capabilities are missing */
	LOAD_ERROR_USER_NAMESPACE, /* capabilities count in a container only */
	LOAD_ERROR_LOCKDOWN,
	LOAD_ERROR_SECCOMP,
	LOAD_ERROR_NO_BPF,		/* the kernel has no bpf(2) */
	LOAD_ERROR_POLICY,		/* all rights and still EPERM: a security module */
	LOAD_ERROR_OTHER,
};

struct load_error_facts {
	int err;		/* of loading or attaching, a negative errno */
	bool has_btf;		/* /sys/kernel/btf/vmlinux is there and can be read */
	bool has_scheduler;	/* BTF knows the tracepoint sched_switch */
	bool has_task_storage;	/* and the helper bpf_task_storage_get */
	bool has_hook;		/* and a hook at which a thread comes back to a CPU */
	struct capabilities rights;
	enum lockdown lockdown;
};

/* Fills in the facts that do not depend on BTF: this process's capabilities, and lockdown. */
void load_error_facts__read(struct load_error_facts *facts);

/* The first cause, in the order in which a user must fix them. */
enum load_error load_error__judge(const struct load_error_facts *facts);

/* One line, the cause and the remedy with a semicolon between them. Returns buf. */
char *load_error__explain(const struct load_error_facts *facts, char *buf, size_t size);

/* Logs the cause of err, from loading or attaching programs on a kernel of these features. */
void load_error__log(int err, const struct kernel_features *features);

/* Logs later messages of libbpf and of the verifier with -vv. */
void load_error__log_details(void);

#endif /* DENET_BPF_LOAD_ERROR_H */
