/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_BPF_TRACK_PINS_H
#define DENET_BPF_TRACK_PINS_H

#include <stdint.h>

/*
 * A directory of a BPF file system where the tracker of several denet-top is pinned. Each of them
 * holds a lock there for as long as it lives, however it ends: what nobody holds a lock for is left
 * over. All names begin with TRACK_PINS_PREFIX; other files are left alone.
 */
struct track_pins;

#define TRACK_PINS_PREFIX "denet_"

/*
 * Opens the directory, and keeps others from doing so until track_pins__unlock(). NULL on error,
 * *err is a negative errno (logged).
 */
struct track_pins *track_pins__open(const char *path, int *err);

/* Leaves the directory; what is pinned stays. Accepts NULL. */
void track_pins__delete(struct track_pins *pins);

/* The samplers that live and are not this one, as bits. Only between open or lock and unlock. */
uint32_t track_pins__others(const struct track_pins *pins);

/* Takes the lowest number that no other sampler has. Returns it, or a negative errno (logged). */
int track_pins__take(struct track_pins *pins);

/* Removes what is pinned. 0 or a negative errno (logged). */
int track_pins__clear(struct track_pins *pins);

/* Pins a map or a link; the name goes behind the prefix. 0 or a negative errno (logged). */
int track_pins__add(const struct track_pins *pins, int fd, const char *name);

/* Lets others read it, as far as the umask allows. 0 or a negative errno (logged). */
int track_pins__publish(const struct track_pins *pins, const char *name);

/* Opens what is pinned: a descriptor or a negative errno. */
int track_pins__get(const struct track_pins *pins, const char *name);

/* Lets others in; and keeps them out again, before the end. 0 or a negative errno (logged). */
void track_pins__unlock(struct track_pins *pins);
int track_pins__lock(struct track_pins *pins);

/* The directory, as it was given to track_pins__open(). Valid as long as pins. */
const char *track_pins__path(const struct track_pins *pins);

#endif /* DENET_BPF_TRACK_PINS_H */
