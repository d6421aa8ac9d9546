/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/process_state.h"

#include <stdio.h>
#include <string.h>

char process_state__of(pid_t pid)
{
	char path[64], text[512] = "";
	const char *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return '?';
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	end = strrchr(text, ')');
	return end ? end[2] : '?';
}
