/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_INPUT_INFO_H
#define DENET_INPUT_INFO_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "output/perfdata/layout.h"

/* Facts of a recording, from the features of its file. Empty strings and zeros: not known. */
struct input_info {
	char hostname[65];
	char release[65];
	char arch[65];
	char version[65]; /* of denet */
	struct buffer cmdline;	/* arguments, each with its NUL */
	uint64_t realtime_ns;	/* at clock_ns of CLOCK_MONOTONIC, ns since 1970; 0: not known */
	uint64_t clock_ns;
	struct buffer build_ids; /* HEADER_BUILD_ID records, back to back */
};

/* Whether input_info__take() has an eye on a feature. */
int input_info__wants(unsigned int feature);

/*
 * Takes the bytes of a feature; of BUILD_ID, each record of the section, or several. Pure but for
 * memory. 0; -EINVAL: they are not what the feature has, and nothing is taken; -ENOMEM.
 */
int input_info__take(struct input_info *info, unsigned int feature, const void *data, size_t size);

/* Calls fn for each build-id; stops at its first result other than 0, which is returned. */
int input_info__each_build_id(const struct input_info *info,
			      int (*fn)(void *ctx, const char *path, const unsigned char *id,
					size_t len),
			      void *ctx);

void input_info__free(struct input_info *info);

#endif /* DENET_INPUT_INFO_H */
