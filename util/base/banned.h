/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that this project does not use, made compile errors. Included in front of
 * every file by the Makefile.
 */
#ifndef DENET_BANNED_H
#define DENET_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A C library that checks for overflows may have these as macros. */
#undef sprintf
#undef vsprintf

#define strcpy(...) banned_use_snprintf_or_memcpy
#define strcat(...) banned_use_snprintf
#define strncpy(...) banned_use_snprintf
#define strncat(...) banned_use_snprintf
#define sprintf(...) banned_use_snprintf
#define vsprintf(...) banned_use_vsnprintf
#define strtok(...) banned_use_strtok_r
#define gmtime(...) banned_use_gmtime_r
#define localtime(...) banned_use_localtime_r
#define ctime(...) banned_use_strftime
#define atoi(...) banned_use_units_parse_number

#endif /* DENET_BANNED_H */
