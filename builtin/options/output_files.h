/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BUILTIN_OPTIONS_OUTPUT_FILES_H
#define DENET_BUILTIN_OPTIONS_OUTPUT_FILES_H

#include "builtin/options/table.h"
#include "output/files/files.h"

/* Outputs for other programs: fills in a struct output_files (output/files/files.h). */
extern const struct option_table output_files_table;

/*
 * For a command's check function: refuses two outputs into one file. text is where the command
 * writes text or JSON ("-": standard output; NULL: nowhere), and option the long name of the option
 * that asks for it.
 */
void output_files__check(const struct options *options, const struct output_files *files,
			 const char *option, const char *text);

#endif /* DENET_BUILTIN_OPTIONS_OUTPUT_FILES_H */
