/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/typed_calls.h"

#include <string.h>

#include "base/syscalls.h"

void typed_calls__mark(uint8_t *calls, size_t nr)
{
	static const char *const names[] = {
		"read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev",
		"preadv2", "pwritev2",
	};

	for (size_t i = 0; i < nr; i++) {
		calls[i] = 0;
		for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++)
			calls[i] |= !strcmp(syscalls__name((int)i), names[j]);
	}
}
