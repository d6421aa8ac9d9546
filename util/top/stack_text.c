/* SPDX-License-Identifier: GPL-2.0-only */
#include "top/stack_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FRAME_LEN 320

static void name_frame(const struct top_names *names, uint64_t ip, bool offsets, char *frame)
{
	const char *name = NULL;
	uint64_t offset = 0;

	if (names->kallsyms)
		name = kallsyms__lookup(names->kallsyms, ip, &offset);
	if (!name)
		snprintf(frame, FRAME_LEN, "0x%" PRIx64, ip);
	else if (offsets)
		snprintf(frame, FRAME_LEN, "%s+0x%" PRIx64, name, offset);
	else
		snprintf(frame, FRAME_LEN, "%s", name);
}

void stack_text__put_kernel(const struct frames *frames, const struct top_names *names,
			    bool offsets, char *buf, size_t size)
{
	char frame[FRAME_LEN];
	size_t at = 0;

	*buf = '\0';
	for (uint32_t i = 0; i < frames->nr; i++) {
		name_frame(names, frames->ips[i], offsets, frame);
		if (at + strlen(frame) + 2 > size)
			return;
		at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? ";" : "", frame);
	}
}
