/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Any bytes as /proc/kallsyms: symbols lie at or below the address of the look-up, and a range
 * holds its own start.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_line(const char *line, size_t len)
{
	struct kallsyms_line parsed;

	if (kallsyms__parse_line(line, len, &parsed))
		return;
	if (!parsed.name_len || parsed.name < line || parsed.name + parsed.name_len > line + len)
		abort();
}

static void check_look_up(const struct kallsyms *kallsyms, uint64_t address)
{
	uint64_t offset = UINT64_MAX, start, end;
	const char *name = kallsyms__lookup(kallsyms, address, &offset);

	if (!name)
		return;
	if (offset > address || offset >= KALLSYMS_OFFSET_MAX || !*name)
		abort();
	if (kallsyms__range(kallsyms, name, &start, &end) || start > address || end < start)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("kallsyms", MFD_CLOEXEC), err;
	struct kallsyms *kallsyms;
	uint64_t address;
	char path[64];

	check_line((const char *)data, size);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	kallsyms = kallsyms__new(path, &err);
	close(fd);
	if (!kallsyms)
		return 0;
	for (size_t i = 0; i + sizeof(address) <= size && i < 64; i += sizeof(address)) {
		memcpy(&address, data + i, sizeof(address));
		check_look_up(kallsyms, address);
		check_look_up(kallsyms, address & 0xffff);
	}
	check_look_up(kallsyms, 0x1000);
	check_look_up(kallsyms, UINT64_MAX);
	kallsyms__delete(kallsyms);
	return 0;
}
