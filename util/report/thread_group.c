/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/thread_group.h"

#include <ctype.h>
#include <stdio.h>

const char *thread_group__of(const char *comm, char *buf, size_t size)
{
	size_t len = 0;

	for (const char *at = comm; *at && len + 1 < size; at++) {
		if (!isdigit((unsigned char)*at))
			buf[len++] = *at;
		else if (at == comm || !isdigit((unsigned char)at[-1]))
			buf[len++] = '*';
	}
	buf[len] = '\0';
	return buf;
}

const char *thread_group__words(const char *group, const char *comm, size_t nr, char *buf,
				size_t size)
{
	if (nr > 1)
		snprintf(buf, size, "%s (%zu threads)", comm ? comm : group, nr);
	else
		snprintf(buf, size, "%s", comm ? comm : group);
	return buf;
}
