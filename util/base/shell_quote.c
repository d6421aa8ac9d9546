/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/shell_quote.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Characters that a shell needs no quotes for. */
static bool is_plain(const char *path)
{
	for (const char *p = path; *p; p++) {
		if (!isalnum((unsigned char)*p) && !strchr("/._-+,:@%", *p))
			return false;
	}
	return *path && *path != '-';
}

/* Quotes as $'...', in which any byte can be escaped, so that none reaches a terminal. */
char *shell_quote__path(const char *path, char *buf, size_t size)
{
	size_t n;

	if (is_plain(path)) {
		snprintf(buf, size, "%s", path);
		return buf;
	}
	n = (size_t)snprintf(buf, size, "$'%s", *path == '-' ? "./" : "");
	for (const unsigned char *p = (const unsigned char *)path; *p && n < size; p++) {
		if (*p == '\'' || *p == '\\')
			n += (size_t)snprintf(buf + n, size - n, "\\%c", *p);
		else if (*p < 0x20 || *p >= 0x7f)
			n += (size_t)snprintf(buf + n, size - n, "\\%03o", *p);
		else
			n += (size_t)snprintf(buf + n, size - n, "%c", *p);
	}
	if (n < size)
		snprintf(buf + n, size - n, "'");
	return buf;
}
