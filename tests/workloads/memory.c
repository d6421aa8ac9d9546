/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memory STEP…: does one step after the other, and prints each once it is done: fill=MB (so much
 * memory, in small pages), free (all of it), burn=MS (CPU time), wait=MS, line (reads one),
 * uid=UID.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static char *memory;
static size_t size;

static void fill(size_t bytes)
{
	long page = sysconf(_SC_PAGESIZE);

	size = bytes;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		exit(1);
	madvise(memory, size, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < size; at += (size_t)page)
		memory[at] = 1;
}

static unsigned long cpu_ms(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (unsigned long)used.tv_sec * 1000 + (unsigned long)used.tv_nsec / 1000000;
}

static void burn(unsigned long ms)
{
	unsigned long end = cpu_ms() + ms + 1;

	while (cpu_ms() < end)
		;
}

static void wait_for_line(void)
{
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
}

static void wait_ms(unsigned long ms)
{
	const struct timespec time = { (time_t)(ms / 1000), (long)(ms % 1000 * 1000000) };

	nanosleep(&time, NULL);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i++) {
		const char *value = strchr(argv[i], '=');
		unsigned long number = value ? strtoul(value + 1, NULL, 10) : 0;

		if (!strncmp(argv[i], "fill=", 5))
			fill(number << 20);
		else if (!strncmp(argv[i], "burn=", 5))
			burn(number);
		else if (!strncmp(argv[i], "wait=", 5))
			wait_ms(number);
		else if (!strncmp(argv[i], "uid=", 4) && setuid((uid_t)number))
			return 1;
		else if (!strcmp(argv[i], "line"))
			wait_for_line();
		else if (!strcmp(argv[i], "free"))
			munmap(memory, size);
		else if (strncmp(argv[i], "uid=", 4) != 0)
			return 2;
		puts(argv[i]);
	}
	return 0;
}
