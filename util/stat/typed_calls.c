/* SPDX-License-Identifier: GPL-2.0-only */
#include "stat/typed_calls.h"

#include <stdbool.h>
#include <string.h>

#include "base/syscalls.h"

static bool is_one_of(const char *const *names, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(names[i], name))
			return true;
	}
	return false;
}

#define IS_ONE_OF(names, name) is_one_of(names, sizeof(names) / sizeof((names)[0]), name)

void typed_calls__mark(uint8_t *calls, size_t nr)
{
	static const char *const names[] = {
		"read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev",
		"preadv2", "pwritev2", "sendfile", "sendfile64", "splice", "tee", "vmsplice",
	};

	for (size_t i = 0; i < nr; i++)
		calls[i] = IS_ONE_OF(names, syscalls__name((int)i));
}

uint32_t typed_calls__sigreturn(void)
{
	int nr = 0;

	while (nr < syscalls__count() && strcmp(syscalls__name(nr), "rt_sigreturn") != 0)
		nr++;
	return (uint32_t)nr;
}

void typed_calls__mark_sockets(uint8_t *calls, size_t nr)
{
	static const char *const receive[] = {
		"read", "readv", "recvfrom", "recvmsg", "recvmmsg", "accept", "accept4",
	};
	static const char *const send[] = {
		"write", "writev", "sendto", "sendmsg", "sendmmsg", "sendfile", "connect",
	};

	for (size_t i = 0; i < nr; i++) {
		const char *name = syscalls__name((int)i);

		calls[i] = IS_ONE_OF(receive, name) ? TYPED_CALLS_RECEIVE :
			   IS_ONE_OF(send, name)    ? TYPED_CALLS_SEND :
						      0;
	}
}
