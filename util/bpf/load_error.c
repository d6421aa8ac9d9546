/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/load_error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void refusal_facts__read(struct refusal_facts *facts)
{
	rights__read(&facts->rights);
	facts->lockdown = lockdown__read();
}

static bool has_rights(const struct refusal_facts *facts)
{
	return facts->rights.has[RIGHT_BPF] && facts->rights.has[RIGHT_PERFMON];
}

/* Of a kernel that would do: who or what forbids it. */
static enum refusal judge_permission(const struct refusal_facts *facts)
{
	/* Without one of the two, the verifier finds fault with the programs (EINVAL, EACCES). */
	if (!has_rights(facts))
		return REFUSAL_NO_RIGHTS;
	/* Helpers that read the kernel are as good as absent then, whatever the error. */
	if (facts->lockdown == LOCKDOWN_CONFIDENTIALITY)
		return REFUSAL_LOCKDOWN;
	if (facts->err != -EPERM && facts->err != -EACCES)
		return REFUSAL_OTHER;
	if (facts->rights.user_namespace)
		return REFUSAL_USER_NAMESPACE;
	return facts->rights.seccomp ? REFUSAL_SECCOMP : REFUSAL_POLICY;
}

enum refusal refusal__judge(const struct refusal_facts *facts)
{
	if (!facts->err)
		return REFUSAL_NONE;
	if (facts->err == -EMFILE || facts->err == -ENFILE)
		return REFUSAL_NO_DESCRIPTORS;
	if (facts->err == -ENOMEM)
		return REFUSAL_NO_MEMORY;
	/* What no right can repair comes before what one can. */
	if (!facts->has_btf)
		return REFUSAL_NO_BTF;
	if (!facts->has_scheduler || !facts->has_task_storage)
		return REFUSAL_TOO_OLD;
	if (facts->err == -ENOSYS)
		return facts->rights.seccomp ? REFUSAL_SECCOMP : REFUSAL_NO_BPF;
	if (!has_rights(facts) || facts->has_hook)
		return judge_permission(facts);
	return REFUSAL_NO_HOOK;
}

static const struct {
	const char *cause;
	const char *remedy;
} words[] = {
	[REFUSAL_NO_BTF] = { "the kernel's BTF (/sys/kernel/btf/vmlinux) cannot be read",
			     "boot a kernel with CONFIG_DEBUG_INFO_BTF, as Debian's are since 11, "
			     "or mount sysfs" },
	[REFUSAL_TOO_OLD] = { "this kernel is too old: it has no task storage for tracing "
			      "programs",
			      "boot Linux 5.11 or later" },
	[REFUSAL_NO_HOOK] = { "this kernel has none of the hooks at which a thread comes back to "
			      "the CPU (sched_exit_tp, fentry of __perf_event_task_sched_in)",
			      "leave --capture at auto: stacks are then walked at switch-out" },
	[REFUSAL_NO_DESCRIPTORS] = { "no descriptors left for BPF programs and maps",
				     "raise `ulimit -n`" },
	[REFUSAL_NO_MEMORY] = { "no memory for the BPF maps",
				"raise the memory limit of this cgroup, or `ulimit -l` before "
				"Linux 5.11" },
	[REFUSAL_USER_NAMESPACE] = { "no right to load BPF programs: the capabilities that this "
				     "process has count in its user namespace only",
				     "run it outside of the rootless container" },
	[REFUSAL_LOCKDOWN] = { "kernel lockdown (confidentiality) forbids BPF to read "
				  "the kernel",
			       "boot with lockdown=integrity or none" },
	[REFUSAL_SECCOMP] = { "a seccomp filter refuses bpf(2) or perf_event_open(2)",
			      "run outside of the sandbox, or start the container with "
			      "--cap-add BPF --cap-add PERFMON --security-opt seccomp=unconfined" },
	[REFUSAL_NO_BPF] = { "this kernel is built without bpf(2)",
			     "boot one with CONFIG_BPF_SYSCALL" },
	[REFUSAL_POLICY] = { "the kernel refuses to load BPF programs though the rights are "
				"there",
			     "look for a security module that says no (`journalctl -k`, "
			     "`ausearch -m avc`)" },
};

static char *explain_rights(const struct rights *rights, char *buf, size_t size)
{
	bool bpf = rights->has[RIGHT_BPF], perfmon = rights->has[RIGHT_PERFMON];

	snprintf(buf, size,
		 "no right to load BPF programs, %s%s%s missing; run as root, or give the program "
		 "its capabilities with scripts/setcap.sh (CAP_BPF and CAP_PERFMON at least)",
		 bpf ? "" : "CAP_BPF", bpf || perfmon ? "" : " and ",
		 perfmon ? " is" : bpf ? "CAP_PERFMON is" : "CAP_PERFMON are");
	return buf;
}

char *refusal__explain(const struct refusal_facts *facts, char *buf, size_t size)
{
	enum refusal refusal = refusal__judge(facts);

	if (refusal == REFUSAL_NO_RIGHTS)
		return explain_rights(&facts->rights, buf, size);
	if (refusal == REFUSAL_NONE)
		snprintf(buf, size, "nothing was refused");
	else if (refusal == REFUSAL_OTHER)
		snprintf(buf, size, "the kernel refused the BPF programs: %s; run with -vv for its "
			 "words", strerror(-facts->err));
	else
		snprintf(buf, size, "%s; %s", words[refusal].cause, words[refusal].remedy);
	return buf;
}
