/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A broken ELF file, registers and a stack: each frame lies in a mapping, and there are no more
 * than requested. The input is a head, then the stack, then the file.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/machine.h"
#include "machine/maps.h"
#include "machine/task_event.h"
#include "unwind/unwinder.h"

#define CODE 0x400000ULL
#define STACK 0x7ff000000000ULL
#define MAX_FRAMES 40
#define HEADERS 0xb0

/* Near to what is mapped, so that something comes of it. */
struct head {
	uint8_t words; /* of stack */
	uint8_t rip;   /* behind the file's headers */
	uint8_t regs[UNWIND_NR_REGS];
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The unwinder opens by name: the file is written anew for each input. */
static int write_file(char *path, size_t path_size, const uint8_t *data, size_t size, ino_t *ino)
{
	const char *tmp = getenv("TMPDIR");
	struct stat st;
	int fd;

	snprintf(path, path_size, "%s/denet-fuzz-%d", tmp ? tmp : "/tmp", getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	if (write(fd, data, size) != (ssize_t)size || fstat(fd, &st))
		abort();
	*ino = st.st_ino;
	return close(fd);
}

static void check(const struct machine *machine, const struct unwind_result *result)
{
	const struct maps *maps = process__maps_at(machine__process(machine, 0), 0);

	if (result->nr > MAX_FRAMES || result->status >= UNWIND_NR_STATUS)
		abort();
	for (uint32_t i = 0; i < result->nr; i++) {
		if (!maps__find(maps, 0, result->ips[i]) &&
		    !maps__find(maps, 0, result->ips[i] - 1))
			abort();
	}
}

static void unwind(struct machine *machine, const struct head *head, const uint8_t *stack)
{
	struct unwind_sample sample = { .stack = stack, .stack_bytes = head->words * 8UL,
					.max_frames = MAX_FRAMES };
	struct unwind_result result;
	struct unwinder *unwinder;
	int err;

	unwinder = unwinder__new(machine, &err);
	if (!unwinder)
		abort();
	for (size_t i = 0; i < UNWIND_NR_REGS; i++)
		sample.regs.r[i] = STACK + head->regs[i] * 8UL;
	sample.regs.r[UNWIND_SP] = STACK;
	sample.regs.r[UNWIND_PC] = CODE + HEADERS + head->rip;
	for (int times = 0; times < 2; times++) {
		if (unwinder__unwind(unwinder, &sample, &result))
			abort();
		check(machine, &result);
	}
	unwinder__delete(unwinder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[256];
	struct task_event event = { .kind = TASK_EVENT_MMAP,
				    .map = { .start = CODE, .len = 0x10000, .path = path } };
	const uint8_t *stack = data + sizeof(struct head), *file;
	struct machine *machine;
	struct head head;
	ino_t ino = 0;

	if (size < sizeof(head))
		return 0;
	memcpy(&head, data, sizeof(head));
	file = stack + head.words * 8UL;
	if (file > data + size ||
	    write_file(path, sizeof(path), file, (size_t)(data + size - file), &ino))
		return 0;
	event.map.ino = ino;
	machine = machine__new();
	/* As process 0, whose files are found below our own root. */
	if (!machine || machine__handle(machine, &event))
		abort();
	unwind(machine, &head, stack);
	machine__delete(machine);
	unlink(path);
	return 0;
}
