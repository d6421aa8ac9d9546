/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CALLCHAIN_USER_CHAIN_H
#define DENET_CALLCHAIN_USER_CHAIN_H

#include <stddef.h>
#include <stdint.h>

struct maps; /* machine/maps.h */

/*
 * The number of user frames to keep of a walk along frame pointers: those before the first one that
 * lies in no executable mapping of its process at that time. ips[0] is the thread's instruction,
 * the others are return addresses. If maps is NULL or incomplete: as user_chain__possible().
 */
size_t user_chain__code(const struct maps *maps, uint64_t time, const uint64_t *ips, size_t nr);

/*
 * The number of frames to keep without maps: those before the first one that cannot be code, in the
 * first page or beyond the 56 bits of user space.
 */
size_t user_chain__possible(const uint64_t *ips, size_t nr);

#endif /* DENET_CALLCHAIN_USER_CHAIN_H */
