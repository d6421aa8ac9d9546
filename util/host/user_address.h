/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_HOST_USER_ADDRESS_H
#define DENET_HOST_USER_ADDRESS_H

#include <stdint.h>

/*
 * The bits that a user address of this machine may have set. On arm64 the others of a return
 * address hold its signature (pointer authentication); elsewhere these are all 64.
 */
uint64_t user_address__mask(void);

/* The same where the highest user address is that one. For tests. */
uint64_t user_address__mask_below(uint64_t highest);

#endif /* DENET_HOST_USER_ADDRESS_H */
