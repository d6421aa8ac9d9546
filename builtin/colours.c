/* SPDX-License-Identifier: GPL-2.0-only */
#include "builtin/colours.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool colours__wanted(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no && *no) && !(term && !strcmp(term, "dumb"));
}
