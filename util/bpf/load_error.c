/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/load_error.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "bpf/kernel_features.h"

void load_error_facts__read(struct load_error_facts *facts)
{
	capabilities__read(&facts->rights);
	facts->lockdown = lockdown__read();
}

static bool has_rights(const struct load_error_facts *facts)
{
	return facts->rights.has[CAPABILITY_BPF] && facts->rights.has[CAPABILITY_PERFMON];
}

/* The kernel could load the programs: find what forbids it. */
static enum load_error judge_permission(const struct load_error_facts *facts)
{
	/* Without one of the two, the verifier rejects the programs (EINVAL, EACCES). */
	if (!has_rights(facts))
		return LOAD_ERROR_NO_RIGHTS;
	/* Helpers that read kernel memory are not available then, whatever the error. */
	if (facts->lockdown == LOCKDOWN_CONFIDENTIALITY)
		return LOAD_ERROR_LOCKDOWN;
	if (facts->err != -EPERM && facts->err != -EACCES)
		return LOAD_ERROR_OTHER;
	if (facts->rights.user_namespace)
		return LOAD_ERROR_USER_NAMESPACE;
	return facts->rights.seccomp ? LOAD_ERROR_SECCOMP : LOAD_ERROR_POLICY;
}

enum load_error load_error__judge(const struct load_error_facts *facts)
{
	if (!facts->err)
		return LOAD_ERROR_NONE;
	if (facts->err == -EMFILE || facts->err == -ENFILE)
		return LOAD_ERROR_NO_DESCRIPTORS;
	if (facts->err == -ENOMEM)
		return LOAD_ERROR_NO_MEMORY;
	/* Causes that no capability can repair come first. */
	if (!facts->has_btf)
		return LOAD_ERROR_NO_BTF;
	if (!facts->has_scheduler || !facts->has_task_storage)
		return LOAD_ERROR_TOO_OLD;
	if (facts->err == -ENOSYS)
		return facts->rights.seccomp ? LOAD_ERROR_SECCOMP : LOAD_ERROR_NO_BPF;
	if (!has_rights(facts) || facts->has_hook)
		return judge_permission(facts);
	return LOAD_ERROR_NO_HOOK;
}

static const struct {
	const char *cause;
	const char *remedy;
} words[] = {
	[LOAD_ERROR_NO_BTF] = { "the kernel's BTF (/sys/kernel/btf/vmlinux) cannot be read",
				"boot a kernel with CONFIG_DEBUG_INFO_BTF, as Debian's are "
				"since 11, or mount sysfs" },
	[LOAD_ERROR_TOO_OLD] = { "this kernel is too old: it has no task storage for "
				 "tracing programs",
				 "boot Linux 5.11 or later" },
	[LOAD_ERROR_NO_HOOK] = { "this kernel has none of the hooks at which a thread comes back "
				 "to the CPU (sched_exit_tp, fentry of __perf_event_task_sched_in)",
				 "leave --capture at auto: stacks are then walked at switch-out" },
	[LOAD_ERROR_NO_DESCRIPTORS] = { "no descriptors left for BPF programs and maps",
					"raise `ulimit -n`" },
	[LOAD_ERROR_NO_MEMORY] = { "no memory for the BPF maps",
				   "raise the memory limit of this cgroup, or `ulimit -l` before "
				   "Linux 5.11" },
	[LOAD_ERROR_USER_NAMESPACE] = { "no right to load BPF programs: the capabilities that "
					"this process has count in its user namespace only",
					"run it outside of the rootless container" },
	[LOAD_ERROR_LOCKDOWN] = { "kernel lockdown (confidentiality) forbids BPF to read "
				  "the kernel",
				  "boot with lockdown=integrity or none" },
	[LOAD_ERROR_SECCOMP] = { "a seccomp filter refuses bpf(2) or perf_event_open(2)",
				 "run outside of the sandbox, or start the container with "
				 "--cap-add BPF --cap-add PERFMON "
				 "--security-opt seccomp=unconfined" },
	[LOAD_ERROR_NO_BPF] = { "this kernel is built without bpf(2)",
				"boot one with CONFIG_BPF_SYSCALL" },
	[LOAD_ERROR_POLICY] = { "the kernel refuses to load BPF programs though the "
				 "rights are there",
				"look for a security module that says no (`journalctl -k`, "
				"`ausearch -m avc`)" },
};

static char *explain_rights(const struct capabilities *rights, char *buf, size_t size)
{
	bool bpf = rights->has[CAPABILITY_BPF], perfmon = rights->has[CAPABILITY_PERFMON];

	snprintf(buf, size,
		 "no right to load BPF programs, %s%s%s missing; run as root, or give the program "
		 "its capabilities with denet-setcap (CAP_BPF and CAP_PERFMON at least)",
		 bpf ? "" : "CAP_BPF", bpf || perfmon ? "" : " and ",
		 perfmon ? " is" : bpf ? "CAP_PERFMON is" : "CAP_PERFMON are");
	return buf;
}

char *load_error__explain(const struct load_error_facts *facts, char *buf, size_t size)
{
	enum load_error load_error = load_error__judge(facts);

	if (load_error == LOAD_ERROR_NO_RIGHTS)
		return explain_rights(&facts->rights, buf, size);
	if (load_error == LOAD_ERROR_NONE)
		snprintf(buf, size, "nothing was refused");
	else if (load_error == LOAD_ERROR_OTHER)
		snprintf(buf, size, "the kernel refused the BPF programs: %s; run with -vv for its "
			 "words", strerror(-facts->err));
	else
		snprintf(buf, size, "%s; %s", words[load_error].cause, words[load_error].remedy);
	return buf;
}

void load_error__log(int err, const struct kernel_features *features)
{
	struct load_error_facts facts = {
		.err = err,
		.has_btf = features->has_btf,
		.has_scheduler = features->has_scheduler,
		.has_task_storage = features->has_task_storage,
		.has_hook = features->has_btf && err != -EOPNOTSUPP,
	};
	char text[512];

	load_error_facts__read(&facts);
	pr_err("%s", load_error__explain(&facts, text, sizeof(text)));
}

__attribute__((format(printf, 2, 0)))
static int print_libbpf(enum libbpf_print_level level, const char *format, va_list args)
{
	char *text, *line, *rest;

	(void)level;
	/* Our own messages have cause and remedy; those of libbpf and the verifier need -vv. */
	if (log__level() < LOG_DEBUG || vasprintf(&text, format, args) < 0)
		return 0;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		pr_debug("%s", line);
	free(text);
	return 0;
}

void load_error__log_details(void)
{
	libbpf_set_print(print_libbpf);
}
