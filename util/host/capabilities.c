/* SPDX-License-Identifier: GPL-2.0-only */
#include "host/capabilities.h"

#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The inode number that the kernel gives the first user namespace, always. */
#define FIRST_USER_NAMESPACE 0xEFFFFFFDU

static const struct {
	const char *name;
	int number;
	bool in_sys_admin; /* what CAP_SYS_ADMIN holds, for the sake of older programs */
	const char *buys;
} table[CAPABILITY_MAX] = {
	[CAPABILITY_BPF] = { "CAP_BPF", CAP_BPF, true, "recording: BPF programs are loaded" },
	[CAPABILITY_PERFMON] = { "CAP_PERFMON", CAP_PERFMON, true,
			    "recording: they look at the scheduler, rings are opened" },
	[CAPABILITY_SYS_PTRACE] = { "CAP_SYS_PTRACE", CAP_SYS_PTRACE, false,
			       "names and build-ids for other users' processes" },
	[CAPABILITY_SYSLOG] = { "CAP_SYSLOG", CAP_SYSLOG, true, "names of kernel functions" },
	[CAPABILITY_DAC_READ_SEARCH] = { "CAP_DAC_READ_SEARCH", CAP_DAC_READ_SEARCH, false,
				    "build-ids of files that others may not read" },
	[CAPABILITY_CHECKPOINT_RESTORE] = { "CAP_CHECKPOINT_RESTORE", CAP_CHECKPOINT_RESTORE, true,
				       "user stacks in files that no name leads to" },
	[CAPABILITY_IPC_LOCK] = { "CAP_IPC_LOCK", CAP_IPC_LOCK, false,
			     "large rings (-m) beyond kernel.perf_event_mlock_kb" },
};

const char *capability__name(enum capability right)
{
	return table[right].name;
}

const char *capability__buys(enum capability right)
{
	return table[right].buys;
}

long capabilities__status_value(const char *status, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = status; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, len) && line[len] == ':')
			return strtol(line + len + 1, NULL, 10);
	}
	return -1;
}

static bool read_seccomp(void)
{
	char status[8192];
	FILE *file = fopen("/proc/self/status", "re");
	size_t len;

	if (!file)
		return false;
	len = fread(status, 1, sizeof(status) - 1, file);
	fclose(file);
	status[len] = '\0';
	return capabilities__status_value(status, "Seccomp") > 0;
}

void capabilities__read(struct capabilities *rights)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	uint64_t effective = 0;
	struct stat st;

	*rights = (struct capabilities){ 0 };
	/* The library of this call is one more dependency, for one call. */
	if (!syscall(SYS_capget, &header, data))
		effective = (uint64_t)data[1].effective << 32 | data[0].effective;
	for (int i = 0; i < CAPABILITY_MAX; i++)
		rights->has[i] = effective & 1ULL << table[i].number ||
				 (table[i].in_sys_admin && effective & 1ULL << CAP_SYS_ADMIN);
	if (!stat("/proc/self/ns/user", &st))
		rights->user_namespace = st.st_ino != FIRST_USER_NAMESPACE;
	rights->seccomp = read_seccomp();
}

char *capabilities__missing_for_code(char *buf, size_t size)
{
	static const enum capability needed[] = { CAPABILITY_SYS_PTRACE,
						  CAPABILITY_DAC_READ_SEARCH,
						  CAPABILITY_CHECKPOINT_RESTORE };
	struct capabilities rights;
	size_t len = 0;

	*buf = '\0';
	capabilities__read(&rights);
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed) && len < size; i++) {
		if (!rights.has[needed[i]])
			len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? ", " : "",
						capability__name(needed[i]));
	}
	return buf;
}
