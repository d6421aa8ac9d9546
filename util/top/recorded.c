/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/recorded.h"

#include "top/perf_reader.h"

int recorded__read(const char *path, csv_row_fn fn, void *ctx, uint64_t *bad)
{
	*bad = 0;
	if (perf_reader__knows(path))
		return perf_reader__read(path, fn, ctx);
	return csv_reader__read(path, fn, ctx, bad);
}
