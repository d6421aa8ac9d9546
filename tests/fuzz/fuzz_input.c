/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Any bytes as a perf.data file, regular or a stream: samples have frames that lie in the file, and
 * times that only grow.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "input/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* libtraceevent leaks some memory with formats that it refuses. */
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent\n";
}

struct seen {
	uint64_t frames;
	size_t size; /* of the file */
};

static int see(void *ctx, const struct sample *sample)
{
	struct seen *seen = ctx;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < sample->kernel.nr; i++)
		sum += sample->kernel.ips[i];
	for (uint32_t i = 0; i < sample->user.nr; i++)
		sum += sample->user.ips[i];
	seen->frames += sample->kernel.nr + sample->user.nr;
	if (seen->frames * sizeof(uint64_t) > seen->size || sample->runqueue > sample->period ||
	    (sample->reason && strlen(sample->reason->path) >= sizeof(sample->reason->path)))
		abort();
	return sum == 1;
}

static void ignore(void *ctx, enum log_level level, const char *text)
{
	(void)ctx;
	(void)level;
	(void)text;
}

static int see_build_id(void *ctx, const char *path, const unsigned char *id, size_t len)
{
	(void)ctx;
	return strlen(path) > 65536 || !len || len > 20 || id[len - 1] == 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen seen = { .size = size };
	int fd = memfd_create("fuzz", MFD_CLOEXEC), err;
	struct machine *machine = machine__new();
	struct input *input;
	char path[32];

	log__set_sink(ignore, NULL);
	if (fd < 0 || !machine || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	input = input__open(path, &err);
	if (input) {
		input__read(input, machine, see, &seen);
		input_info__each_build_id(input__info(input), see_build_id, NULL);
	}
	input__close(input);
	machine__delete(machine);
	close(fd);
	return 0;
}
