/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CAPTURE_DECODE_H
#define DENET_CAPTURE_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "sample.h"
#include "wire.h"

/*
 * From wire bytes to structs. Pure functions over (buffer, length) that never read beyond the
 * length. Frames point into the buffer, which must be 8-aligned behind the wire structs.
 */

/* A stack record. */
struct decoded_stack {
	uint64_t id;
	uint32_t generation;
	bool user;
	struct frames frames;
};

/* User frames of a thread that is still blocked. */
struct decoded_user {
	uint64_t incarnation;
	uint64_t since;
	uint32_t tid;
	bool compat; /* a 32-bit task */
	bool by_tables; /* as in struct sample */
	bool forbidden; /* a walk by tables met a file that may not be opened */
	uint32_t owner; /* of the mutex that it waits for: struct reason */
	bool owner_shared;
	char title[WIRE_TITLE_LEN]; /* ends in a NUL */
	struct frames frames;
};

/* A copy of a user side: for the block of this thread that ended, or began, at time. */
struct decoded_copy {
	uint64_t incarnation;
	uint64_t time;
	struct user_copy copy;
};

/* A cgroup that was made; the path points into the buffer. */
struct decoded_cgroup {
	uint64_t id;
	const char *path;
};

/* The kind of the record in the buffer, 0 if the head is incomplete. */
uint32_t decode__kind(const void *data, size_t size);

/*
 * Each returns the bytes of the record (a buffer may hold several) or -EINVAL if the record is of
 * another kind, is cut, or counts more frames or bytes than fit.
 */
int decode__block(const void *data, size_t size, struct sample *sample,
		  const struct wire_block **block);
int decode__stack(const void *data, size_t size, struct decoded_stack *stack);
int decode__user(const void *data, size_t size, struct decoded_user *user);
int decode__copy(const void *data, size_t size, struct decoded_copy *copy);
int decode__thread(const void *data, size_t size, struct thread_waits *thread);
int decode__run(const void *data, size_t size, struct wire_run *run);
int decode__cgroup(const void *data, size_t size, struct decoded_cgroup *cgroup);

/* A windowed sum as a sample, without its frames. */
void decode__entry(const struct wire_entry_key *key, const struct wire_entry *entry,
		   struct sample *sample);

/* The sample of a thread's time on a CPU without any look at it. */
void decode__not_sampled(const struct wire_run *run, uint64_t period, struct sample *sample);

/* The letter of a state as ps shows it; '?' for one that has none. */
char decode__state(uint32_t state);

#endif /* DENET_CAPTURE_DECODE_H */
