/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_SESSION_USERS_H
#define DENET_SESSION_USERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/id_list.h"

/*
 * Adds the user ids of a list such as "www-data,1000" to uids: names of the user database,
 * or else numbers. 0, -ENOENT if there is no such user (logged), -EINVAL for an empty name
 * (logged), -ENOMEM.
 */
int users__resolve(struct id_list *uids, const char *text);

/* The name of a user, or its number where the user database has none. Returns buf. */
char *users__name(uint32_t uid, char *buf, size_t size);

#endif /* DENET_SESSION_USERS_H */
