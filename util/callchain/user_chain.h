/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CALLCHAIN_USER_CHAIN_H
#define DENET_CALLCHAIN_USER_CHAIN_H

#include <stddef.h>
#include <stdint.h>

struct maps; /* machine/maps.h */

/*
 * How many of the user frames of a walk along frame pointers are kept: those before the first one
 * that lies in no executable mapping of its process at that time. ips[0] is where the thread was,
 * the others are return addresses. Where maps is NULL or incomplete: those of
 * user_chain__possible().
 */
size_t user_chain__code(const struct maps *maps, uint64_t time, const uint64_t *ips, size_t nr);

/*
 * How many are kept where nothing is known: those before the first one where no program can have
 * code, in the first page or beyond the 56 bits that are user space's at most.
 */
size_t user_chain__possible(const uint64_t *ips, size_t nr);

#endif /* DENET_CALLCHAIN_USER_CHAIN_H */
