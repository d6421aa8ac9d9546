/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_STAT_FILE_WAITS_H
#define DENET_STAT_FILE_WAITS_H

#include "stat/stat_data.h"

struct stat_programs;

/*
 * Reads the files and sockets that threads were blocked on into data->files, the longest time
 * first. 0 or a negative errno.
 */
int file_waits__read(const struct stat_programs *programs, struct stat_data *data);

#endif /* DENET_STAT_FILE_WAITS_H */
