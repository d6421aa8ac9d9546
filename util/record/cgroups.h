/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_CGROUPS_H
#define DENET_RECORD_CGROUPS_H

struct writer;

/*
 * Writes a CGROUP record for each existing cgroup of the hierarchy whose ids samples carry.
 * Unreadable ones are reported and left out. 0, or a negative errno of the writer.
 */
int cgroups__write(struct writer *writer);

#endif /* DENET_RECORD_CGROUPS_H */
