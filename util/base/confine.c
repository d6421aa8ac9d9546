/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/heap.h"

#ifdef __SANITIZE_ADDRESS__

int confine__process(enum confine_kind kind, uint64_t max_bytes)
{
	(void)kind;
	(void)max_bytes;
	return 0;
}

#else

/* Flags of open(2) that are 0 when a file is opened for reading. */
#define WRITE_FLAGS (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND)

/*
 * Memory, reading, messages to the parent, and the C library's own calls. openat2() takes its flags
 * by address, which a filter cannot check: only file permissions keep it from writing.
 */
static const int plain_calls[] = {
	SCMP_SYS(access),      SCMP_SYS(brk),		SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(close),       SCMP_SYS(dup),		SCMP_SYS(exit),
	SCMP_SYS(exit_group),  SCMP_SYS(faccessat),	SCMP_SYS(faccessat2),
	SCMP_SYS(fcntl),       SCMP_SYS(fstat),		SCMP_SYS(fstatfs),
	SCMP_SYS(futex),       SCMP_SYS(getdents64),	SCMP_SYS(getpid),
	SCMP_SYS(getppid),     SCMP_SYS(getrandom),	SCMP_SYS(gettid),
	SCMP_SYS(lseek),       SCMP_SYS(madvise),	SCMP_SYS(memfd_create),
	SCMP_SYS(mremap),      SCMP_SYS(munmap),	SCMP_SYS(nanosleep),
	SCMP_SYS(newfstatat),  SCMP_SYS(openat2),	SCMP_SYS(poll),
	SCMP_SYS(ppoll),       SCMP_SYS(pread64),	SCMP_SYS(read),
	SCMP_SYS(readlink),    SCMP_SYS(readlinkat),	SCMP_SYS(recvfrom),
	SCMP_SYS(restart_syscall), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(sched_yield),	SCMP_SYS(sendto),
	SCMP_SYS(statfs),      SCMP_SYS(statx),		SCMP_SYS(write),
	SCMP_SYS(writev),
};

static const int copy_calls[] = {
	SCMP_SYS(fallocate), SCMP_SYS(fchmod),	  SCMP_SYS(flock),    SCMP_SYS(fsync),
	SCMP_SYS(ftruncate), SCMP_SYS(geteuid),	  SCMP_SYS(linkat),   SCMP_SYS(mkdirat),
	SCMP_SYS(openat),    SCMP_SYS(pwrite64),  SCMP_SYS(renameat), SCMP_SYS(renameat2),
	SCMP_SYS(symlinkat), SCMP_SYS(unlinkat),
};

static int allow_all(scmp_filter_ctx filter, const int *calls, size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	return err;
}

/* System calls that are allowed by their arguments. */
static int allow_some(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, 4 /* PROT_EXEC */, 0);
	int err;

	err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, no_code);
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_code);
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
				       SCMP_A1(SCMP_CMP_EQ, FS_IOC_GETVERSION, 0));
	/* Signal 0: checks whether a process exists. */
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(kill), 1,
				       SCMP_A1(SCMP_CMP_EQ, 0, 0));
	return err;
}

static int fill_filter(scmp_filter_ctx filter, enum confine_kind kind)
{
	int err = allow_all(filter, plain_calls, sizeof(plain_calls) / sizeof(*plain_calls));

	if (!err)
		err = allow_some(filter);
	if (err)
		return err;
	if (kind == CONFINE_COPY)
		return allow_all(filter, copy_calls, sizeof(copy_calls) / sizeof(*copy_calls));
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
				SCMP_A2(SCMP_CMP_MASKED_EQ, WRITE_FLAGS, O_RDONLY));
}

/* Refused calls fail with ENOSYS, as on an older kernel: libraries have fallbacks for it. */
static int filter_calls(enum confine_kind kind)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int err;

	if (!filter)
		return -ENOMEM;
	err = fill_filter(filter, kind);
	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return err;
}

static uint32_t keep_capabilities(uint32_t had, int word, enum confine_kind kind)
{
	static const int reading[] = { CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH,
				       CAP_CHECKPOINT_RESTORE };
	uint32_t kept = 0;

	for (size_t i = 0; i < sizeof(reading) / sizeof(*reading); i++) {
		if (CAP_TO_INDEX(reading[i]) == word)
			kept |= CAP_TO_MASK(reading[i]);
	}
	/* Root's cache may be in the home directory of the user that invoked it. */
	if (kind == CONFINE_COPY && CAP_TO_INDEX(CAP_DAC_OVERRIDE) == word)
		kept |= CAP_TO_MASK(CAP_DAC_OVERRIDE);
	return had & kept;
}

static int drop_capabilities(enum confine_kind kind)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, data))
		return -errno;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].permitted = keep_capabilities(data[i].permitted, i, kind);
		data[i].effective &= data[i].permitted;
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

int confine__process(enum confine_kind kind, uint64_t max_bytes)
{
	int heap = heap__limit(max_bytes);
	int capabilities = drop_capabilities(kind);
	int calls = filter_calls(kind);

	return heap ? heap : capabilities ? capabilities : calls;
}

#endif
