/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/shown_event.h"

#include "capture/idle.h"

enum profile_event shown_event__of(const struct profile *profile, const struct profile_entry *entry,
				   const uint32_t *labels, size_t nr)
{
	if (entry->event != PROFILE_IDLE)
		return entry->event;
	for (size_t i = 0; i < nr; i++) {
		const struct symbol_label *label = profile__label(profile, labels[i]);

		if (label->kernel && label->known && idle__is_lock(label->name))
			return PROFILE_OFFCPU;
	}
	return PROFILE_IDLE;
}
