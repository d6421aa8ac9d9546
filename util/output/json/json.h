/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_OUTPUT_JSON_H
#define DENET_OUTPUT_JSON_H

#include <stdio.h>

#include "profile/profile.h"

/*
 * All of a profile as one JSON object, described in denet-report(1). Times are ns, frames indexes
 * of the array of functions, leaf first. 0, -ENOMEM or -EIO.
 */
int json__write(const struct profile *profile, FILE *out);

#endif /* DENET_OUTPUT_JSON_H */
