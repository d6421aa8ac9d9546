/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUILTIN_OPTIONS_OUTPUT_FILES_H
#define DENET_BUILTIN_OPTIONS_OUTPUT_FILES_H

#include "builtin/options/table.h"

/* Outputs for other programs: fills in a struct output_files (output/files/files.h). */
extern const struct option_table output_files_table;

#endif /* DENET_BUILTIN_OPTIONS_OUTPUT_FILES_H */
