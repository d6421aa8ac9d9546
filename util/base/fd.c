/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/fd.h"

#include <errno.h>
#include <unistd.h>

int fd__write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t len = write(fd, data, size);

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return -errno;
		data += len;
		size -= (size_t)len;
	}
	return 0;
}
