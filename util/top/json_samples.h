/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_JSON_SAMPLES_H
#define DENET_TOP_JSON_SAMPLES_H

#include <stdio.h>

#include "top/columns.h"
#include "top/sampler.h"

/* Prints a sample as a line of JSON, without keys for what it does not have. 0 or -errno. */
int json_samples__print(const struct top_pass *pass, const struct thread_sample *sample,
			struct top_names *names, FILE *out);

#endif /* DENET_TOP_JSON_SAMPLES_H */
