/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_RECORD_TARGETS_H
#define DENET_RECORD_TARGETS_H

#include "record/parse.h"

/*
 * Looks whether each process and each thread is there, before anything is made. 0, or
 * -ESRCH where one is not, -EINVAL where a thread is given as a process (both logged).
 */
int targets__check(const struct id_list *pids, const struct id_list *tids);

#endif /* DENET_RECORD_TARGETS_H */
