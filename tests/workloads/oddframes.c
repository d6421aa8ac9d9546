/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sleeps with invalid frame pointers, as in programs that use the register for something else.
 * --rounds times each. Frames larger than a page, and a chain deeper than any walk, come besides.
 */
#include "workload.h"

#include <sys/mman.h>

#define NAP_NS (200 * 1000UL)
#define PAGE 4096UL

#if defined(__x86_64__)
/* The sleep, with the frame pointer that is asked for. */
KNOWN static void nap_with(uint64_t fp)
{
	struct timespec rest = { .tv_nsec = (long)NAP_NS };
	register uint64_t value __asm__("r12") = fp;
	long result;

	__asm__ volatile("mov %%rbp, %%r13\n\t"
			 "mov %%r12, %%rbp\n\t"
			 "syscall\n\t"
			 "mov %%r13, %%rbp"
			 : "=a"(result)
			 : "a"(SYS_nanosleep), "D"(&rest), "S"(NULL), "r"(value)
			 : "rcx", "r11", "r13", "memory");
}

/* Two pages of memory, and none behind them. */
static char *make_pages(void)
{
	char *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);

	if (pages == MAP_FAILED || munmap(pages + 2 * PAGE, PAGE) < 0)
		workload__fail("mmap", errno);
	memset(pages, 0, 2 * PAGE);
	return pages;
}

/* A frame at an address: its caller's frame pointer, its return address. */
static uint64_t lay(char *at, uint64_t next, uint64_t ret)
{
	memcpy(at, &next, sizeof(next));
	memcpy(at + sizeof(next), &ret, sizeof(ret));
	return (uint64_t)at;
}

KNOWN static void nap_oddly(char *pages)
{
	char *end = pages + 2 * PAGE, *page = pages + PAGE;
	uint64_t frame;

	nap_with(0);
	nap_with(1);
	nap_with(PAGE - 1);
	nap_with(PAGE);
	nap_with((uint64_t)end);
	nap_with((uint64_t)end - 8); /* half of it can be read */
	nap_with(1ULL << 63);
	nap_with(UINT64_MAX);
	nap_with(UINT64_MAX - 15);
	nap_with(lay(pages, (uint64_t)pages, 0x1111)); /* its own caller */
	nap_with(lay(pages + 3, (uint64_t)pages + 3, 0x2222));
	frame = lay(end - 16, 0, 0x3333);
	frame = lay(page - 8, frame, 0x4444); /* across two pages */
	frame = lay(page - 101, frame, 0x5555);
	frame = lay(page + 512, frame, 0x6666); /* the chain turns back */
	frame = lay(pages, frame, 0x7777);
	nap_with(frame);
	nap_with(lay(pages, 1ULL << 62, 0)); /* a return address of 0 */
}
#else
KNOWN static void nap_with(uint64_t fp)
{
	(void)fp;
	workload__nanosleep(NAP_NS);
}

static char *make_pages(void)
{
	return NULL;
}

KNOWN static void nap_oddly(char *pages)
{
	(void)pages;
	nap_with(0);
}
#endif

KNOWN static void nap_below(unsigned long depth)
{
	volatile char room[1500];

	room[0] = 1;
	if (depth)
		nap_below(depth - 1);
	else
		workload__nanosleep(NAP_NS);
	room[1] = room[0];
}

int main(int argc, char **argv)
{
	struct workload_option options[] = { { "rounds", 10 }, { 0 } };
	bool wait = workload__parse(argc, argv, options);
	struct waits truth = { .comm = "oddframes" };
	char *pages = make_pages();

	prctl(PR_SET_TIMERSLACK, 1UL);
	workload__ready(wait);
	waits__begin(&truth, "nanosleep", "-");
	for (unsigned long i = 0; i < options[0].value; i++) {
		nap_oddly(pages);
		nap_below(i % 20);
		nap_below(300);
	}
	waits__end(&truth);
	waits__print(&truth);
	return 0;
}
