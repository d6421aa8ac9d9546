/* SPDX-License-Identifier: GPL-2.0-only */
#include "host/thread_switches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t thread_switches__read(pid_t pid, pid_t tid)
{
	static const char *const fields[] = { "\nvoluntary_ctxt_switches:",
					      "\nnonvoluntary_ctxt_switches:" };
	uint64_t sum = 0;
	char path[64], text[4096];
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	for (size_t i = 0; i < 2; i++) {
		const char *at = strstr(text, fields[i]);

		if (at)
			sum += strtoull(at + strlen(fields[i]), NULL, 10);
	}
	return sum;
}
