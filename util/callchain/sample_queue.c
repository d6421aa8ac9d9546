/* SPDX-License-Identifier: GPL-2.0-only */
#include "callchain/sample_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t ips_bytes(const struct sample *sample)
{
	size_t nr = (size_t)sample->kernel.nr + sample->user.nr;

	return (nr + (sample->copy ? USER_COPY_REGS : 0)) * sizeof(uint64_t);
}

/* Copies frames and makes them point to the copy; returns the place behind it. */
static uint64_t *move_frames(uint64_t *to, struct frames *frames)
{
	if (frames->nr)
		memcpy(to, frames->ips, frames->nr * sizeof(*to));
	frames->ips = to;
	return to + frames->nr;
}

static void move_copy(uint64_t *to, struct user_copy *copy)
{
	memcpy(to, copy->regs, USER_COPY_REGS * sizeof(*to));
	copy->regs = to;
	to += USER_COPY_REGS;
	if (copy->nr)
		memcpy(to, copy->bytes, copy->nr);
	copy->bytes = to;
}

struct queued_sample *queued_sample__new(const struct sample *sample)
{
	size_t size = sizeof(struct queued_sample) + ips_bytes(sample) +
		      (sample->copy ? sample->copy->nr : 0);
	struct queued_sample *own = malloc(size);
	uint64_t *at;

	if (!own)
		return NULL;
	own->next = NULL;
	own->size = size;
	own->sample = *sample;
	at = move_frames(own->ips, &own->sample.kernel);
	at = move_frames(at, &own->sample.user);
	if (sample->reason) {
		own->reason = *sample->reason;
		own->sample.reason = &own->reason;
	}
	if (sample->copy) {
		own->copy = *sample->copy;
		own->sample.copy = &own->copy;
		move_copy(at, &own->copy);
	}
	return own;
}

void sample_queue__push(struct sample_queue *held, struct queued_sample *own)
{
	if (held->last)
		held->last->next = own;
	else
		held->first = own;
	held->last = own;
	held->nr++;
	held->bytes += own->size;
}

int sample_queue__add(struct sample_queue *held, const struct sample *sample)
{
	struct queued_sample *own = queued_sample__new(sample);

	if (!own)
		return -ENOMEM;
	sample_queue__push(held, own);
	return 0;
}

struct sample *sample_queue__first(const struct sample_queue *held)
{
	return held->first ? &held->first->sample : NULL;
}

void sample_queue__drop(struct sample_queue *held)
{
	struct queued_sample *own = held->first;

	if (!own)
		return;
	held->first = own->next;
	if (!held->first)
		held->last = NULL;
	held->nr--;
	held->bytes -= own->size;
	free(own);
}

void sample_queue__free(struct sample_queue *held)
{
	while (held->first)
		sample_queue__drop(held);
}
