/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CALLCHAIN_SAMPLE_QUEUE_H
#define DENET_CALLCHAIN_SAMPLE_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "sample.h"

/* Samples that outlive their callback, first in, first out. Zero-initialised is empty. */
struct held {
	struct held_sample *first;
	struct held_sample *last;
	size_t nr;
	size_t bytes; /* about what they take */
};

/* A sample with all that it points to, in one piece. */
struct held_sample {
	struct held_sample *next;
	size_t size;
	struct sample sample;
	struct reason reason;
	struct user_copy copy;
	uint64_t ips[]; /* kernel, user, registers; then the bytes of the stack */
};

/* A copy of the sample; NULL: no memory. free() frees it. */
struct held_sample *held_sample__new(const struct sample *sample);

/* Takes one over. */
void held__push(struct held *held, struct held_sample *own);

/* Keeps a copy of the sample. 0 or -ENOMEM. */
int held__add(struct held *held, const struct sample *sample);

/* The sample that came first; NULL: there is none. Valid until held__drop(). */
struct sample *held__first(const struct held *held);

/* Forgets the one that came first, if there is one. */
void held__drop(struct held *held);

void held__free(struct held *held);

#endif /* DENET_CALLCHAIN_SAMPLE_QUEUE_H */
