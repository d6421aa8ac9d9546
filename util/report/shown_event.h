/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_REPORT_SHOWN_EVENT_H
#define DENET_REPORT_SHOWN_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/*
 * The event that the screen counts an entry under, whose labels are given, leaf first: its own, but
 * for a wait for a lock of the kernel within a call that usually waits for work. A recorder without
 * /proc/kallsyms cannot tell the two apart.
 */
enum profile_event shown_event__of(const struct profile *profile, const struct profile_entry *entry,
				   const uint32_t *labels, size_t nr);

#endif /* DENET_REPORT_SHOWN_EVENT_H */
