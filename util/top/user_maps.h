/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_USER_MAPS_H
#define DENET_TOP_USER_MAPS_H

#include <stddef.h>
#include <stdint.h>

#include "machine/task_event.h"
#include "top/thread_sample.h"

/* What processes have mapped, read when a stack of theirs is met that is not understood. */
struct user_maps;

/* Receives each mapping that is new. 0 or a negative errno, which user_maps__learn() returns. */
typedef int (*user_map_fn)(void *ctx, const struct task_event *event);

/* fn may be NULL. NULL: no memory. */
struct user_maps *user_maps__new(user_map_fn fn, void *ctx);
void user_maps__delete(struct user_maps *maps); /* accepts NULL */

/* Sees to it that the code of the sample's user frames is known. 0 or a negative errno. */
int user_maps__learn(struct user_maps *maps, const struct thread_sample *sample);

/*
 * Frames as "libc.so.6+0x1f;program+0x4a", the leaf first: the last name of the file, and the
 * offset in it; up to one that is no code, or as many as there is room for. maps may be NULL:
 * addresses.
 */
void user_maps__put(const struct user_maps *maps, const struct thread_sample *sample, char *buf,
		    size_t size);

#endif /* DENET_TOP_USER_MAPS_H */
