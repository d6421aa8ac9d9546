/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/syscall_names.h"

#include <inttypes.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/syscalls.h"

/* __X32_SYSCALL_BIT of asm/unistd.h, which only x86 has. */
#define X32_BIT 0x40000000u

/* From here on, new calls have one number on all architectures (Linux 5.1). */
#define FIRST_COMMON_NR 424

static uint32_t seccomp_arch(enum stat_abi abi)
{
#if defined(__x86_64__)
	static const uint32_t archs[STAT_ABI_MAX] = {
		[STAT_ABI_NATIVE] = SCMP_ARCH_X86_64,
		[STAT_ABI_COMPAT] = SCMP_ARCH_X86,
		[STAT_ABI_X32] = SCMP_ARCH_X32,
	};
#elif defined(__aarch64__)
	static const uint32_t archs[STAT_ABI_MAX] = {
		[STAT_ABI_NATIVE] = SCMP_ARCH_AARCH64,
		[STAT_ABI_COMPAT] = SCMP_ARCH_ARM,
	};
#else
	static const uint32_t archs[STAT_ABI_MAX] = { [STAT_ABI_NATIVE] = SCMP_ARCH_NATIVE };
#endif

	return archs[abi];
}

const char *syscall_names__put(enum stat_abi abi, uint32_t nr, char name[SYSCALL_NAME_LEN])
{
	uint32_t plain = abi == STAT_ABI_X32 ? nr & ~X32_BIT : nr;
	uint32_t wanted = abi == STAT_ABI_X32 ? nr | X32_BIT : nr;
	uint32_t arch = seccomp_arch(abi);
	const char *known = "";
	char *found = NULL;

	/* Negative numbers are libseccomp's own, for calls that an architecture does not have. */
	if (arch && wanted <= INT32_MAX)
		found = seccomp_syscall_resolve_num_arch(arch, (int)wanted);
	if (!found && plain <= INT32_MAX && (abi == STAT_ABI_NATIVE || plain >= FIRST_COMMON_NR))
		known = syscalls__name((int)plain);
	if (found || *known)
		snprintf(name, SYSCALL_NAME_LEN, "%s", found ? found : known);
	else
		snprintf(name, SYSCALL_NAME_LEN, "syscall_%" PRIu32, plain);
	free(found);
	return name;
}
