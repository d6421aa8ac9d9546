/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbol/demangle.h"

#include <libiberty/demangle.h>
#include <stddef.h>
#include <string.h>

/* Longer ones are some compiler's joke, and take a long time. */
#define MAX_SYMBOL 8192

char *demangle__symbol(const char *symbol)
{
	if (strncmp(symbol, "_Z", 2) && strncmp(symbol, "_R", 2) && strncmp(symbol, "__Z", 3))
		return NULL;
	if (strnlen(symbol, MAX_SYMBOL) == MAX_SYMBOL)
		return NULL;
	return cplus_demangle(symbol, DMGL_AUTO);
}
