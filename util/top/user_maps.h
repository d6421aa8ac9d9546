/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_TOP_USER_MAPS_H
#define DENET_TOP_USER_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/task_event.h"
#include "top/thread_sample.h"

/* What processes have mapped, read when a stack of theirs is met that is not understood. */
struct user_maps;

/* Receives each mapping that is new. 0 or a negative errno, which user_maps__learn() returns. */
typedef int (*user_map_fn)(void *ctx, const struct task_event *event);

/* fn may be NULL. named: functions get their names. NULL: no memory. */
struct user_maps *user_maps__new(user_map_fn fn, void *ctx, bool named);
void user_maps__delete(struct user_maps *maps); /* accepts NULL */

/*
 * Sees to it that the code of the sample's user frames is known, and asks for their names. 0 or a
 * negative errno.
 */
int user_maps__learn(struct user_maps *maps, const struct thread_sample *sample);

/* Finds the names that were asked for. 0 or a negative errno. */
int user_maps__read_names(struct user_maps *maps);

/*
 * Frames as "read;read_line;program+0x4a", the leaf first: functions, or where they have no names
 * the last name of the file and the offset in it; up to one that is no code; joined as by
 * stack_text__join(). maps may be NULL: addresses.
 */
void user_maps__put(const struct user_maps *maps, const struct thread_sample *sample, char *buf,
		    size_t size);

#endif /* DENET_TOP_USER_MAPS_H */
