/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For --ms milliseconds, makes one of --pages pages after the other executable and takes that away
 * again: the kernel tells each time of an executable mapping. Prints how often it did, and how long
 * it took.
 */
#include "workload.h"

#include <sys/mman.h>

static unsigned long protect_for(char *pages, unsigned long nr, size_t page, uint64_t ns)
{
	uint64_t end = workload__now() + ns;
	unsigned long times;

	for (times = 0; workload__now() < end; times++) {
		char *at = pages + times % nr * page;

		if (mprotect(at, page, PROT_READ | PROT_EXEC) || mprotect(at, page, PROT_READ))
			workload__fail("mprotect", errno);
	}
	return times;
}

int main(int argc, char **argv)
{
	struct workload_option options[] = { { "ms", 1000 }, { "pages", 64 }, { 0 } };
	bool wait = workload__parse(argc, argv, options);
	unsigned long nr = options[1].value, times;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, nr * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || !nr)
		workload__fail("--pages or memory", EINVAL);
	workload__ready(wait);
	times = protect_for(pages, nr, page, options[0].value * 1000000);
	printf("truth times=%lu\n", times);
	return 0;
}
