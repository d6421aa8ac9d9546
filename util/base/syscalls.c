/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/syscalls.h"

#include <sys/syscall.h>

static const char *const names[] = {
#include "syscall_names.h"
};

const char *syscalls__name(int nr)
{
	return nr >= 0 && nr < syscalls__count() && names[nr] ? names[nr] : "";
}

int syscalls__count(void)
{
	return (int)(sizeof(names) / sizeof(names[0]));
}
