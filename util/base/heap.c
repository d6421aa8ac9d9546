/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/heap.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

uint64_t heap__used(void)
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

#ifdef __SANITIZE_ADDRESS__

int heap__limit(uint64_t bytes)
{
	(void)bytes;
	return 0;
}

#else

/* Pages of data and stack, as RLIMIT_DATA counts them, or a few more. */
static int count_data_pages(uint64_t *pages)
{
	FILE *file = fopen("/proc/self/statm", "re");
	int nr;

	if (!file)
		return -errno;
	nr = fscanf(file, "%*u %*u %*u %*u %*u %" SCNu64, pages);
	fclose(file);
	return nr == 1 ? 0 : -EINVAL;
}

int heap__limit(uint64_t bytes)
{
	struct rlimit limit;
	uint64_t pages, most;
	int err = count_data_pages(&pages);

	if (err)
		return err;
	if (getrlimit(RLIMIT_DATA, &limit))
		return -errno;
	most = pages * (uint64_t)sysconf(_SC_PAGESIZE) + bytes;
	if (limit.rlim_cur <= most)
		return 0;
	limit.rlim_cur = most;
	return setrlimit(RLIMIT_DATA, &limit) ? -errno : 0;
}

#endif
