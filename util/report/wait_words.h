/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_REPORT_WAIT_WORDS_H
#define DENET_REPORT_WAIT_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

#define WAIT_WORDS_MAX 160

/*
 * The object that a thread waited for, in words without numbers that differ from wait to wait:
 * "lock at pool+0x8, held by worker", "file /var/log/x (write)". Returns out; NULL if the kernel's
 * functions tell as much as the reason.
 */
const char *wait_words__of_reason(const struct reason *reason, char out[WAIT_WORDS_MAX]);

/*
 * The object that an entry waited for: by its reason, else by the kernel's functions in its stack,
 * given by labels, leaf first. Returns out.
 */
const char *wait_words__of_entry(const struct profile *profile, const struct profile_entry *entry,
				 const uint32_t *labels, size_t nr, char out[WAIT_WORDS_MAX]);

/*
 * What a thread waits for by the names of kernel functions on its stack, leaf first; nr may be 0.
 * Returns out.
 */
const char *wait_words__of_functions(const char *const *functions, size_t nr,
				     char out[WAIT_WORDS_MAX]);

#endif /* DENET_REPORT_WAIT_WORDS_H */
