/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUILTIN_OPTIONS_COMMON_H
#define DENET_BUILTIN_OPTIONS_COMMON_H

#include <stdint.h>

#include "base/log.h"
#include "builtin/options/table.h"

/* Options of every command with a capture. */
struct common_options {
	bool quiet;
	int verbose;
	uint32_t ring_pages; /* of each CPU; 0: as the capture chooses */
};

extern const struct option_table common_table;
extern const struct option_table result_table; /* the same of a command that prints a result */
extern const struct option_table ring_table; /* ring_pages alone */

/* -h, --usage and --version, which every command has; fills in nothing. */
extern const struct option_table help_table;

/* For tables of struct common_options: -q and -v exclude each other. */
void common_options__check(const struct options *options, const void *values);

/* The log level that the options request. */
enum log_level common_options__log_level(const struct common_options *common);

#endif /* DENET_BUILTIN_OPTIONS_COMMON_H */
