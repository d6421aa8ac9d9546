/* SPDX-License-Identifier: GPL-2.0-only */
/* Any bytes as a file of samples in CSV: rows have texts in all columns, or are counted as none. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "top/csv_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int see(void *ctx, const struct csv_row *row)
{
	(void)ctx;
	for (int i = 0; i < TOP_COLUMNS; i++) {
		if (!row->texts[i] || strchr(row->texts[i], '\n'))
			abort();
	}
	return 0;
}

static void ignore(void *ctx, enum log_level level, const char *text)
{
	(void)ctx;
	(void)level;
	(void)text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("samples", MFD_CLOEXEC);
	uint64_t bad = 0;
	char path[32];

	log__set_sink(ignore, NULL);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	csv_reader__read(path, see, NULL, &bad);
	close(fd);
	return 0;
}
