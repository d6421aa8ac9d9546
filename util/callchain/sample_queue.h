/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DENET_CALLCHAIN_SAMPLE_QUEUE_H
#define DENET_CALLCHAIN_SAMPLE_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "sample.h"

/* Samples that outlive their callback, first in, first out. Zero-initialised is empty. */
struct sample_queue {
	struct queued_sample *first;
	struct queued_sample *last;
	size_t nr;
	size_t bytes; /* approximate memory use */
};

/* A sample with all data that it points to, in one piece. */
struct queued_sample {
	struct queued_sample *next;
	size_t size;
	struct sample sample;
	struct reason reason;
	struct user_copy copy;
	uint64_t ips[]; /* kernel, user, registers; then the bytes of the stack */
};

/* A copy of the sample; NULL: no memory. free() frees it. */
struct queued_sample *queued_sample__new(const struct sample *sample);

/* Appends a queued sample, and takes it over. */
void sample_queue__push(struct sample_queue *held, struct queued_sample *own);

/* Appends a copy of the sample. 0 or -ENOMEM. */
int sample_queue__add(struct sample_queue *held, const struct sample *sample);

/* The oldest sample; NULL: none. Valid until sample_queue__drop(). */
struct sample *sample_queue__first(const struct sample_queue *held);

/* Removes the oldest one, if there is one. */
void sample_queue__drop(struct sample_queue *held);

/* Frees the samples that are left; the queue is empty then. */
void sample_queue__free(struct sample_queue *held);

#endif /* DENET_CALLCHAIN_SAMPLE_QUEUE_H */
