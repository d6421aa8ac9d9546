/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_LOAD_ERROR_H
#define DENET_BPF_LOAD_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#include "host/capabilities.h"
#include "host/sysctl.h"

/*
 * Why the kernel did not take our programs, and what helps. The judgement is a pure
 * function over facts, so that it can be tried for kernels and machines that are not here.
 */
enum refusal {
	REFUSAL_NONE,
	REFUSAL_NO_BTF,
	REFUSAL_TOO_OLD,	/* no task storage for tracing programs */
	REFUSAL_NO_HOOK,	/* nothing to attach to where a thread comes back */
	REFUSAL_NO_DESCRIPTORS,
	REFUSAL_NO_MEMORY,
	REFUSAL_NO_RIGHTS,	/* capabilities are missing */
	REFUSAL_USER_NAMESPACE, /* they are there, but count in a container only */
	REFUSAL_LOCKDOWN,
	REFUSAL_SECCOMP,
	REFUSAL_NO_BPF,		/* the kernel has no bpf(2) */
	REFUSAL_POLICY,		/* all rights and still EPERM: a security module */
	REFUSAL_OTHER,
};

struct refusal_facts {
	int err;		/* what the kernel said, a negative errno */
	bool has_btf;		/* /sys/kernel/btf/vmlinux is there and can be read */
	bool has_scheduler;	/* BTF knows the tracepoint sched_switch */
	bool has_task_storage;	/* and the helper bpf_task_storage_get */
	bool has_hook;		/* and a hook at which a thread comes back to a CPU */
	struct rights rights;
	enum lockdown lockdown;
};

/* Fills in what does not depend on BTF: rights and lockdown of here and now. */
void refusal_facts__read(struct refusal_facts *facts);

/* The first cause, by what a user must repair first. */
enum refusal refusal__judge(const struct refusal_facts *facts);

/* One line, the cause and the remedy with a semicolon between them. Returns buf. */
char *refusal__explain(const struct refusal_facts *facts, char *buf, size_t size);

#endif /* DENET_BPF_LOAD_ERROR_H */
