/* SPDX-License-Identifier: GPL-2.0-only */
#include "record/targets.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"

/* The process that a thread belongs to, as /proc tells it. 0: no such thread. */
static pid_t process_of(pid_t tid)
{
	char path[64], line[256];
	uint64_t tgid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "Tgid:\t", 6))
			continue;
		line[strcspn(line, "\n")] = '\0';
		if (units__parse_number(line + 6, INT32_MAX, &tgid))
			tgid = 0;
		break;
	}
	fclose(file);
	return (pid_t)tgid;
}

int targets__check(const struct id_list *pids, const struct id_list *tids)
{
	pid_t leader;

	for (size_t i = 0; i < pids->nr; i++) {
		leader = process_of(pids->ids[i]);
		if (!leader) {
			pr_err("-p %d: there is no such process", pids->ids[i]);
			return -ESRCH;
		}
		if (leader != pids->ids[i]) {
			pr_err("-p %d: that is a thread of process %d; use -p %d, or -t %d for the "
			       "thread",
			       pids->ids[i], leader, leader, pids->ids[i]);
			return -EINVAL;
		}
	}
	for (size_t i = 0; i < tids->nr; i++) {
		if (!process_of(tids->ids[i])) {
			pr_err("-t %d: there is no such thread", tids->ids[i]);
			return -ESRCH;
		}
	}
	return 0;
}
