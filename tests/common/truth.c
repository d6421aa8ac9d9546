/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/truth.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int truth__parse_line(const char *line, struct truth *truth)
{
	int end = -1, n;

	if (strncmp(line, "truth ", strlen("truth ")))
		return 0;
	memset(truth, 0, sizeof(*truth));
	n = sscanf(line,
		   "truth pid=%d tid=%d comm=%15s what=%63s function=%63s count=%" SCNu64
		   " requested=%" SCNu64 " bracket=%" SCNu64 " voluntary=%" SCNu64
		   " involuntary=%" SCNu64 "%n",
		   &truth->pid, &truth->tid, truth->comm, truth->what, truth->function,
		   &truth->count, &truth->requested_ns, &truth->bracket_ns, &truth->voluntary,
		   &truth->involuntary, &end);
	if (n != 10 || end < 0 || line[end])
		return -EINVAL;
	return 1;
}
