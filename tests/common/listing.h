/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TESTS_LISTING_H
#define DENET_TESTS_LISTING_H

#include "host/kallsyms.h"

/* kallsyms__new() of a file with this text. */
struct kallsyms *listing__read(const char *text, int *err);

#endif /* DENET_TESTS_LISTING_H */
