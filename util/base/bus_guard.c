/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/bus_guard.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

/* A signal handler can report by globals only. */
static volatile uint64_t nr_faults;
static volatile uintptr_t fault_address;
static uintptr_t page_size;

/* mmap(2) is a plain system call here: no code of the C library that the signal could interrupt. */
static void fill_page(int number, siginfo_t *info, void *context)
{
	uintptr_t page = (uintptr_t)info->si_addr & ~(page_size - 1);
	int saved = errno;

	(void)context;
	if (info->si_code != BUS_ADRERR ||
	    mmap((void *)page, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) == MAP_FAILED) {
		/* The instruction is repeated, and ends the process. */
		signal(number, SIG_DFL);
		return;
	}
	fault_address = page;
	nr_faults++;
	errno = saved;
}

int bus_guard__install(void)
{
	struct sigaction action = { .sa_sigaction = fill_page, .sa_flags = SA_SIGINFO };

	page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
	sigemptyset(&action.sa_mask);
	return sigaction(SIGBUS, &action, NULL) ? -errno : 0;
}

uint64_t bus_guard__faults(void)
{
	return nr_faults;
}

uintptr_t bus_guard__address(void)
{
	return fault_address;
}
