/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/captured_stderr.h"

#include <sys/mman.h>
#include <unistd.h>

int captured_stderr__begin(void)
{
	int saved = dup(STDERR_FILENO), fd = memfd_create("stderr", MFD_CLOEXEC);

	dup2(fd, STDERR_FILENO);
	close(fd);
	return saved;
}

void captured_stderr__end(int saved, char *text, size_t size)
{
	ssize_t n = pread(STDERR_FILENO, text, size - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	dup2(saved, STDERR_FILENO);
	close(saved);
}
